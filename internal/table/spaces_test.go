package table_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/table/tabletest"
	"github.com/sortkey/sortkey/store"
)

// TestSpaces: the spaces of a table and its indexes are in one group, those of the next table in another,
// and none is that of another table.
func TestSpaces(t *testing.T) {
	f := tabletest.Open(t)
	used := map[store.Space]bool{0: true}
	groups := map[store.Space]bool{}
	for i := range store.Groups - 1 {
		name := fmt.Sprint("T", i)
		d := f.Create(name, "PK:S SK:S", "L PK:S SK:S ALL", "G g:S - KEYS_ONLY").Definition()
		first := d.Space
		groups[first%store.Groups] = true
		require.Len(t, d.Spaces(), 3)
		for _, s := range d.Spaces() {
			require.False(t, used[*s], "%s: space %d", name, *s)
			used[*s] = true
			require.Equal(t, first%store.Groups, *s%store.Groups, name)
		}
	}
	require.Len(t, groups, store.Groups-1)
}
