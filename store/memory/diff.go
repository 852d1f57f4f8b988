package memory

import (
	"bytes"
	"iter"

	"github.com/sortkey/sortkey/internal/capability"
	"github.com/sortkey/sortkey/store"
)

var (
	_ capability.Differ = (*reader)(nil)
	_ capability.Differ = (*writer)(nil)
)

// Since implements [capability.Differ]. It skips nodes that both trees share, because they hold the same rows in
// both.
func (r *reader) Since(before store.Reader, space store.Space) (changes iter.Seq2[capability.Change, error], ok bool) {
	var old *reader
	switch b := before.(type) {
	case *reader:
		old = b
	case *writer:
		old = &b.reader
	default:
		return nil, false
	}
	return func(yield func(capability.Change, error) bool) { r.since(old, space, yield) }, true
}

func (r *reader) since(old *reader, space store.Space, yield func(capability.Change, error) bool) {
	var trees [2]tree
	for i, side := range []*reader{old, r} {
		if !side.begin() {
			yield(capability.Change{}, store.ErrClosed)
			return
		}
		defer side.finish()
		trees[i] = side.now()
		defer side.hold().release()
		side.walks.Add(1)
		defer side.walks.Add(-1)
	}

	a := newAddresses()
	defer a.free()
	var hi []byte
	if a.span(space, store.Everything()) {
		hi = a.hi
	}
	d := &difference{before: trees[0].frontier(a.lo, hi), now: trees[1].frontier(a.lo, hi)}
	for more := true; more; {
		for _, side := range []*reader{old, r} {
			if err := side.check(); err != nil {
				yield(capability.Change{}, err)
				return
			}
		}
		var c capability.Change
		if c, more = d.step(); c != (capability.Change{}) && !yield(c, nil) {
			return
		}
	}
}

// A frontier is a place in a tree, directly before an entry. The entry is a row or a node. A node stands for all rows
// below it, until enter moves the frontier into the node.
type frontier struct {
	path   []step // the nodes from the root to the one with the entry; empty at the end
	height int    // of the tree
	hi     []byte // the rows before this address are visited; nil for no bound
}

// frontier returns the frontier before the first row with lo <= address < hi.
func (t tree) frontier(lo, hi []byte) *frontier {
	f := &frontier{hi: bytes.Clone(hi)}
	n := t.root
	if n == nil {
		return f
	}
	for n.kids != nil {
		i := n.child(lo)
		f.path = append(f.path, step{n, i})
		n = n.kids[i]
	}
	i, _ := n.search(lo)
	f.path = append(f.path, step{n, i})
	f.height = len(f.path)
	return f
}

// next returns the entry after the frontier: a node, or the place of a row. At the end it returns neither.
func (f *frontier) next() (kid *node, row step) {
	for len(f.path) > 0 {
		s := f.path[len(f.path)-1]
		if s.i < int(s.n.n) {
			// In an inner node, the key is a lower bound of the addresses below the entry.
			if f.hi != nil && s.i >= s.n.first() {
				if r := s.n.record(s.i); r.compare(f.hi) >= 0 {
					f.path = nil
					return nil, step{}
				}
			}
			if s.n.kids != nil {
				return s.n.kids[s.i], step{}
			}
			return nil, s
		}
		if f.path = f.path[:len(f.path)-1]; len(f.path) > 0 {
			f.pass()
		}
	}
	return nil, step{}
}

// pass moves past the entry.
func (f *frontier) pass() { f.path[len(f.path)-1].i++ }

// enter moves in front of the first entry of a node.
func (f *frontier) enter(kid *node) { f.path = append(f.path, step{kid, 0}) }

// level returns the height of the entry after the frontier: 0 for a row, 1 for a leaf, and so on.
func (f *frontier) level() int { return f.height - len(f.path) }

// A difference walks two trees at the same time.
type difference struct {
	before, now *frontier
	address     []byte // buffer for the address of a row
}

// step takes one step and returns the change that it found, if any. It returns false at the end.
//
// If the entries after the two frontiers are the same, step skips them. Otherwise it moves one frontier into its
// entry: the one whose entry is a node at the higher level. A node is at the same level in every tree that shares it.
// So the frontiers reach a shared node at the same time, and skip it, unless the rows before it differ.
func (d *difference) step() (c capability.Change, more bool) {
	was, old := d.before.next()
	is, row := d.now.next()
	switch {
	case was == is && old.same(row):
		if was == nil && old.n == nil {
			return c, false
		}
		d.before.pass()
		d.now.pass()
		return c, true
	case was != nil && (is == nil || d.before.level() >= d.now.level()):
		d.before.enter(was)
		return c, true
	case is != nil:
		d.now.enter(is)
		return c, true
	}

	order := 0
	switch {
	case old.n == nil:
		order = 1
	case row.n == nil:
		order = -1
	default:
		r := row.n.record(row.i)
		d.address = r.appendKey(d.address[:0])
		r = old.n.record(old.i)
		order = r.compare(d.address)
	}

	if order == 0 && bytes.Equal(old.n.value(old.i), row.n.value(row.i)) {
		d.before.pass()
		d.now.pass()
		return c, true
	}
	if order <= 0 {
		public := old.n.row(old.i)
		c.Before = &public
		d.before.pass()
	}
	if order >= 0 {
		public := row.n.row(row.i)
		c.Now = &public
		d.now.pass()
	}
	return c, true
}

// same reports whether two places have the same row, because they share its record or are both at the end. It may
// return false for rows that are equal.
func (s step) same(o step) bool {
	if s.n == nil || o.n == nil {
		return s.n == o.n
	}
	return len(s.n.page) > 0 && len(o.n.page) > 0 && &s.n.page[0] == &o.n.page[0] &&
		s.n.offsets[s.i] == o.n.offsets[o.i] && !s.n.hasOverflow(s.i) && !o.n.hasOverflow(o.i)
}
