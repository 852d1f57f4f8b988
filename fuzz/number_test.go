package fuzz_test

import (
	"bytes"
	"testing"

	"github.com/cockroachdb/apd/v3"

	"github.com/sortkey/sortkey/attr"
)

// FuzzNumber checks that the printed text of a number parses to the same bytes,
// that a decimal library agrees on its value and order, and that every number
// of the library with few enough digits and in range is accepted.
func FuzzNumber(f *testing.F) {
	for _, s := range []string{"0", "-1.5e10", "1e-130", "9.99e125", ".5", "5.", "+3", "00.10", "1e126", "0e125", "0e-131", "1e9223372036854775808", "NaN", "1_0"} {
		f.Add(s, "1")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		want, _, known := apd.NewFromString(a)
		x, err := attr.NewNumber(a)
		if err != nil {
			if known == nil && want.Form == apd.Finite && want.NumDigits() <= attr.MaxDigits {
				if e := int64(want.Exponent) + want.NumDigits() - 1; e >= -130 && e <= 125 {
					t.Fatalf("NewNumber(%q) = %v", a, err)
				}
			}
			return
		}
		text := string(x.AppendNumber(nil))
		if again, err := attr.NewNumber(text); err != nil || !attr.Equal(x, again) {
			t.Fatalf("NewNumber(%q) prints %q, which reads as %v, %v", a, text, again, err)
		}
		dx, _, err := apd.NewFromString(text)
		if err != nil {
			t.Fatal(err)
		}
		if known == nil && want.Cmp(dx) != 0 {
			t.Fatalf("NewNumber(%q) prints %q", a, text)
		}
		y, err := attr.NewNumber(b)
		if err != nil {
			return
		}
		dy, _, err := apd.NewFromString(string(y.AppendNumber(nil)))
		if err != nil {
			t.Fatal(err)
		}
		if got := bytes.Compare(x.Raw(), y.Raw()); got != dx.Cmp(dy) {
			t.Fatalf("bytes of %s and %s compare %d, the numbers %d", dx, dy, got, dx.Cmp(dy))
		}
	})
}
