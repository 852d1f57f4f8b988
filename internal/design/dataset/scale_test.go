package dataset_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/modelfile"
)

// TestGrowth checks that partitions grow with the scale if their keys have few values.
func TestGrowth(t *testing.T) {
	for _, tt := range []struct {
		partition, fields string
		want              float64
	}{
		{"E#{id}", "id: {type: uuid}", 1},
		{"E#{user}", "user: {}", 1},
		{"E#{kind}", "kind: {values: [a, b]}", 100},
		{"E#{shard:int(1)}", "shard: {}", 100},
		{"E#{shard:int(3)}", "shard: {from: 0, to: 1}", 100},
		{"E#{shard:int(8)}", "shard: {}", 1},
		{"E#{at:date}", `at: {type: time, from: "2025-01-01", to: "2025-01-10"}`, 100},
		{"E#{at:month}", "at: {type: time}", 100},
		{"E#{at:time}", "at: {}", 1},
		{"E#{at:ulid}", "at: {}", 1},
		{"E#{n}", "n: {type: int(8), distinct: 5}", 100},
		{"E#{own}", "own: {}", 1}, // the number of values grows with the number of owners
	} {
		m, err := modelfile.Parse("m.yaml", []byte(`name: m
tables: {Tab: {partition: PK, sort: SK}}
fields: {own: {type: int(8)}}
entities:
  E:
    fields: {x: uuid, `+tt.fields+`}
    attributes: {PK: "`+tt.partition+`", SK: "{x:uuid}"}
    count: 10000
  Own:
    attributes: {PK: "O#{own}", SK: A}
    count: 10000
`))
		require.NoError(t, err, tt.partition)
		w, err := dataset.Build(t.Context(), m, dataset.Options{MaxItems: 200})
		require.NoError(t, err)
		defer w.Close()
		got, err := w.Factor(t.Context(), m.Entity("E"))
		require.NoError(t, err)
		require.InEpsilon(t, tt.want, got, 0.05, "%s %s", tt.partition, tt.fields)
	}
}
