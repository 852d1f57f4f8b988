package table

import (
	"bytes"
	"errors"
	"slices"

	"github.com/sortkey/sortkey/internal/address"
	"github.com/sortkey/sortkey/internal/capability"
	"github.com/sortkey/sortkey/store"
)

// A savepoint is a state of a transaction. The method restore returns to it.
type savepoint struct {
	rows    *frozen
	pending []delta
}

// save returns a savepoint. The caller ends it with release or restore.
func (tx *Tx) save() savepoint { return savepoint{tx.freeze(), slices.Clone(tx.pending)} }

// release ends a savepoint and keeps the writes since then.
func (p savepoint) release() { p.rows.release() }

// restore ends a savepoint and undoes the writes since then.
func (tx *Tx) restore(p savepoint) (err error) {
	defer p.release()
	tx.pending = p.pending
	// Writing through tx.w keeps the current values for other frozen states. p.rows has these rows already, so it does
	// not change during the loop.
	p.rows.rows.Ascend(func(row changedRow) bool {
		space, partition, sort, _ := address.Parse(row.addr, nil)
		if row.existed {
			err = tx.w.Put(space, partition, sort, row.value)
		} else {
			err = tx.w.Delete(space, partition, sort)
		}
		return err == nil
	})
	return err
}

// An undoWriter keeps the old values of rows that it changes for the frozen states.
type undoWriter struct {
	store.Writer
	frozen []*frozen
}

// A changedRow is a row as it was before a change. existed is false if the change created the row.
type changedRow struct {
	addr, value []byte
	existed     bool
}

func (w *undoWriter) remember(space store.Space, partition, sort []byte) error {
	if len(w.frozen) == 0 {
		return nil
	}
	value, existed, err := w.Get(space, partition, sort)
	if err != nil {
		return err
	}
	row := changedRow{address.Append(nil, space, partition, sort), bytes.Clone(value), existed}
	for _, f := range w.frozen {
		if !f.rows.Has(row) {
			f.rows.ReplaceOrInsert(row)
		}
	}
	return nil
}

// Put implements [store.Writer].
func (w *undoWriter) Put(space store.Space, partition, sort, value []byte) error {
	if err := w.remember(space, partition, sort); err != nil {
		return err
	}
	return w.Writer.Put(space, partition, sort, value)
}

// Delete implements [store.Writer].
func (w *undoWriter) Delete(space store.Space, partition, sort []byte) error {
	if err := w.remember(space, partition, sort); err != nil {
		return err
	}
	return w.Writer.Delete(space, partition, sort)
}

// Clear implements [store.Writer]. Transactions never clear spaces, so it returns an error.
func (w *undoWriter) Clear(store.Space) error { return errors.ErrUnsupported }

// Prefetch implements [capability.Prefetcher].
func (w *undoWriter) Prefetch(addrs [][]byte) error {
	if p, ok := w.Writer.(capability.Prefetcher); ok {
		return p.Prefetch(addrs)
	}
	return nil
}
