package memory

import (
	"context"
	"math"

	"github.com/sortkey/sortkey/store"
)

// A writer edits a tree that nobody else sees. It holds the write lock.
type writer struct {
	reader // of the version that the Update began with
	store  *engine
	tree   tree
	owner  uint64 // the owner of the nodes that it may change; 0 before the first change
}

func (s *engine) newWriter(ctx context.Context) (*writer, error) {
	v := s.current.Load()
	switch {
	case v == nil:
		return nil, store.ErrClosed
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	s.nodes.begin(v)
	w := &writer{store: s, tree: v.tree}
	w.ctx, w.version, w.writer = ctx, v, w
	return w, nil
}

// run calls the function of the Update.
func (w *writer) run(fn func(store.Writer) error) error {
	defer w.end()
	return fn(w)
}

var errTooLong = tooLongError{}

type tooLongError struct{}

func (tooLongError) Error() string { return "store: key too long" }

// edit returns an edit of the tree. The edit copies nodes that a published version or a running iterator reads before
// it changes them.
func (w *writer) edit() (edit, error) {
	if err := w.check(); err != nil {
		return edit{}, err
	}
	// walks falls only when an iterator ends. So each change inside a loop over rows takes a new owner, and may copy
	// nodes that no iterator reads.
	if w.owner == 0 || w.walks.Load() > 0 {
		w.owner = w.store.owners.Add(1)
	}
	return edit{&w.tree, w.owner, &w.store.nodes}, nil
}

// Put implements [store.Writer].
func (w *writer) Put(space store.Space, partition, sort, value []byte) error {
	e, err := w.edit()
	if err != nil {
		return err
	}
	if len(partition) > math.MaxInt32/4 || len(sort) > math.MaxInt32/4 {
		return errTooLong
	}
	a := newAddresses()
	defer a.free()
	address := a.row(space, partition, sort)
	row := record{rest: address, sort: len(address) - len(sort), value: value}
	if row.sort != partitionEnd+len(partition) { // escaped
		row.partition = partition
	}
	e.put(&row)
	return nil
}

// Delete implements [store.Writer].
func (w *writer) Delete(space store.Space, partition, sort []byte) error {
	a := newAddresses()
	defer a.free()
	address := a.row(space, partition, sort)
	if err := w.check(); err != nil {
		return err
	}
	if _, _, found := w.tree.find(address); !found {
		return nil
	}
	e, err := w.edit()
	if err != nil {
		return err
	}
	e.delete(address)
	return nil
}

// Clear implements [store.Writer].
func (w *writer) Clear(space store.Space) error {
	e, err := w.edit()
	if err != nil {
		return err
	}
	a := newAddresses()
	defer a.free()
	hi := []byte(nil)
	if a.span(space, store.Everything()) {
		hi = a.hi
	}
	e.clear(a.lo, hi)
	return nil
}
