package attr

// Limits of a number. Source: DG/HowItWorks.NamingRulesDataTypes.html.
const (
	// MaxDigits is the number of significant decimal digits.
	MaxDigits = 38
	// maxPoint and minPoint bound the place of the decimal point: a number is
	// 0.D × 10^point with a non-zero first digit in D, so 9.99E+125 has point
	// 126 and 1E-130 has point -129.
	maxPoint = 126
	minPoint = -129
	// maxPairs bounds the base-100 digits of the stored form: 38 digits that
	// start in the middle of a pair touch 20 of them.
	maxPairs = 20
)

// numberZero is the stored form of zero. A number's first byte carries its
// sign and its base-100 exponent, the rest are base-100 digits: digit+1 for
// positive numbers, 101-digit for negative ones, which also end in 102 unless
// they have all 20 digits, so that a longer negative number sorts first.
// bytes.Compare is numeric order, and equal numbers have equal bytes.
//
// It is the form the service itself hashes (captured by dynalite,
// db/index.js), so scan order of numeric keys can be the service's too.
const numberZero = 0x80

// decimal is a number taken apart: 0.D × 10^point, D without zeros at either
// end; n is 0 for zero.
type decimal struct {
	neg    bool
	n      int
	point  int
	digits [2 * maxPairs]byte
}

// Messages of numbers that cannot be stored, as the service words them
// (captured in dynalite, test/putItem.js).
const (
	msgNotNumeric = "The parameter cannot be converted to a numeric value"
	msgPrecision  = "Attempting to store more than 38 significant digits in a Number"
	msgOverflow   = "Number overflow. Attempting to store a number with magnitude larger than supported range"
	msgUnderflow  = "Number underflow. Attempting to store a number with magnitude smaller than supported range"
)

// AppendNumber appends the stored form of the decimal number in text. It
// accepts an optional sign, digits with an optional point, and an optional
// exponent. The error is an [*Error] with the service's message.
func AppendNumber(dst []byte, text string) ([]byte, error) {
	var d decimal
	if err := d.parse(text); err != nil {
		return dst, err
	}
	return d.append(dst), nil
}

func (d *decimal) parse(text string) error {
	i := 0
	if i < len(text) && (text[i] == '+' || text[i] == '-') {
		d.neg = text[i] == '-'
		i++
	}
	var (
		seen     bool // any digit at all
		fraction bool // past the point
		zeros    int  // zeros not yet known to matter
		overlong bool
	)
	for ; i < len(text); i++ {
		c := text[i]
		if c == '.' && !fraction {
			fraction = true
			continue
		}
		if c < '0' || c > '9' {
			break
		}
		seen = true
		if c == '0' {
			if d.n == 0 {
				if fraction {
					d.point--
				}
				continue
			}
			zeros++
		} else {
			if d.n+zeros >= MaxDigits {
				overlong = true
			} else {
				for ; zeros > 0; zeros-- {
					d.digits[d.n] = 0
					d.n++
				}
				d.digits[d.n] = c - '0'
				d.n++
			}
			zeros = 0
		}
		if !fraction {
			d.point++
		}
	}
	exp, ok := parseExponent(text[i:])
	if !seen || !ok {
		return notNumeric(text)
	}
	if d.n == 0 {
		*d = decimal{}
		return nil
	}
	d.point += exp
	switch {
	case d.point > maxPoint:
		return invalid(msgOverflow)
	case d.point < minPoint:
		return invalid(msgUnderflow)
	case overlong:
		return invalid(msgPrecision)
	}
	return nil
}

// parseExponent reads "", "e12", "E+12" or "e-12". Exponents far out of range
// saturate.
func parseExponent(s string) (int, bool) {
	if s == "" {
		return 0, true
	}
	if s[0] != 'e' && s[0] != 'E' {
		return 0, false
	}
	s = s[1:]
	neg := false
	if s != "" && (s[0] == '+' || s[0] == '-') {
		neg = s[0] == '-'
		s = s[1:]
	}
	if s == "" {
		return 0, false
	}
	const saturated = 1 << 30
	n := 0
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		if n < saturated/10 {
			n = n*10 + int(s[i]-'0')
		}
	}
	if neg {
		n = -n
	}
	return n, true
}

func notNumeric(text string) error {
	if text == "" {
		return invalid(msgNotNumeric)
	}
	return invalid(msgNotNumeric + ": " + text)
}

// append writes the stored form.
func (d *decimal) append(dst []byte) []byte {
	if d.n == 0 {
		return append(dst, numberZero)
	}
	lead := d.point & 1 // an odd point puts a zero before the first digit
	head := byte((d.point+lead)/2 + 192)
	if d.neg {
		head = ^head
	}
	dst = append(dst, head)
	pairs := 0
	for i := -lead; i < d.n; i += 2 {
		var pair byte
		if i >= 0 {
			pair = d.digits[i] * 10
		}
		if i+1 < d.n {
			pair += d.digits[i+1]
		}
		if d.neg {
			dst = append(dst, 101-pair)
		} else {
			dst = append(dst, pair+1)
		}
		pairs++
	}
	if d.neg && pairs < maxPairs {
		dst = append(dst, 102)
	}
	return dst
}

// load takes a stored form apart. It reports false for bytes no number has.
func (d *decimal) load(raw []byte) bool {
	*d = decimal{}
	if len(raw) == 0 {
		return false
	}
	if len(raw) == 1 {
		return raw[0] == numberZero
	}
	head := raw[0]
	body := raw[1:]
	d.neg = head < 0x80
	if d.neg {
		head = ^head
		if body[len(body)-1] == 102 {
			body = body[:len(body)-1]
		} else if len(body) != maxPairs {
			return false
		}
	}
	if len(body) == 0 || len(body) > maxPairs {
		return false
	}
	d.point = (int(head) - 192) * 2
	for i, b := range body {
		pair := b - 1
		if d.neg {
			pair = 101 - b
		}
		if pair > 99 {
			return false
		}
		if i == 0 && pair < 10 {
			d.point--
		} else {
			d.digits[d.n] = pair / 10
			d.n++
		}
		d.digits[d.n] = pair % 10
		d.n++
	}
	if d.digits[0] == 0 {
		return false
	}
	if d.digits[d.n-1] == 0 {
		d.n--
	}
	return d.digits[d.n-1] != 0 && d.n <= MaxDigits && d.point >= minPoint && d.point <= maxPoint
}

// AppendNumberText appends the decimal text of a stored number as the service
// prints it: plain, with neither exponent nor needless zeros.
func AppendNumberText(dst, raw []byte) []byte {
	var d decimal
	if !d.load(raw) || d.n == 0 {
		return append(dst, '0')
	}
	if d.neg {
		dst = append(dst, '-')
	}
	if d.point <= 0 {
		dst = append(dst, '0', '.')
		for range -d.point {
			dst = append(dst, '0')
		}
	}
	for i := range d.n {
		if i == d.point && i > 0 {
			dst = append(dst, '.')
		}
		dst = append(dst, '0'+d.digits[i])
	}
	for i := d.n; i < d.point; i++ {
		dst = append(dst, '0')
	}
	return dst
}

// numberSize is the documented size of a stored number: a byte, one more for
// every two significant digits on either side of the point, and one for a
// minus sign. Source: DG/CapacityUnitCalculations.html ("approximately"); the
// split at the point and the sign are as captured from the service.
func numberSize(raw []byte) int {
	var d decimal
	if !d.load(raw) || d.n == 0 {
		return 1
	}
	whole := min(max(d.point, 0), d.n)
	size := 1 + (whole+1)/2 + (d.n-whole+1)/2
	if d.neg {
		size++
	}
	return size
}
