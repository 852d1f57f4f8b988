package number

import "bytes"

// AppendInt appends the stored form of n.
func AppendInt(dst []byte, n int64) []byte {
	var d decimal
	d.setInt(n, 0)
	return d.append(dst)
}

// Int returns the value of a stored number that is whole and has at most 18 digits. It returns false for any other
// number. For bytes that are not a stored number, it returns false or a meaningless value.
func Int(raw []byte) (n int64, ok bool) {
	if len(raw) < 2 {
		return 0, len(raw) == 1 && raw[0] == Zero
	}
	head, body := raw[0], raw[1:]
	negative := head < 0x80
	if negative {
		head = ^head
		if body = body[:len(body)-1]; raw[len(raw)-1] != 102 {
			return 0, false // it has all 20 pairs
		}
	}

	pairs := int(head) - 192 // number of pairs before the point
	if len(body) == 0 || len(body) > pairs || pairs > smallDigits/2 {
		return 0, false
	}
	for i := range pairs {
		n *= 100
		if i >= len(body) {
			continue
		}
		pair := body[i] - 1
		if negative {
			pair = 101 - body[i]
		}
		if pair > 99 {
			return 0, false
		}
		n += int64(pair)
	}
	if negative {
		n = -n
	}
	return n, true
}

// AppendSum appends the stored form of a + b, or of a - b if negate is set, exactly. If the result has more than 38
// digits or is out of range, it returns the service's message.
//
// The service reports a sum with too many digits as an overflow, whatever its magnitude (alternator, test_number.py).
func AppendSum(dst, a, b []byte, negate bool) (out []byte, msg string) {
	var x, y decimal
	if !x.load(a) || !y.load(b) {
		return dst, msgNotNumeric
	}
	if negate {
		y.neg = !y.neg
	}
	switch {
	case x.n == 0:
		return y.append(dst), ""
	case y.n == 0:
		return x.append(dst), ""
	}
	var sum decimal
	if !sum.addSmall(&x, &y) && !sum.addBig(&x, &y) {
		return dst, msgOverflow
	}
	switch {
	case sum.n == 0:
	case sum.point > maxPoint:
		return dst, msgOverflow
	case sum.point < minPoint:
		return dst, msgUnderflow
	}
	return sum.append(dst), ""
}

// smallDigits is the most digits that two numbers may have so that their sum always fits an int64.
const smallDigits = 18

// addSmall sets d to x + y if both are short enough for integer arithmetic.
func (d *decimal) addSmall(x, y *decimal) bool {
	exp := min(x.point-x.n, y.point-y.n)
	if max(x.point, y.point)-exp > smallDigits {
		return false
	}
	d.setInt(x.scaled(exp)+y.scaled(exp), exp)
	return true
}

// setInt sets d to v × 10^exp.
func (d *decimal) setInt(v int64, exp int) {
	*d = decimal{neg: v < 0}
	if v == 0 {
		return
	}
	u := uint64(v)
	if v < 0 {
		u = -u
	}
	for u%10 == 0 {
		u /= 10
		exp++
	}
	var text [20]byte
	i := len(text)
	for ; u > 0; u /= 10 {
		i--
		text[i] = byte(u % 10)
	}
	d.n = copy(d.digits[:], text[i:])
	d.point = d.n + exp
}

// scaled returns d / 10^exp. d must be a multiple of 10^exp.
func (d *decimal) scaled(exp int) int64 {
	var v int64
	for i := range d.point - exp {
		v *= 10
		if i < d.n {
			v += int64(d.digits[i])
		}
	}
	if d.neg {
		return -v
	}
	return v
}

// addBig sets d to x + y, digit by digit. It returns false when the sum has too
// many digits.
func (d *decimal) addBig(x, y *decimal) bool {
	// l and r hold the digits of x and y. They begin one place above the first digit of either, for the carry, and
	// end at the last digit of either.
	var l, r [maxPoint - minPoint + 2*MaxDigits]byte
	top, exp := max(x.point, y.point)+1, min(x.point-x.n, y.point-y.n)
	width := top - exp
	if width > len(l) {
		return false
	}
	copy(l[top-x.point:], x.digits[:x.n])
	copy(r[top-y.point:], y.digits[:y.n])
	sum, other, neg := l[:width], r[:width], x.neg
	if x.neg == y.neg {
		addDigits(sum, other)
	} else {
		if bytes.Compare(sum, other) < 0 {
			sum, other, neg = other, sum, y.neg
		}
		subDigits(sum, other)
	}
	for len(sum) > 0 && sum[len(sum)-1] == 0 {
		sum = sum[:len(sum)-1]
		exp++
	}
	for len(sum) > 0 && sum[0] == 0 {
		sum = sum[1:]
	}
	if len(sum) > MaxDigits {
		return false
	}
	*d = decimal{}
	if len(sum) > 0 {
		d.neg, d.n, d.point = neg, copy(d.digits[:], sum), len(sum)+exp
	}
	return true
}

// addDigits adds the digits of y to x, which has space for the carry.
func addDigits(x, y []byte) {
	var carry byte
	for i := len(x) - 1; i >= 0; i-- {
		x[i] += y[i] + carry
		carry = 0
		if x[i] > 9 {
			x[i] -= 10
			carry = 1
		}
	}
}

// subDigits subtracts the digits of y from x. x must not be less than y.
func subDigits(x, y []byte) {
	var borrow byte
	for i := len(x) - 1; i >= 0; i-- {
		low := y[i] + borrow
		borrow = 0
		if x[i] < low {
			x[i] += 10
			borrow = 1
		}
		x[i] -= low
	}
}
