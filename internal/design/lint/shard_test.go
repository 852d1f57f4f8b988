package lint_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/lint"
	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/internal/design/world"
)

// TestShardAdvice holds that the day of an item is proposed for its partition key,
// unless it is already there.
func TestShardAdvice(t *testing.T) {
	for partition, want := range map[string][2]string{
		"D#{at:date}": {"2025-01-01T23:00:00Z", `divide it by a shard number from a hash of the id: write PK: "D#{at:date}#{shard:int(2)}"`},
		"D#{status}":  {"2025-12-31T23:00:00Z", `divide it by day if patterns know it: write PK: "D#{status}#{at:date}", or divide it by a shard number from a hash of the id: write PK: "D#{status}#{shard:int(2)}"`},
	} {
		m, err := modelfile.Parse("m.yaml", []byte(`name: m
tables: {Tab: {partition: PK, sort: SK}}
entities:
  E:
    fields:
      at: {type: time, from: "2025-01-01", to: "`+want[0]+`"}
      status: {values: [NEW]}
    attributes: {PK: "`+partition+`", SK: "{id:uuid}", when: "{at:time}"}
    count: 1_000_000
`))
		require.NoError(t, err)
		w, err := world.Build(t.Context(), m, world.Options{MaxItems: 500})
		require.NoError(t, err)
		defer w.Close()
		found, err := lint.Run(t.Context(), w)
		require.NoError(t, err)
		advice := ""
		for _, f := range found {
			if f.Rule == "loads" {
				advice = f.Advice
			}
		}
		require.Contains(t, advice, want[1], "%s\n%s", partition, text(found))
	}
}
