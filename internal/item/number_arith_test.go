package item_test

import (
	"errors"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/item/number"
	"github.com/sortkey/sortkey/internal/tests/proptest"
)

func parsed(t testing.TB, text string) attr.Value {
	t.Helper()
	v, err := attr.NewNumber(text)
	require.NoError(t, err, text)
	return v
}

// sum returns a + b or a - b.
func sum(a, b attr.Value, negate bool) (attr.Value, error) {
	raw, msg := number.AppendSum(nil, a.Raw(), b.Raw(), negate)
	if msg != "" {
		return attr.Value{}, errors.New(msg)
	}
	return attr.MakeValue(attr.Number, raw), nil
}

const (
	overflow  = "Number overflow. Attempting to store a number with magnitude larger than supported range"
	underflow = "Number underflow. Attempting to store a number with magnitude smaller than supported range"
)

// TestAdd checks sums, and the errors for sums that cannot be stored.
// alternator's test_number.py shows that too many digits are an overflow to the
// service; the messages are from ExtendDB issue 94 and dynalite's
// test/updateItem.js.
func TestAdd(t *testing.T) {
	nines := strings.Repeat("9", 38)
	for _, tt := range []struct{ a, op, b, want string }{
		{"1", "+", "2", "3"},
		{"1", "-", "2", "-1"},
		{"0", "+", "0", "0"},
		{"0", "-", "5.5", "-5.5"},
		{"-5.5", "+", "0", "-5.5"},
		{"2.5", "-", "2.5", "0"},
		{"0.1", "+", "0.2", "0.3"},
		{"100", "-", "88.3", "11.7"}, // moto, test_dynamodb_update_expressions.py
		{"1", "+", "10000000000000000000000", "10000000000000000000001"}, // alternator, test_number.py
		{"10000000000000000000000", "-", "1", "9999999999999999999999"},
		{"9007199254740993", "+", "1", "9007199254740994"},
		{"999999999999999999", "+", "999999999999999999", "1999999999999999998"},
		{"-999999999999999999", "-", "1", "-1000000000000000000"},
		{"1e-130", "+", "1e-130", "0." + strings.Repeat("0", 129) + "2"},
		{nines, "+", "1", "1" + strings.Repeat("0", 38)},
		{nines, "-", nines, "0"},
		{"1e37", "+", "0.9", overflow}, // 39 digits
		{"1e50", "-", "1", overflow},
		{"1e50", "+", "1", overflow},
		{"1e125", "+", "1e-130", overflow},
		{nines, "+", nines, overflow},
		{"4e125", "+", "5e125", "9" + strings.Repeat("0", 125)},
		{"9e125", "+", "9e125", overflow},
		{"9e125", "-", "-9e125", overflow},
		{"-9e125", "-", "9e125", overflow},
		{"9.9999999999999999999999999999999999999E+125", "+", "1E+125", overflow},
		{"1.1e-130", "-", "1e-130", underflow},
		{"-1.1e-130", "+", "1e-130", underflow},
	} {
		got, err := sum(parsed(t, tt.a), parsed(t, tt.b), tt.op == "-")
		text := string(got.AppendNumber(nil))
		if err != nil {
			text = err.Error()
		}
		if text != tt.want {
			t.Errorf("%s %s %s = %s, want %s", tt.a, tt.op, tt.b, text, tt.want)
		}
	}
	_, err := sum(attr.NewString("1"), parsed(t, "1"), false)
	require.Error(t, err)
	_, err = sum(parsed(t, "1"), attr.Value{}, true)
	require.Error(t, err)
}

func TestAppendInt(t *testing.T) {
	for _, n := range []int64{0, 1, -1, 10, 409600, -1200, math.MaxInt64, math.MinInt64} {
		want := parsed(t, strconv.FormatInt(n, 10))
		if got := attr.MakeValue(attr.Number, number.AppendInt(nil, n)); !attr.Equal(got, want) {
			t.Errorf("AppendInt(%d) = %s, want %s", n, got, want)
		}
	}
}

// A sum must equal the sum of rational numbers, or be refused.
func TestSumIsExact(t *testing.T) {
	proptest.Check(t, 1000, func(t *proptest.T) {
		a, b, negate := proptest.Number(t), proptest.Number(t), t.Bool()
		x, err := attr.NewNumber(a)
		require.NoError(t, err)
		y, err := attr.NewNumber(b)
		require.NoError(t, err)
		want, _ := new(big.Rat).SetString(a)
		other, _ := new(big.Rat).SetString(b)
		if negate {
			want.Sub(want, other)
		} else {
			want.Add(want, other)
		}
		text := decimalText(want)
		canonical, refused := attr.NewNumber(text)
		got, err := sum(x, y, negate)
		if err == nil {
			require.NoError(t, refused)
			require.True(t, attr.Equal(got, canonical), "%s and %s give %s, want %s", a, b, got, text)
			return
		}
		require.Error(t, refused, "%s and %s: %v", a, b, err)
	})
}

// decimalText writes a rational number as a decimal with all its digits.
func decimalText(r *big.Rat) string { return r.FloatString(400) }

// TestInt compares Int with parsing the text of the number.
func TestInt(t *testing.T) {
	texts := []string{"0", "-0", "1.5", "-1.5", "0.1", "1e18", "-1e18", "1e125", "1e-130", strings.Repeat("9", 38)}
	for _, magnitude := range []int64{1, 9, 10, 11, 99, 100, 101, 1000, 1 << 31, 999999999999999999} {
		for _, n := range []int64{magnitude - 1, magnitude, magnitude + 1} {
			texts = append(texts, strconv.FormatInt(n, 10), strconv.FormatInt(-n, 10))
		}
	}
	texts = append(texts, "1234567890123456789", "-1234567890123456789", "-"+strings.Repeat("9", 38))
	for _, text := range texts {
		raw := parsed(t, text).Raw()
		want, err := strconv.ParseInt(string(number.AppendText(nil, raw)), 10, 64)
		n, ok := number.Int(raw)
		switch {
		case ok:
			require.NoError(t, err, text)
			require.Equal(t, want, n, text)
		case err == nil:
			digits := strings.TrimLeft(string(number.AppendText(nil, raw)), "-")
			require.Greater(t, len(digits), 18, "%s is whole and short", text)
		}
	}

	for first := range 256 {
		for second := range 256 {
			raw := []byte{byte(first), byte(second)}
			n, ok := number.Int(raw[:])
			if !number.Valid(raw) || !ok {
				continue
			}
			require.Equal(t, strconv.FormatInt(n, 10), string(number.AppendText(nil, raw)))
		}
	}
}
