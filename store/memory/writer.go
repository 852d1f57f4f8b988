package memory

import (
	"context"
	"iter"
	"math"
	"math/bits"

	"github.com/sortkey/sortkey/store"
)

// A writer edits trees that nobody else sees. The tree of a group of spaces is the current one when the
// writer gets the group's turn.
type writer struct {
	reader
	store *engine
	owner uint64 // of the nodes that may be changed; 0 before the first change
	rows  int    // added

	waits  *group   // for its turn; under waiting of the store
	needed groupSet // the turns with which the Update has to run again; empty if it need not
	parts  []part
	usual  [1]part // memory of parts
}

// A part is what a writer has of a group of spaces whose turn it has.
type part struct {
	*group
	number  int
	root    *node
	changed bool
}

// A groupSet is a set of groups, a bit each.
type groupSet uint32

func (s *groupSet) add(g int) { *s |= 1 << g }

// all yields the groups in ascending order.
func (s groupSet) all() iter.Seq[int] {
	return func(yield func(int) bool) {
		for s != 0 && yield(bits.TrailingZeros32(uint32(s))) {
			s &= s - 1
		}
	}
}

// An againError is the error of a writer whose Update runs again.
type againError struct{}

func (againError) Error() string {
	return "store: the update waits for another one that waits for it, and begins again"
}

// Again marks the error as one of an Update that begins again.
func (againError) Again() {}

var errAgain error = againError{}

func newWriter(ctx context.Context, s *engine) *writer {
	w := &writer{store: s}
	w.ctx, w.writer, w.parts = ctx, w, w.usual[:0]
	return w
}

// update takes the turns of groups, calls fn, and publishes its changes.
func (w *writer) update(groups groupSet, fn func(store.Writer) error) error {
	defer w.leave()
	if err := w.run(groups, fn); err != nil || w.needed != 0 {
		return err
	}
	if w.owner == 0 { // nothing was changed
		return nil
	}
	return w.store.publish(w)
}

// run takes the turns of groups and calls fn, unless the context has ended or the store is closed.
func (w *writer) run(groups groupSet, fn func(store.Writer) error) error {
	defer w.end()
	if w.ctx.Err() != nil {
		return context.Cause(w.ctx)
	}
	if w.store.current.Load() == nil {
		return store.ErrClosed
	}
	for g := range groups.all() {
		if err := w.take(g); err != nil {
			return err
		}
	}
	return fn(w)
}

// take takes the turn of a group. The error is errAgain if the Update that has the turn waits for this one.
func (w *writer) take(g int) error {
	group := w.store.group(g)
	if !group.turn.try() {
		if err := w.await(group); err != nil {
			if err == errAgain {
				w.needed.add(g)
				for _, p := range w.parts {
					w.needed.add(p.number)
				}
			}
			return err
		}
	}
	group.holder.Store(w)
	group.nodes.forget() // nodes replaced by a failed Update are still in use

	p := part{group: group, number: g}
	v := w.store.current.Load()
	if v != nil {
		p.root = v.roots[g]
	}
	w.parts = append(w.parts, p)
	if v == nil {
		return store.ErrClosed
	}
	return nil
}

// await waits for the turn of a group and takes it.
//
// A writer that has turns says for which one it waits, unless that one's holder waits for this writer,
// perhaps through others. Of writers that wait in a circle, the last one to look sees all others: each of them
// has its turns for longer than it waits.
func (w *writer) await(g *group) error {
	if len(w.parts) == 0 { // nobody waits for it
		return g.turn.take(w.ctx)
	}
	s := w.store
	s.waiting.Lock()
	for next := g; next != nil; {
		holder := next.holder.Load()
		if holder == w {
			s.waiting.Unlock()
			return errAgain
		}
		if next = nil; holder != nil {
			next = holder.waits
		}
	}
	w.waits = g
	s.waiting.Unlock()

	err := g.turn.take(w.ctx)
	s.waiting.Lock()
	w.waits = nil
	s.waiting.Unlock()
	return err
}

// leave gives back the turns.
func (w *writer) leave() {
	for _, p := range w.parts {
		p.holder.Store(nil)
		p.turn.leave()
	}
}

// in returns the tree with the rows of a space. It waits for the turn of its group.
func (w *writer) in(space store.Space) (tree, error) {
	if err := w.check(); err != nil {
		return tree{}, err
	}
	if w.needed != 0 {
		return tree{}, errAgain
	}
	if w.part(space) == nil {
		if err := w.take(groupOf(space)); err != nil {
			return tree{}, err
		}
	}
	return tree{root: w.part(space).root}, nil
}

// part returns what the writer has of the group of a space, or nil.
func (w *writer) part(space store.Space) *part {
	g := groupOf(space)
	for i := range w.parts {
		if p := &w.parts[i]; p.number == g {
			return p
		}
	}
	return nil
}

var errTooLong = tooLongError{}

type tooLongError struct{}

func (tooLongError) Error() string { return "store: key too long" }

// edit returns an edit of the tree that has the rows of a space, which becomes t until keep. It changes no
// node that a published version or a running iterator reads.
func (w *writer) edit(space store.Space, t *tree) (edit, error) {
	now, err := w.in(space)
	if err != nil {
		return edit{}, err
	}
	*t = now
	// Iterators are counted until they end. So a change inside a loop over rows
	// may copy more than necessary.
	if w.owner == 0 || w.walks.Load() > 0 {
		w.owner = w.store.owners.Add(1)
	}
	return edit{t, w.owner, &w.part(space).nodes}, nil
}

// keep makes t, which has been edited, the tree that has the rows of a space.
func (w *writer) keep(space store.Space, t tree) {
	p := w.part(space)
	p.root, p.changed = t.root, true
	w.rows += t.rows
}

// Put implements [store.Writer].
func (w *writer) Put(space store.Space, partition, sort, value []byte) error {
	var t tree
	e, err := w.edit(space, &t)
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
	w.keep(space, t)
	return nil
}

// Delete implements [store.Writer].
func (w *writer) Delete(space store.Space, partition, sort []byte) error {
	t, err := w.in(space)
	if err != nil {
		return err
	}
	a := newAddresses()
	defer a.free()
	address := a.row(space, partition, sort)
	if _, _, found := t.find(address); !found {
		return nil
	}
	e, err := w.edit(space, &t)
	if err != nil {
		return err
	}
	e.delete(address)
	w.keep(space, t)
	return nil
}

// Clear implements [store.Writer].
func (w *writer) Clear(space store.Space) error {
	var t tree
	e, err := w.edit(space, &t)
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
	w.keep(space, t)
	return nil
}
