package attr_test

import (
	"bytes"
	"cmp"
	"fmt"
	"math/big"
	"reflect"
	"strings"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/tests/proptest"
)

// These properties are what the order of rows rests on: the bytes of two values compare
// as the values do. Package fuzz checks the same of whole databases.

// A decimal is a number as it may be written: a sign, digits with a point somewhere,
// and an exponent.
type decimal struct {
	Negative bool
	Digits   string
	Point    int // digits before the point
	Exponent int
}

func (d decimal) String() string {
	sign := ""
	if d.Negative {
		sign = "-"
	}
	point := min(d.Point, len(d.Digits))
	whole, fraction := d.Digits[:point], d.Digits[point:]
	return fmt.Sprintf("%s%s.%sE%d", sign, cmp.Or(whole, "0"), cmp.Or(fraction, "0"), d.Exponent)
}

func (d decimal) value() *big.Rat {
	r, ok := new(big.Rat).SetString(d.String())
	if !ok {
		panic("a decimal is not a number: " + d.String())
	}
	return r
}

// genDecimal generates numbers of all lengths over the whole range of exponents, and
// many near 0, 1 and each other. It shrinks to 0.
var genDecimal = gen.Struct(reflect.TypeFor[decimal](), map[string]gopter.Gen{
	"Negative": gen.Bool(),
	"Digits":   gen.OneGenOf(gen.OneConstOf("0", "1", "9", "10", "99"), genDigits),
	"Point":    gen.IntRange(0, attr.MaxDigits),
	"Exponent": gen.OneGenOf(gen.IntRange(-1, 1), gen.IntRange(-92, 87)),
})

var genDigits = gen.SliceOf(gen.NumChar()).Map(func(digits []rune) string {
	return cmp.Or(string(digits[:min(len(digits), attr.MaxDigits)]), "0")
})

func TestPropertyNumbers(t *testing.T) {
	properties := gopter.NewProperties(proptest.Parameters(1000))

	properties.Property("numbers lie in the order of their values", prop.ForAll(func(a, b decimal) bool {
		x, y := numberOf(a), numberOf(b)
		order, ok := attr.Compare(x, y)
		want := a.value().Cmp(b.value())
		return ok && order == want && bytes.Compare(x.Raw(), y.Raw()) == want && attr.Equal(x, y) == (want == 0)
	}, genDecimal, genDecimal))

	properties.Property("a number and its negative lie on either side of zero", prop.ForAll(func(d decimal) bool {
		d.Negative = false
		positive := numberOf(d)
		d.Negative = true
		negative, zero := numberOf(d), numberOf(decimal{Digits: "0"})
		if d.value().Sign() == 0 {
			return attr.Equal(negative, zero) && attr.Equal(positive, zero)
		}
		return bytes.Compare(negative.Raw(), zero.Raw()) < 0 && bytes.Compare(zero.Raw(), positive.Raw()) < 0
	}, genDecimal))

	properties.Property("printing a number loses nothing, and parsing what was printed changes nothing",
		prop.ForAll(func(d decimal) bool {
			v := numberOf(d)
			text := string(v.AppendNumber(nil))
			printed, ok := new(big.Rat).SetString(text)
			again, err := attr.NewNumber(text)
			return ok && printed.Cmp(d.value()) == 0 && err == nil && attr.Equal(again, v) &&
				!strings.ContainsAny(text, "Ee+")
		}, genDecimal))

	properties.TestingRun(t)
}

func TestPropertyStrings(t *testing.T) {
	properties := gopter.NewProperties(proptest.Parameters(1000))

	properties.Property("strings lie in the order of their code points", prop.ForAll(func(a, b string) bool {
		order, ok := attr.Compare(attr.NewString(a), attr.NewString(b))
		return ok && order == compareRunes(a, b)
	}, gen.AnyString(), gen.AnyString()))

	properties.Property("a string lies before all that continue it", prop.ForAll(func(s, more string) bool {
		order, ok := attr.Compare(attr.NewString(s), attr.NewString(s+more))
		return ok && (order < 0) == (more != "")
	}, gen.AnyString(), gen.AnyString()))

	properties.TestingRun(t)
}

func numberOf(d decimal) attr.Value {
	v, err := attr.NewNumber(d.String())
	if err != nil {
		panic(fmt.Sprintf("%s: %v", d, err))
	}
	return v
}

func compareRunes(a, b string) int {
	x, y := []rune(a), []rune(b)
	for i := range min(len(x), len(y)) {
		if order := cmp.Compare(x[i], y[i]); order != 0 {
			return order
		}
	}
	return cmp.Compare(len(x), len(y))
}
