package table

import (
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
	if f.rows.Len() == 0 {
		return f.w.Query(space, partition, r, reverse)
	}
	lo, hi := address.AppendRange(nil, nil, space, partition, r)
	return f.merge(f.w.Query(space, partition, r, reverse), lo, hi, reverse, func(dst []byte, row store.Row) []byte {
		return address.Append(dst, space, partition, row.Sort)
	})
}

// Scan implements [store.Reader].
func (f *frozen) Scan(space store.Space, s store.Span) iter.Seq2[store.Row, error] {
	if f.rows.Len() == 0 {
		return f.w.Scan(space, s)
	}
	lo, hi := address.AppendSpan(nil, nil, space, s)
	return f.merge(f.w.Scan(space, s), lo, hi, false, func(dst []byte, row store.Row) []byte {
		return address.Append(dst, space, row.Partition, row.Sort)
	})
}

// merge yields the rows of now as they were when f was made: it replaces each changed row by its old value. It looks
// for changed rows in [lo, hi). The update must not write until merge ends.
func (f *frozen) merge(
	now iter.Seq2[store.Row, error], lo, hi []byte, reverse bool, addressOf func([]byte, store.Row) []byte,
) iter.Seq2[store.Row, error] {
	return func(yield func(store.Row, error) bool) {
		was, more := f.first(lo, hi, reverse)
		// old yields the remaining changed rows that come before addr, or all of them if addr is nil.
		old := func(addr []byte) (goOn bool) {
			before := func() bool {
				return addr == nil || string(was.addr) != string(addr) && (string(was.addr) < string(addr)) != reverse
			}
			for more && before() {
				if was.existed {
					_, partition, sort, _ := address.Parse(was.addr, nil)
					if !yield(store.Row{Partition: partition, Sort: sort, Value: was.value}, nil) {
						return false
					}
				}
				was, more = f.next(was, lo, hi, reverse)
			}
			return true
		}

		var addr []byte
		for row, err := range now {
			if err != nil {
				yield(store.Row{}, err)
				return
			}
			addr = addressOf(addr[:0], row)
			if !old(addr) {
				return
			}
			if more && string(was.addr) == string(addr) {
				if was.existed {
					row.Value = was.value
				}
				existed := was.existed
				was, more = f.next(was, lo, hi, reverse)
				if !existed {
					continue
				}
			}

			if !yield(row, nil) {
				return
			}
		}
		old(nil)
	}
}

// first returns the first changed row with an address in [lo, hi), or the last one if reverse is set.
func (f *frozen) first(lo, hi []byte, reverse bool) (row changedRow, ok bool) {
	take := func(r changedRow) bool {
		if hi != nil && string(r.addr) >= string(hi) {
			return reverse // skip hi itself, which is not in the range
		}
		row, ok = r, string(r.addr) >= string(lo)
		return false
	}
	switch {
	case !reverse:
		f.rows.AscendGreaterOrEqual(changedRow{addr: lo}, take)
	case hi == nil:
		f.rows.Descend(take)
	default:
		f.rows.DescendLessOrEqual(changedRow{addr: hi}, take)
	}
	return row, ok
}

// next returns the changed row that follows after in the direction of reading.
func (f *frozen) next(after changedRow, lo, hi []byte, reverse bool) (changedRow, bool) {
	if reverse {
		return f.first(lo, after.addr, true)
	}
	return f.first(append(slices.Clone(after.addr), 0), hi, false)
}
