package design

import (
	"iter"

	"github.com/sortkey/sortkey/internal/table"
)

// A Row is the row of an item in a table or an index.
type Row struct {
	Item *Item
	// N is the item's index in [World].Items.
	N int
	// Size is the documented size in bytes.
	Size int
	// Partition is the encoded partition key. It is valid until the next row.
	Partition []byte
}

// Rows yields the rows of an index of the table, or of the table itself for nil,
// in the order of [World].Items.
func (w *World) Rows(t *Table, x *Index) iter.Seq[Row] {
	return func(yield func(Row) bool) {
		schema := t.Schema(x)
		var key []byte
		for i := range w.Items {
			it := &w.Items[i]
			if it.Table != t {
				continue
			}
			size, ok := t.RowSize(x, it.Attributes)
			if !ok {
				continue
			}
			if key, ok = schema.AppendPartition(key[:0], it.Attributes); !ok {
				continue
			}
			if !yield(Row{it, i, size, key}) {
				return
			}
		}
	}
}

// Load returns the units per second that fall to a row at the declared rates,
// which are spread evenly over the items of the entity. Reads are eventually
// consistent, and 0 in an index: its reads are not declared.
func (w *World) Load(r Row, x *Index, g Growth) (reads, writes float64) {
	e := r.Item.Entity
	if e == nil || e.Reads == 0 && e.Writes == 0 {
		return 0, 0
	}
	share := w.Share(r.Item, g)
	if x == nil {
		reads = e.Reads * share * table.ReadUnits(r.Size, false)
	}
	return reads, e.Writes * share * table.WriteUnits(r.Size)
}
