package modelfile_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/modelfile"
)

// TestFilterSlips checks that Parse refuses filters that no item of the model can pass.
func TestFilterSlips(t *testing.T) {
	for _, tt := range []struct{ filter, want string }{
		{`total > "a"`, ""},
		{`count > 5 AND (total = "x" OR count BETWEEN 1 AND 2)`, ""},
		{`other = 1`, ""},
		{`attribute_not_exists(gone)`, ""},
		{`total <> 5`, ""},
		{`extra = true`, ""},
		{`either = 1 OR either = "1"`, ""},
		{`line2 = "a" OR L2P = 5 OR has12th = 5`, ""},
		{`totl = "a"`, "the filter uses totl, which no item of table Tab has\nhint: did you mean total? If not, declare it in fields"},
		{`NOT total > 5`, "the filter compares total, of type S, with a value of type N: they are never equal and have no order\nhint: write \"5\", or declare total with type N: {template: …, type: N}"},
		{`count = "5"`, "the filter compares count, of type N, with a value of type S: they are never equal and have no order\nhint: write it without quotes, or declare count with type S"},
		{`count IN ("5")`, "the filter compares count, of type N"},
		{`extra = 5`, "the filter compares extra, of type BOOL"},
		{`total = big`, "the filter compares with the unknown attribute big"},
		{`total IN (PK, big)`, "the filter compares with the unknown attribute big"},
		{`begins_with(SK, F)`, "the filter compares with the unknown attribute F"},
	} {
		_, err := modelfile.Parse("m.yaml", []byte(`name: m
tables: {Tab: {partition: PK, sort: SK}}
entities:
  E:
    fields: {count: {type: number}}
    attributes: {PK: "U#{user}", SK: "{at:time}", total: "{total}"}
    samples: [{user: U1, at: "2026-01-09T10:00:00Z", total: 5, count: 5, extra: true, line1: x, has1th: y}]
items: {Tab: [{PK: a, SK: b, either: 1}, {PK: a, SK: c, either: "1"}]}
patterns:
  - {name: p, query: {entity: E, where: {user: U1}, filter: '`+tt.filter+`'}}
`))
		if tt.want == "" {
			require.NoError(t, err, tt.filter)
			continue
		}
		require.Error(t, err, tt.filter)
		got := err.Error()
		require.Contains(t, strings.ReplaceAll(got, "  hint", "hint"), tt.want, tt.filter)
	}
}
