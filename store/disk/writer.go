package disk

import (
	"context"
	"iter"

	"github.com/cockroachdb/pebble/v2"

	"github.com/sortkey/sortkey/internal/address"
	"github.com/sortkey/sortkey/store"
)

// The sizes of the largest key and the largest update, in bytes. Pebble's own
// limit for a batch is 4 GiB.
const (
	maxKey   = 1 << 20
	maxBatch = 1 << 30
)

// A writer collects changes in a batch. The first read after a change gives the batch an index; until then, reads use
// the state before the update. An update of one item never needs the index.
type writer struct {
	reader
	batch   *pebble.Batch
	indexed bool
	err     error // of a failed change; the update fails even if fn ignores it
}

// see makes the changes so far visible to the reads that follow. A Writer is not safe for concurrent use. But if a
// program reads in two goroutines nevertheless, the lock makes each of them find either the old or the new batch.
func (w *writer) see() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.indexed || w.err != nil || w.finished() || w.batch.Count() == 0 {
		return
	}
	indexed := w.store.db.NewIndexedBatch()
	if w.note(indexed.Apply(w.batch, nil)) != nil {
		_ = indexed.Close()
		return
	}
	_ = w.batch.Close()
	w.batch, w.from, w.indexed = indexed, indexed, true
}

// Get implements [store.Reader].
func (w *writer) Get(space store.Space, partition, sort []byte) (value []byte, ok bool, err error) {
	w.see()
	return w.reader.Get(space, partition, sort)
}

// Query implements [store.Reader].
func (w *writer) Query(
	space store.Space, partition []byte, r store.Range, reverse bool,
) iter.Seq2[store.Row, error] {
	return w.seeing(w.reader.Query(space, partition, r, reverse))
}

// Scan implements [store.Reader].
func (w *writer) Scan(space store.Space, s store.Span) iter.Seq2[store.Row, error] {
	return w.seeing(w.reader.Scan(space, s))
}

// seeing returns an iterator over rows that first calls see.
func (w *writer) seeing(rows iter.Seq2[store.Row, error]) iter.Seq2[store.Row, error] {
	return func(yield func(store.Row, error) bool) {
		w.see()
		rows(yield)
	}
}

// check returns an error if size more bytes cannot be written.
func (w *writer) check(size int) error {
	switch {
	case w.finished():
		return store.ErrClosed
	case w.err != nil:
		return w.err
	case w.ctx.Err() != nil:
		return context.Cause(w.ctx)
	case size > maxBatch-w.batch.Len():
		return ErrTooLarge
	}
	return nil
}

// note keeps an error of the batch, so that the update fails: after an error, the state of the batch is unknown.
func (w *writer) note(err error) error {
	if err != nil {
		w.err = err
	}
	return err
}

// Put implements [store.Writer]. It copies value.
func (w *writer) Put(space store.Space, partition, sort, value []byte) error {
	if err := w.check(len(value) + maxKey); err != nil {
		return err
	}
	if address.Len(partition, sort) > maxKey {
		return ErrTooLarge
	}
	b := boundsPool.Get().(*bounds)
	defer boundsPool.Put(b)
	b.lo = address.Append(b.lo[:0], space, partition, sort)
	return w.note(w.batch.Set(b.lo, value, nil))
}

// Delete implements [store.Writer].
func (w *writer) Delete(space store.Space, partition, sort []byte) error {
	if err := w.check(maxKey); err != nil {
		return err
	}
	if address.Len(partition, sort) > maxKey {
		return nil // the row does not exist
	}
	b := boundsPool.Get().(*bounds)
	defer boundsPool.Put(b)
	b.lo = address.Append(b.lo[:0], space, partition, sort)
	return w.note(w.batch.Delete(b.lo, nil))
}

// Clear implements [store.Writer]. It takes the same short time for any number of rows. Only in the last possible
// space, it deletes rows one by one.
func (w *writer) Clear(space store.Space) error {
	if err := w.check(maxKey); err != nil {
		return err
	}
	lo, hi := address.AppendSpace(nil, nil, space)
	if hi != nil {
		return w.note(w.batch.DeleteRange(lo, hi, nil))
	}
	for row, err := range w.Scan(space, store.Everything()) {
		if err != nil {
			return err
		}
		if err := w.Delete(space, row.Partition, row.Sort); err != nil {
			return err
		}
	}
	return nil
}
