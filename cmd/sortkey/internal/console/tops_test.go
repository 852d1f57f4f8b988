package console

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
)

// TestTops tests that a page receives the highest shapes by each figure that it can sort by.
func TestTops(t *testing.T) {
	t.Parallel()
	r := NewRecorder()
	add := func(table string, units, millis float64, refused string, n int) {
		for range n {
			r.End(t.Context(), &sortkey.Event{
				Operation: "Query", Tables: []string{table}, Units: []sortkey.Units{{Units: units}}, Error: refused,
				Duration: time.Duration(millis * float64(time.Millisecond)),
			})
		}
	}
	for i := range 20 {
		add(fmt.Sprint("usual", i), 10, 10, "", 20)
	}
	add("slow", 1, 100, "", 10)
	add("slow in all", 1, 5, "", 100)
	add("large", 50, 1, "", 2)
	add("refused", 0, 1, "ValidationException", 2)
	add("rare", 1, 1, "", 1)
	_, last, shapes, further, _ := r.since(0, 2)
	require.Equal(t, 515, last)
	var tables []string
	for _, s := range shapes {
		tables = append(tables, s.Table)
	}
	require.Subset(t, tables, []string{"usual0", "usual1", "slow", "slow in all", "refused"})
	require.NotContains(t, tables, "rare")
	require.Equal(t, 25-len(shapes), further)
}
