package memory

import (
	"math"

	"github.com/google/btree"

	"github.com/sortkey/sortkey/store"
)

// A writer changes a copy of the published tree, taken at the first change.
type writer struct {
	reader
	store *Store
	owned bool // the tree is ours to change
}

var errTooLong = tooLongError{}

type tooLongError struct{}

func (tooLongError) Error() string { return "store: key too long" }

// mutable makes r.tree one that no published version and no running iterator
// reads.
func (w *writer) mutable() error {
	if err := w.check(); err != nil {
		return err
	}
	switch {
	case !w.owned:
		w.store.cloning.Lock()
		w.tree = w.tree.Clone()
		w.store.cloning.Unlock()
		w.owned = true
	case w.walks.Load() > 0:
		// The iterators keep the old copy. They stay counted until they end,
		// so a change may take one copy more than it must; copies are cheap.
		w.tree = w.tree.Clone()
	}
	return nil
}

// Put implements [store.Writer].
func (w *writer) Put(space store.Space, partition, sort, value []byte) error {
	if err := w.mutable(); err != nil {
		return err
	}
	if len(partition) > math.MaxInt32/4 || len(sort) > math.MaxInt32/4 {
		return errTooLong
	}
	w.tree.ReplaceOrInsert(newRow(space, partition, sort, value))
	return nil
}

// Delete implements [store.Writer].
func (w *writer) Delete(space store.Space, partition, sort []byte) error {
	if err := w.check(); err != nil {
		return err
	}
	b := boundsPool.Get().(*bounds)
	defer boundsPool.Put(b)
	b.lo.buf = store.AppendAddress(b.lo.buf[:0], space, partition, sort)
	at := b.lo.row()
	if !w.tree.Has(at) {
		return nil
	}
	if err := w.mutable(); err != nil {
		return err
	}
	w.tree.Delete(at)
	return nil
}

// Clear implements [store.Writer].
func (w *writer) Clear(space store.Space) error {
	if err := w.check(); err != nil {
		return err
	}
	lo, hi := store.AppendSpace(nil, nil, space)
	var gone []row
	collect := func(it row) bool {
		gone = append(gone, it)
		return true
	}
	first, last := probe{buf: lo}, probe{buf: hi}
	if hi == nil {
		w.tree.AscendGreaterOrEqual(first.boundary(), collect)
	} else {
		w.tree.AscendRange(first.boundary(), last.boundary(), collect)
	}
	switch len(gone) {
	case 0:
		return nil
	case w.tree.Len():
		w.tree, w.owned = btree.NewG(degree, less), true
		return nil
	}
	if err := w.mutable(); err != nil {
		return err
	}
	for _, it := range gone {
		w.tree.Delete(it)
	}
	return nil
}
