// Package number encodes decimal numbers as bytes whose order is numeric order.
// Package attr stores numbers in this form.
package number

import "math"

// Limits of a number. Source: DG/HowItWorks.NamingRulesDataTypes.html.
const (
	// MaxDigits is the number of significant decimal digits.
	MaxDigits = 38
	// maxPoint and minPoint are the limits of the decimal point: a number is
	// 0.D × 10^point, where the first digit of D is not zero. So 9.99E+125 has
	// point 126, and 1E-130 has point -129.
	maxPoint = 126
	minPoint = -129
	// maxPairs is the most base-100 digits of the stored form: 38 digits that
	// begin in the middle of a pair extend over 20 pairs.
	maxPairs = 20
)

// Zero is the stored form of zero. The first byte of a number combines its sign and its base-100 exponent. The other
// bytes are base-100 digits: digit+1 for positive numbers, 101-digit for negative ones. A negative number with fewer
// than 20 base-100 digits ends in 102, so a longer negative number sorts first. The order of bytes.Compare is numeric
// order, and equal numbers have equal bytes.
//
// The service hashes numeric partition keys in this form (captured by dynalite, db/index.js). So a scan that sorts by
// this hash returns them in the service's order.
const Zero = 0x80

// A decimal is a decoded number, 0.D × 10^point. D has no zeros at either end.
// n is 0 for zero.
type decimal struct {
	neg    bool
	n      int
	point  int
	digits [2 * maxPairs]byte
}

// The service's messages for numbers that cannot be stored. Sources: dynalite,
// test/putItem.js; newer: dynamodb-conformance,
// tests/tier3/limits/numberExponent.test.ts and
// error-messages/valueLayers.test.ts.
const (
	msgNotNumeric = "The parameter cannot be converted to a numeric value"
	msgPrecision  = "Attempting to store more than 38 significant digits in a Number"
	msgOverflow   = "Number overflow. Attempting to store a number with magnitude larger than supported range"
	msgUnderflow  = "Number underflow. Attempting to store a number with magnitude smaller than supported range"
)

// Append appends the stored form of the decimal number in text: an optional
// sign, digits with an optional point, and an optional exponent. If text is not
// a number or out of range, it returns the service's message, and the older
// message if that differs.
func Append[T string | []byte](dst []byte, text T) (out []byte, msg, older string) {
	var d decimal
	if msg, older = parseDecimal(&d, text); msg != "" {
		return dst, msg, older
	}
	return d.append(dst), "", ""
}

// Valid reports whether raw is the stored form of a number.
func Valid(raw []byte) bool {
	var d decimal
	var form [1 + maxPairs + 1]byte
	return d.load(raw) && string(d.append(form[:0])) == string(raw)
}

// parseDecimal parses text. If it cannot, it returns the message, and the older
// message if that differs.
func parseDecimal[T string | []byte](d *decimal, text T) (msg, older string) {
	i := 0
	if i < len(text) && (text[i] == '+' || text[i] == '-') {
		d.neg = text[i] == '-'
		i++
	}
	var (
		seen     bool // text has a digit
		fraction bool // after the point
		zeros    int  // zeros that are not written yet, because they may be trailing
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
	point := int64(d.point) + exp
	if d.n == 0 {
		point++ // a zero has the range of the number whose last digit is 1 instead: 0E-130 is allowed like 1E-130
	}
	switch {
	case point > maxPoint:
		return msgOverflow, outOfRange(text, point, exp)
	case point < minPoint:
		return msgUnderflow, outOfRange(text, point, exp)
	case overlong:
		return msgPrecision, ""
	}
	if d.n == 0 {
		*d = decimal{}
		return "", ""
	}
	d.point = int(point)
	return "", ""
}

// parseExponent parses "", "e12", "E+12" or "e-12". Like the service it accepts
// 64 bits; exponents far out of range saturate.
func parseExponent[T string | []byte](s T) (int64, bool) {
	if len(s) == 0 {
		return 0, true
	}
	if s[0] != 'e' && s[0] != 'E' {
		return 0, false
	}
	i, neg := 1, false
	if len(s) > 1 && (s[1] == '+' || s[1] == '-') {
		i, neg = 2, s[1] == '-'
	}
	if i == len(s) {
		return 0, false
	}
	var n uint64
	for ; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' || n > math.MaxInt64/10 {
			return 0, false
		}
		n = n*10 + uint64(s[i]-'0')
	}
	if n > math.MaxInt64 && (!neg || n > -math.MinInt64) {
		return 0, false
	}
	const saturated = 1 << 40
	exp := int64(min(n, saturated))
	if neg {
		return -exp, true
	}
	return exp, true
}

func notNumeric[T string | []byte](text T) (msg, older string) {
	if len(text) == 0 {
		return msgNotNumeric + ": ", msgNotNumeric
	}
	return msgNotNumeric + ": " + string([]rune(string(text))), ""
}

// outOfRange returns the message of the service's older layer for a number out of range. That layer uses exponents of
// 32 bits, so the sum of exponent and digits wraps around.
func outOfRange[T string | []byte](text T, point, exp int64) string {
	switch {
	case exp != int64(int32(exp)):
		return msgNotNumeric + ": " + string([]rune(string(text)))
	case point > math.MaxInt32:
		return msgUnderflow
	case point < math.MinInt32:
		return msgOverflow
	}
	return ""
}

// append appends the stored form.
func (d *decimal) append(dst []byte) []byte {
	if d.n == 0 {
		return append(dst, Zero)
	}
	lead := d.point & 1 // with an odd point, a zero comes before the first digit
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

// load decodes a stored form. It returns false for invalid bytes.
func (d *decimal) load(raw []byte) bool {
	*d = decimal{}
	if len(raw) == 0 {
		return false
	}
	if len(raw) == 1 {
		return raw[0] == Zero
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

// AppendText appends the decimal text of a stored number as the service prints
// it: without exponent and superfluous zeros.
func AppendText(dst, raw []byte) []byte {
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

// TextLen returns the length of [AppendText].
func TextLen(raw []byte) int {
	var d decimal
	if !d.load(raw) || d.n == 0 {
		return len("0")
	}

	n := max(d.n, d.point)
	if d.neg {
		n += len("-")
	}
	switch {
	case d.point <= 0:
		n += len("0.") - d.point
	case d.point < d.n:
		n += len(".")
	}
	return n
}

// Size returns the documented size of a stored number: one byte, one more for
// every two significant digits on either side of the point, and one for a minus
// sign. Source: DG/CapacityUnitCalculations.html ("approximately"); the
// division at the point and the sign were captured from the service.
func Size(raw []byte) int {
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
