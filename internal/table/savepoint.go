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
	rows    int // length of the undo log
	pending []delta
}

// save returns a savepoint. From then on, the transaction logs the old values of the rows that it changes, until the
// savepoint is released or restored.
func (tx *Tx) save() savepoint {
	w := tx.remembering()
	w.points++
	return savepoint{len(w.log), slices.Clone(tx.pending)}
}

// remembering returns the undoWriter of the transaction. The first call creates it, and the transaction then writes
// through it.
func (tx *Tx) remembering() *undoWriter {
	if tx.undo == nil {
		tx.undo = &undoWriter{Writer: tx.w}
		tx.w, tx.r = tx.undo, tx.undo
	}
	return tx.undo
}

// release ends a savepoint and keeps the writes since then.
func (tx *Tx) release(savepoint) {
	if tx.undo.points--; tx.undo.points == 0 {
		tx.undo.log = nil
	}
}

// restore ends a savepoint and undoes the writes since then.
func (tx *Tx) restore(p savepoint) error {
	defer tx.release(p)
	tx.pending = p.pending
	w := tx.undo
	undone := w.log[p.rows:]
	w.log = w.log[:p.rows:p.rows]
	for _, row := range slices.Backward(undone) {
		space, partition, sort, _ := address.Parse(row.addr, nil)
		// frozen states may need the current value, so log it too
		if err := w.remember(space, partition, sort); err != nil {
			return err
		}
		var err error
		if row.existed {
			err = w.Writer.Put(space, partition, sort, row.value)
		} else {
			err = w.Writer.Delete(space, partition, sort)
		}
		if err != nil {
			return err
		}
	}

	w.log = w.log[:p.rows]
	return nil
}

// An undoWriter logs the old values of rows that it changes while there are savepoints or frozen states.
type undoWriter struct {
	store.Writer
	points int // savepoints
	log    []changedRow
	frozen []*frozen
}

// A changedRow is a row as it was before a change. existed is false if the change created the row.
type changedRow struct {
	addr, value []byte
	existed     bool
}

func (w *undoWriter) remember(space store.Space, partition, sort []byte) error {
	if w.points == 0 && len(w.frozen) == 0 {
		return nil
	}
	value, existed, err := w.Get(space, partition, sort)
	if err != nil {
		return err
	}
	row := changedRow{address.Append(nil, space, partition, sort), bytes.Clone(value), existed}
	if w.points > 0 {
		w.log = append(w.log, row)
	}
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
