package lint_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/lint"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
)

// TestOrdering lists which patterns ask for an order of time, by their declarations and by words in their names.
func TestOrdering(t *testing.T) {
	const random, status = "E#{id:uuid}", "E#{status}#{at:time}"
	query := func(rest string) string { return `{entity: E, where: {user: U1}` + rest + `}` }
	for _, tt := range []struct {
		name, sort, at, pattern, query string
		rule                           string
		want                           model.Severity // 0 is no finding
	}{
		{"nothing is said", random, "{at:time}", "events", query(""), "natural-order", 0},
		{"ascending", random, "{at:time}", "events", query(", order: asc"), "natural-order", model.Warning},
		{"descending", random, "{at:time}", "events", query(", order: desc"), "natural-order", model.Warning},
		{"a limit", random, "{at:time}", "events", query(", limit: 1"), "natural-order", model.Note},
		{"a limit without a time", random, "{note}", "events", query(", limit: 1"), "natural-order", 0},
		{"words", random, "{at:time}", "latest events", query(""), "natural-order", model.Warning},
		{"status, nothing is said", status, "{at:time}", "events", query(""), "natural-order", 0},
		{"status, descending", status, "{at:time}", "events", query(", order: desc"), "natural-order", 0},
		{"status, descending with a limit", status, "{at:time}", "events", query(", order: desc, limit: 1"), "natural-order", model.Note},
		{"status, ascending with a limit", status, "{at:time}", "events", query(", order: asc, limit: 1"), "natural-order", 0},
		{"status, words", status, "{at:time}", "timeline of a user", query(""), "natural-order", model.Warning},
		{"a status that is given", status, "{at:time}", "latest open events", `{entity: E, where: {user: U1, status: OPEN}, order: desc, limit: 1}`, "natural-order", 0},
		{"the table", random, "{at:time}", "events", `{table: Tab, where: {PK: "U#U1"}, order: desc}`, "natural-order", model.Warning},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, err := modelfile.Parse("m.yaml", []byte(`name: m
tables:
  Tab: {partition: PK, sort: SK}
entities:
  E:
    attributes: {PK: "U#{user}", SK: "`+tt.sort+`", when: "`+tt.at+`"}
    samples:
      - {user: U1, id: 0f3c1b2a-7d4e-4c5f-8a9b-1c2d3e4f5a6b, status: OPEN, at: "2026-01-09T10:00:00Z", note: a}
      - {user: U1, id: a91b2c3d-4e5f-4a6b-9c7d-8e9f0a1b2c3d, status: DONE, at: "2026-01-05T10:00:00Z", note: b}
patterns:
  - name: `+tt.pattern+`
    query: `+tt.query+`
`))
			require.NoError(t, err)
			w, err := dataset.Build(t.Context(), m, dataset.Options{})
			require.NoError(t, err)
			defer w.Close()
			found, err := lint.RunAlone(t.Context(), w)
			require.NoError(t, err)
			var got model.Severity
			for _, f := range found {
				if f.Rule == tt.rule {
					got = f.Severity
				}
			}
			require.Equal(t, tt.want, got, "%s", text(found))
		})
	}
}
