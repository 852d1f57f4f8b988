package fuzz_test

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/cockroachdb/apd/v3"
)

// A chooser makes the choices of a random case. It is a proptest.T, or a source of random numbers.
type chooser interface {
	// IntN returns a number from 0 to n-1. Let smaller numbers make simpler cases.
	IntN(n int) int
}

// draw turns choices into random values.
type draw struct{ chooser }

// often returns true in pct percent of the cases.
func (d draw) often(pct int) bool { return d.IntN(100) >= 100-pct }

// upTo returns a number from lo to hi.
func (d draw) upTo(lo, hi int) int { return lo + d.IntN(hi-lo+1) }

func pick[T any](d draw, from []T) T { return from[d.IntN(len(from))] }

// pieces are the parts of random strings. Some are neighbours in byte order but not in other orders: they take one to
// four bytes in UTF-8, lie on both sides of the surrogates, and contain delimiters.
var pieces = []string{
	"a", "b", "A", "z", "0", "9", "#", "|", "/", "_", ":", "ab", "#a", "a#", "\x00", "\x01", "\x02", "\x7f", "\u0080", "¿", "é", "e\u0301",
	"ÿ", "\u07ff", "\u0800", "\ud7ff", "\ue000", "\ufffd", "\uffff", "\U00010000", "😀", "\U0010ffff", " ", "\"", "\\", "\n", "<", "\u2028",
}

var octets = []string{"a", "b", "\x00", "\x01", "\x02", "\x7f", "\x80", "\xfe", "\xff"}

// key returns a value of 1 to limit bytes that may be a key. It is often close to one of the values in near.
func (d draw) key(k kind, limit int, near []value) value {
	var from *value
	if len(near) > 0 && d.often(50) {
		v := pick(d, near)
		if v.kind == k {
			from = &v
		}
	}
	if k == 'N' {
		return d.number(from)
	}
	parts := pieces
	if k == 'B' {
		parts = octets
	}
	data := d.string(parts, from, limit)
	data = data[:min(len(data), limit)]
	if k == 'S' {
		data = strings.ToValidUTF8(data, "") // drop a truncated rune
	}
	return value{kind: k, data: cmp.Or(data, "a")}
}

// string joins some of the parts or, unless near is nil, often changes near slightly.
func (d draw) string(parts []string, near *value, limit int) string {
	if near != nil {
		units := strings.Split(near.data, "")
		switch n := len(units); d.IntN(4) {
		case 0: // a prefix
			return strings.Join(units[:d.IntN(n+1)], "")
		case 1: // append one byte, the smallest or a random one
			return near.data + pick(d, []string{"\x00", "\x00\x00", "\x01", pick(d, parts)})
		case 2: // another end
			return strings.Join(units[:n-1], "") + pick(d, parts)
		default:
			return near.data
		}
	}
	if d.often(2) {
		return strings.Repeat(pick(d, parts), limit)
	}
	var out strings.Builder
	for range 1 + d.IntN(5) {
		out.WriteString(pick(d, parts))
	}
	return out.String()
}

const nines = "99999999999999999999999999999999999999" // 38 digits

var edgeNumbers = []string{
	"0", "-0", "0E5", "1", "-1", "1.0", "10E-1", "1E0", "0.1", "-0.1", "9", "10", "11", "99", "100", "101", "-99", "-100", "-101",
	"1E-130", "-1E-130", "1.1E-130", "1E-129", "9.9E-130", "1E125", "-1E125", "9.99E125", nines + "E88", "-" + nines + "E88",
	nines, "1" + nines[:36] + "8", "0." + nines, "-0." + nines, "1E37", "1E38", "123456789.123456789", "-123456789.123456789",
	"1.0000000000000000000000000000000000001", "-1.0000000000000000000000000000000000001", "0.99999999999999999999999999999999999999",
}

func (d draw) number(near *value) value {
	if near != nil {
		if d.often(50) {
			return d.rewrite(*near)
		}
		return d.rewrite(d.neighbour(*near))
	}
	switch d.IntN(4) {
	case 0:
		return number(fmt.Sprint(d.upTo(0, 40) - 20))
	case 1:
		return d.rewrite(number(pick(d, edgeNumbers)))
	}
	n := d.upTo(1, 38)
	ds := make([]byte, n)
	for i := range ds {
		ds[i] = '0' + byte(d.IntN(10))
	}
	sign := pick(d, []string{"", "-"})
	point := d.upTo(-129, 126)
	if d.often(50) {
		point = d.upTo(-2, 40)
	}
	v := number(fmt.Sprintf("%s%sE%d", sign, ds, point-n))
	if !inRange(v.num) {
		return number("7")
	}
	return d.rewrite(v)
}

// inRange reports whether DynamoDB can store the number.
func inRange(d *apd.Decimal) bool {
	ds, point := digits(d)
	return ds == "" || len(ds) <= 38 && point <= 126 && point >= -129
}

// neighbour returns a number that differs slightly from v.
func (d draw) neighbour(v value) value {
	ds, point := digits(v.num)
	step := apd.New(1, int32(max(point-pick(d, []int{38, len(ds), 1, 2}), -130)))
	step.Negative = d.often(50)
	var sum apd.Decimal
	if _, err := apd.BaseContext.WithPrecision(300).Add(&sum, v.num, step); err != nil || !inRange(&sum) {
		return v
	}
	return number(sum.Text('E'))
}

// rewrite returns the same number in another notation.
func (d draw) rewrite(v value) value {
	ds, point := digits(v.num)
	sign := ""
	if v.num.Negative {
		sign = "-"
	} else if d.often(20) {
		sign = "+"
	}
	if ds == "" {
		v.data = pick(d, []string{"0", "-0", "0.0", "000", "0e9", "+0E-9"})
		return v
	}
	switch d.IntN(6) {
	case 0:
		return v
	case 1:
		v.data = plain(v.num)
	case 2: // an integer with an exponent
		v.data = fmt.Sprintf("%s%sE%+d", sign, ds, point-len(ds))
	case 3: // a fraction with an exponent
		v.data = fmt.Sprintf("%s0.%se%d", sign, ds, point)
	case 4: // superfluous zeros
		v.data = fmt.Sprintf("%s00%s000E%d", sign, ds, point-len(ds)-3)
	default: // one digit before the point, a zero after
		v.data = fmt.Sprintf("%s%s.%s0E%d", sign, ds[:1], ds[1:], point-1)
	}
	return v
}

var others = []string{
	`{"BOOL":true}`, `{"BOOL":false}`, `{"NULL":true}`, `{"L":[]}`, `{"M":{}}`, `{"L":[{"S":""},{"N":"-1.5"},{"B":""}]}`,
	`{"M":{"a":{"M":{"b":{"L":[{"NULL":true}]}}},"é":{"S":"x"}}}`, `{"SS":["b","a",""]}`, `{"NS":["10","9","-0.5"]}`, `{"BS":["/w==","AA=="]}`,
}

// payload returns any value. Large values have about bulk bytes.
func (d draw) payload(near []value, bulk int) value {
	switch d.IntN(8) {
	case 0:
		return other(pick(d, others))
	case 1:
		return text(strings.Repeat("x", d.IntN(bulk+1)))
	case 2:
		return pick(d, []value{text(""), blob(""), text("0"), number("0")})
	case 3:
		return d.key('B', 20, near)
	case 4, 5:
		return d.key('N', 20, near)
	}
	return d.key('S', 20, near)
}
