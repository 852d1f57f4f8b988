package attr_test

import (
	"bytes"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/tests/proptest"
)

// TestNumber: the grammar and the limits of DG/HowItWorks.NamingRulesDataTypes.html;
// texts and odd forms as captured by alternator (test_number.py), dynalite
// (test/putItem.js) and dynamodb-conformance (tests/tier3/limits/numberExponent.test.ts,
// error-messages/valueLayers.test.ts).
func TestNumber(t *testing.T) {
	nines := strings.Repeat("9", 38)
	for _, tt := range []struct{ in, want string }{
		{"0", "0"}, {"-0", "0"}, {"0e125", "0"}, {"0.00e-128", "0"}, {"000.000", "0"},
		{"1", "1"}, {"1.0", "1"}, {"1E0", "1"}, {"10e-1", "1"}, {"+3", "3"}, {"-3", "-3"},
		{".123", "0.123"}, {"5.", "5"}, {"001.230", "1.23"}, {"1e+5", "100000"}, {"1.5E2", "150"},
		{"00042", "42"}, {"3.1400", "3.14"}, {"1e-3", "0.001"},
		{nines, nines}, {"-" + nines, "-" + nines}, {"0." + nines, "0." + nines},
		{nines + "00", nines + "00"},
		{"9.99e125", "999" + strings.Repeat("0", 123)},
		{"1e-130", "0." + strings.Repeat("0", 129) + "1"},
		{"-1e-130", "-0." + strings.Repeat("0", 129) + "1"},
	} {
		v, err := attr.NewNumber(tt.in)
		if err != nil {
			t.Errorf("NewNumber(%s): %v", tt.in, err)
			continue
		}
		if got := string(v.AppendNumber(nil)); got != tt.want {
			t.Errorf("NewNumber(%s) = %s, want %s", tt.in, got, tt.want)
		}
	}
	const (
		notNumeric = "The parameter cannot be converted to a numeric value"
		precision  = "Attempting to store more than 38 significant digits in a Number"
		overflow   = "Number overflow. Attempting to store a number with magnitude larger than supported range"
		underflow  = "Number underflow. Attempting to store a number with magnitude smaller than supported range"
	)
	for _, tt := range []struct{ in, want string }{
		{"", notNumeric + ": "}, {" 1", notNumeric + ":  1"}, {"1 ", notNumeric + ": 1 "},
		{"NaN", notNumeric + ": NaN"},
		{"Infinity", notNumeric + ": Infinity"}, {"-", notNumeric + ": -"}, {".", notNumeric + ": ."},
		{"e5", notNumeric + ": e5"},
		{"1e", notNumeric + ": 1e"}, {"1e+", notNumeric + ": 1e+"}, {"1.2.3", notNumeric + ": 1.2.3"},
		{"0x10", notNumeric + ": 0x10"},
		{nines + "1", precision}, {"1" + strings.Repeat("0", 37) + "1", precision}, {"0." + nines + "1", precision},
		{"1e126", overflow}, {"-1e126", overflow}, {"10e125", overflow}, {"1" + strings.Repeat("0", 126), overflow},
		{"1e2147483647", overflow}, {"1e2147483648", overflow}, {"-1e99999999999", overflow},
		{"1e9223372036854775807", overflow},
		{"1e9223372036854775808", notNumeric + ": 1e9223372036854775808"},
		{"1e99999999999999999999", notNumeric + ": 1e99999999999999999999"},
		{"1e-131", underflow}, {"0.1e-130", underflow}, {"0." + strings.Repeat("0", 130) + "1", underflow},
		{"1e-99999999999", underflow}, {"1e-9223372036854775808", underflow},
		{"1e-9223372036854775809", notNumeric + ": 1e-9223372036854775809"},
		{"0e126", overflow}, {"-0e126", overflow}, {"0e-131", underflow}, {"0.00e-129", underflow},
		{"1e1.5", notNumeric + ": 1e1.5"}, {"++1", notNumeric + ": ++1"}, {"1 2", notNumeric + ": 1 2"},
		{"\xff", notNumeric + ": \uFFFD"},
	} {
		if _, err := attr.NewNumber(tt.in); err == nil || err.Error() != tt.want {
			t.Errorf("NewNumber(%q) = %v, want %s", tt.in, err, tt.want)
		}
	}
}

// TestNumberSize: DG/CapacityUnitCalculations.html, with the split at the point
// and the sign as captured.
func TestNumberSize(t *testing.T) {
	for in, want := range map[string]int{
		"0": 1, "1": 2, "-1": 3, "12": 2, "123": 3, "1000": 2, "100.05": 4, "1.5": 3, "0.05": 2, "-0.05": 3,
		strings.Repeat("9", 38): 20,
		// dynamodb-conformance, src/item-size.ts (measured at the 400 KB gate)
		"1234": 3, "12345678901234567890123456789012345678": 20, "0042": 2, "100": 2, "1010": 3, "0.0000001": 2,
		"1E125": 2, "1E-100": 2, "15": 2, "1.2": 3, "1.200": 3, "1.234": 4, "3.14159": 5, "123456": 4,
	} {
		v, err := attr.NewNumber(in)
		if err != nil {
			t.Fatal(err)
		}
		if got := v.Size(); got != want {
			t.Errorf("size of %s = %d, want %d", in, got, want)
		}
	}
}

// rational is the exact value of a number's text.
func rational(t require.TestingT, text string) *big.Rat {
	r, ok := new(big.Rat).SetString(text)
	require.True(t, ok, text)
	return r
}

// TestNumberOrder checks that the bytes of two numbers compare as the numbers do. The order of rows depends on that.
// Package fuzz checks the same for all kinds, and for whole databases.
func TestNumberOrder(t *testing.T) {
	proptest.Check(t, 20_000, func(t *proptest.T) {
		a, b := proptest.Number(t), proptest.Number(t)
		x, err := attr.NewNumber(a)
		require.NoError(t, err)
		y, err := attr.NewNumber(b)
		require.NoError(t, err)
		order, ok := attr.Compare(x, y)
		require.True(t, ok)
		require.Equal(t, rational(t, a).Cmp(rational(t, b)), order, "%s and %s", a, b)
		require.Equal(t, order, bytes.Compare(x.Raw(), y.Raw()), "%s and %s", a, b)
		again, err := attr.NewNumber(string(x.AppendNumber(nil)))
		require.NoError(t, err)
		require.True(t, attr.Equal(x, again), a)
	})
}
