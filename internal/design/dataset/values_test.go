package dataset_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/dataset"
)

// TestValuesMakeTheItem builds generated items again from their redrawn values, including items whose first key was
// taken.
func TestValuesMakeTheItem(t *testing.T) {
	w, err := build(t, `
fields: {day: {type: date, from: 2026-01-01, to: 2026-01-10}}
entities:
  Visit:
    fields: {guest: {distinct: 10, distribution: zipf(1.2)}, note: {size: 3..9}, at: millis}
    attributes: {PK: "GUEST#{guest}", SK: "VISIT#{day}", seen: "{at:millis}"}
    samples:
      - {guest: Ada, day: 2026-02-01, note: first}
    count: 100
items:
  Tab:
    - {PK: x, SK: y}
`, dataset.Options{})
	require.NoError(t, err)
	require.Len(t, w.Items, 102)
	for _, it := range w.Items {
		all := it.Values.Map()
		for field, text := range all {
			got, ok := it.Values.Lookup(field)
			require.True(t, ok, field)
			require.Equal(t, text, got, field)
			require.Equal(t, text, it.Values.Get(field), field)
		}
		_, ok := it.Values.Lookup("nothing")
		require.False(t, ok)
		if it.Entity == nil {
			require.Empty(t, all)
			continue
		}
		made, err := it.Entity.Item(all)
		require.NoError(t, err)
		require.Equal(t, it.Attributes, made)
	}
}
