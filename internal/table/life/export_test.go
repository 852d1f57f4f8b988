package life

import (
	"context"

	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/store"
)

// SetExact sets the value of the mark, in a closed store, that the counters are exact.
func SetExact(ctx context.Context, st store.Store, mark byte) error {
	return st.Update(ctx, func(w store.Writer) error {
		return w.Put(table.CatalogueSpace, table.CountersPartition, table.ExactRow, []byte{mark})
	})
}
