package table

import (
	"bytes"
	"iter"
	"slices"

	"github.com/google/btree"

	"github.com/sortkey/sortkey/internal/address"
	"github.com/sortkey/sortkey/store"
)

// A frozen is a Reader of the rows of an update as they were at one moment, even after the update has written more.
// It reads the current rows. For each row that has changed since, it returns the old value from rows.
type frozen struct {
	w    *undoWriter
	rows *btree.BTreeG[changedRow]
}

func (tx *Tx) freeze() *frozen {
	w := tx.remembering()
	f := &frozen{w, btree.NewG(16, func(a, b changedRow) bool { return string(a.addr) < string(b.addr) })}
	w.frozen = append(w.frozen, f)
	return f
}

func (f *frozen) release() {
	f.w.frozen = slices.DeleteFunc(f.w.frozen, func(o *frozen) bool { return o == f })
}

// Get implements [store.Reader].
func (f *frozen) Get(space store.Space, partition, sort []byte) (value []byte, ok bool, err error) {
	if row, changed := f.rows.Get(changedRow{addr: address.Append(nil, space, partition, sort)}); changed {
		return row.value, row.existed, nil
	}
	return f.w.Get(space, partition, sort)
}

// Query implements [store.Reader].
func (f *frozen) Query(
	space store.Space, partition []byte, r store.Range, reverse bool,
) iter.Seq2[store.Row, error] {
	lo, hi := address.AppendRange(nil, nil, space, partition, r)
	return merge(f.w.Query(space, partition, r, reverse), f.changed(lo, hi), reverse, space, partition)
}

// Scan implements [store.Reader].
func (f *frozen) Scan(space store.Space, s store.Span) iter.Seq2[store.Row, error] {
	lo, hi := address.AppendSpan(nil, nil, space, s)
	return merge(f.w.Scan(space, s), f.changed(lo, hi), false, space, nil)
}

// changed returns the rows with lo <= address < hi that have changed, in address order. A nil hi means no bound.
func (f *frozen) changed(lo, hi []byte) (list []changedRow) {
	f.rows.AscendGreaterOrEqual(changedRow{addr: lo}, func(r changedRow) bool {
		if hi != nil && string(r.addr) >= string(hi) {
			return false
		}
		list = append(list, r)
		return true
	})
	return list
}

// merge yields the rows of now as they were before the changes: it replaces each changed row by its old value. changed
// has the changed rows in address order, and now is in the opposite order if reverse is set. partition is that of all
// rows, or nil if the rows have theirs. The update must not write until merge ends.
func merge(
	now iter.Seq2[store.Row, error], changed []changedRow, reverse bool, space store.Space, partition []byte,
) iter.Seq2[store.Row, error] {
	if len(changed) == 0 {
		return now
	}
	if reverse {
		slices.Reverse(changed)
	}
	return func(yield func(store.Row, error) bool) {
		left := changed
		for row, err := range now {
			if err != nil {
				yield(store.Row{}, err)
				return
			}
			own := partition
			if own == nil {
				own = row.Partition
			}
			addr, order := address.Append(nil, space, own, row.Sort), 1
			for len(left) > 0 && order > 0 {
				if order = bytes.Compare(addr, left[0].addr); reverse {
					order = -order
				}
				if order < 0 {
					break
				}
				was := left[0]
				if left = left[1:]; was.existed && !yield(was.row(), nil) {
					return
				}
			}
			if order != 0 && !yield(row, nil) {
				return
			}
		}
		for _, was := range left {
			if was.existed && !yield(was.row(), nil) {
				return
			}
		}
	}
}

// row returns the row as it was before the change.
func (r *changedRow) row() store.Row {
	_, partition, sort, _ := address.Parse(r.addr, nil)
	return store.Row{Partition: partition, Sort: sort, Value: r.value}
}
