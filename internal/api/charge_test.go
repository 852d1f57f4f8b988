package api_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/api"
	"github.com/sortkey/sortkey/internal/expr"
)

// TestCharge checks sizes that dynamodb-conformance measured
// (tests/tier3/limits/itemSizeBySurface.test.ts).
func TestCharge(t *testing.T) {
	values, err := attr.ParseItem([]byte(chargeValues))
	require.NoError(t, err)
	params := expr.Params{Names: map[string]string{"#long": "b"}, Values: values}
	const base = 3 + 19 + 1 // SET b = :pad
	for _, tt := range []struct {
		src  string
		more int // in addition to base
	}{
		{"SET b = :pad", 0},
		{"SET #long = :pad", 0},
		{"SET b = :pad, c = :s", 19 + 1 + 1},
		{"SET b = :pad REMOVE r", 2},
		{"SET b = :pad, d.leaf = :s", 19 + 1 + 4 + 4 + 1},
		{"SET b = :pad, d[0] = :s", 19 + 1 + 4 + 1 + 1},
		{"SET b = :pad, c = abcdefghij", 19 + 1 + 1 + 14 + 10},
		{"SET b = :pad, c = m.z", 19 + 1 + 1 + 15 + 15},
		{"SET b = :pad, c = l[10]", 19 + 1 + 1 + 15 + 16},
		{"SET b = :pad, l = list_append(l, :l)", 19 + 1 + 37 + 16 + 3 + 1 + 10},
		{"SET b = :pad, l = list_append(:le, :l)", 19 + 1 + 37 + 5 + 14},
		{"SET b = :pad, c = if_not_exists(c, :M)", 19 + 1 + 39 + 16 + 3 + 1 + 1 + 100},
		{"SET b = :pad, n = n + :n", 19 + 1 + 34 + 16 + 2},
		{"SET b = :pad, n = n - :n", 19 + 1 + 37 + 16 + 2},
		{"SET b = :pad, c = if_not_exists(c, :ten)", 19 + 1 + 39 + 16 + 10},
		{"SET b = :pad ADD abcdefghij :n", 19 + 10 + 2},
		{"SET b = :pad ADD pets :ss", 19 + 4 + 3},
		{"SET b = :pad REMOVE abcdefghij", 1 + 10},
		{"SET b = :pad REMOVE m.yyyyyyyyyy", 1 + 1 + 4 + 10},
		{"SET b = :pad REMOVE l[10]", 1 + 1 + 4 + 2},
		{"SET b = :pad DELETE abcdefghij :rm", 1 + 10},
	} {
		env, err := expr.NewEnv(params)
		require.NoError(t, err)
		u, err := env.Update(tt.src)
		require.NoError(t, err)
		if got := api.Charge(u); got != base+tt.more {
			t.Errorf("Charge of %s = %d, want %d", tt.src, got, base+tt.more)
		}
	}
}

const chargeValues = `{":n": {"N": "1"}, ":s": {"S": "v"}, ":l": {"L": [{"S": "yyyyyyyyyy"}]}, ":ss": {"SS": ["cat"]},
 ":m": {"M": {"a": {"S": "x"}}},
 ":e": {"S": "e"}, ":pad": {"S": ""}, ":ten": {"S": "yyyyyyyyyy"}, ":le": {"L": [{"S": "e"}]},
 ":rm": {"SS": ["qqqqqqqqqqqqqqqqqqqq"]},
 ":M": {"M": {"a": {"S": "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy` +
	`yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"}}}}`
