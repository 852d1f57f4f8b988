package attr_test

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/leanovate/gopter/prop"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
)

func number(t testing.TB, text string) attr.Value {
	t.Helper()
	v, err := attr.NewNumber(text)
	require.NoError(t, err, text)
	return v
}

const (
	overflow  = "Number overflow. Attempting to store a number with magnitude larger than supported range"
	underflow = "Number underflow. Attempting to store a number with magnitude smaller than supported range"
)

// TestAdd: sums, and the errors of those that do not fit. That too many digits
// are an overflow to the service is alternator's test_number.py; the texts are
// those of ExtendDB issue 94 and dynalite's test/updateItem.js.
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
		{"9e125", "+", "9e125", overflow},
		{"9e125", "-", "-9e125", overflow},
		{"-9e125", "-", "9e125", overflow},
		{"9.9999999999999999999999999999999999999E+125", "+", "1E+125", overflow},
		{"1.1e-130", "-", "1e-130", underflow},
		{"-1.1e-130", "+", "1e-130", underflow},
	} {
		f := attr.Add
		if tt.op == "-" {
			f = attr.Sub
		}
		got, err := f(number(t, tt.a), number(t, tt.b))
		text := string(got.AppendNumber(nil))
		if err != nil {
			text = err.Error()
		}
		if text != tt.want {
			t.Errorf("%s %s %s = %s, want %s", tt.a, tt.op, tt.b, text, tt.want)
		}
	}
	_, err := attr.Add(attr.NewString("1"), number(t, "1"))
	require.Error(t, err)
	_, err = attr.Sub(number(t, "1"), attr.Value{})
	require.Error(t, err)
}

func TestAppendInt(t *testing.T) {
	for _, n := range []int64{0, 1, -1, 10, 409600, -1200, math.MaxInt64, math.MinInt64} {
		want := number(t, strconv.FormatInt(n, 10))
		if got := attr.MakeValue(attr.Number, attr.AppendInt(nil, n)); !attr.Equal(got, want) {
			t.Errorf("AppendInt(%d) = %s, want %s", n, got, want)
		}
	}
}

// A sum is what rational arithmetic makes of the texts, or does not fit.
func TestAddIsExact(t *testing.T) {
	exact := func(a, b string, negate bool) bool {
		x, err := attr.NewNumber(a)
		y, err2 := attr.NewNumber(b)
		if err != nil || err2 != nil {
			return true
		}
		l, _ := new(big.Rat).SetString(a)
		r, _ := new(big.Rat).SetString(b)
		got, err := attr.Add(x, y)
		want := new(big.Rat).Add(l, r)
		if negate {
			got, err = attr.Sub(x, y)
			want.Sub(l, r)
		}
		text := decimalText(want)
		if err == nil {
			sum, ok := new(big.Rat).SetString(string(got.AppendNumber(nil)))
			_, canonical := attr.NewNumber(text)
			return ok && sum.Cmp(want) == 0 && canonical == nil
		}
		_, refused := attr.NewNumber(text)
		return refused != nil
	}
	p := properties(100)
	p.Property("Add", prop.ForAll(func(a, b string) bool { return exact(a, b, false) }, decimals(), decimals()))
	p.Property("Sub", prop.ForAll(func(a, b string) bool { return exact(a, b, true) }, decimals(), decimals()))
	p.TestingRun(t)
}

// decimalText writes a rational that is a decimal with all its digits.
func decimalText(r *big.Rat) string { return r.FloatString(400) }

func BenchmarkAdd(b *testing.B) {
	for _, bb := range []struct{ name, x, y string }{
		{"small", "1234.56", "1"},
		{"big", "12345678901234567890123456789012345678", "0.1e1"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			x, y := number(b, bb.x), number(b, bb.y)
			buf := make([]byte, 0, 64)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := attr.AppendAdd(buf, x, y); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func ExampleAdd() {
	a, _ := attr.NewNumber("99.99")
	b, _ := attr.NewNumber("0.01")
	sum, err := attr.Add(a, b)
	fmt.Println(sum, err)
	// Output: {N:100} <nil>
}
