package attr

import (
	"github.com/cockroachdb/apd/v3"
)

// Add returns the exact sum of two numbers. A sum that needs more than 38
// digits, or is out of range, is an [*Error].
func Add(a, b Value) (Value, error) {
	raw, err := AppendAdd(nil, a, b)
	if err != nil {
		return Value{}, err
	}
	return Value{Number, raw}, nil
}

// Sub returns the exact difference a - b of two numbers. Errors are as for
// [Add].
func Sub(a, b Value) (Value, error) {
	raw, err := AppendSub(nil, a, b)
	if err != nil {
		return Value{}, err
	}
	return Value{Number, raw}, nil
}

// AppendAdd appends the payload of the sum of two numbers. Errors are as for
// [Add].
func AppendAdd(dst []byte, a, b Value) ([]byte, error) { return appendSum(dst, a, b, false) }

// AppendSub appends the payload of the difference a - b of two numbers. Errors
// are as for [Add].
func AppendSub(dst []byte, a, b Value) ([]byte, error) { return appendSum(dst, a, b, true) }

// AppendInt appends the payload of the N that is n.
func AppendInt(dst []byte, n int64) []byte {
	var d decimal
	d.setInt(n, 0)
	return d.append(dst)
}

// appendSum appends a + b, or a - b.
//
// The service calls a sum with too many digits an overflow, whatever its
// magnitude (alternator, test_number.py).
func appendSum(dst []byte, a, b Value, negate bool) ([]byte, error) {
	var x, y decimal
	if a.kind != Number || b.kind != Number || !x.load(a.raw) || !y.load(b.raw) {
		return dst, invalid(msgNotNumeric)
	}
	if negate {
		y.neg = !y.neg
	}
	switch {
	case x.n == 0:
		return y.append(dst), nil
	case y.n == 0:
		return x.append(dst), nil
	}
	var sum decimal
	if !sum.addSmall(&x, &y) && !sum.addBig(&x, &y) {
		return dst, invalid(msgOverflow)
	}
	switch {
	case sum.n == 0:
	case sum.point > maxPoint:
		return dst, invalid(msgOverflow)
	case sum.point < minPoint:
		return dst, invalid(msgUnderflow)
	}
	return sum.append(dst), nil
}

// smallDigits is the number of digits whose sums fit an int64.
const smallDigits = 18

// addSmall sets d to x + y when both are short enough for integer arithmetic.
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

// scaled returns d as a multiple of 10^exp, which it must be.
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

// addBig sets d to x + y. It reports false when the sum has too many digits.
func (d *decimal) addBig(x, y *decimal) bool {
	var sum, l, r apd.Decimal
	x.put(&l)
	y.put(&r)
	exact := apd.BaseContext // its precision of 0 stands for any
	if _, err := exact.Add(&sum, &l, &r); err != nil {
		return false
	}
	var buf [maxPoint - minPoint + 2*MaxDigits]byte
	digits := sum.Coeff.Append(buf[:0], 10)
	exp := int(sum.Exponent)
	for len(digits) > 0 && digits[len(digits)-1] == '0' {
		digits = digits[:len(digits)-1]
		exp++
	}
	if len(digits) > MaxDigits {
		return false
	}
	*d = decimal{neg: sum.Negative, n: len(digits), point: len(digits) + exp}
	for i, c := range digits {
		d.digits[i] = c - '0'
	}
	return true
}

// put sets z to d.
func (d *decimal) put(z *apd.Decimal) {
	var text [MaxDigits]byte
	for i := range d.n {
		text[i] = '0' + d.digits[i]
	}
	z.Coeff.SetString(string(text[:d.n]), 10)
	z.Exponent = int32(d.point - d.n)
	z.Negative = d.neg
}
