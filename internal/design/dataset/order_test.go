package dataset_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/tests/proptest"
)

// TestOrder compares the order of a space with that of whole keys, of which many begin alike or end early.
func TestOrder(t *testing.T) {
	t.Parallel()
	proptest.Check(t, 500, func(t *proptest.T) {
		part := func() string {
			prefix := proptest.Pick(t, "", "A#", "ORDER#", "CUSTOMER#\x00", "\x00\x00\x00")
			return prefix + strings.Repeat("ab", t.Between(0, 6)*t.Between(0, 1)) + t.Text("\x00ab", 0, t.Between(0, 10))
		}
		some := func() []string { return proptest.SliceOf(t, 1, 9, func(t *proptest.T) string { return part() }) }
		partitions, positions := some(), some()
		keys := proptest.SliceOf(t, 0, 200, func(t *proptest.T) [3]string {
			position := part()
			if t.Bool() {
				position = proptest.Pick(t, positions...)
			}
			return [3]string{proptest.Pick(t, partitions...), position, part()}
		})
		want := slices.Clone(keys)
		slices.SortFunc(want, func(a, b [3]string) int {
			return cmp.Or(strings.Compare(a[0], b[0]), strings.Compare(a[1], b[1]), strings.Compare(a[2], b[2]))
		})
		if got := dataset.Order(keys); !slices.Equal(want, got) {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}
