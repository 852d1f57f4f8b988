package memory

import (
	"bytes"
	"context"
	"iter"
	"math"
	"sync/atomic"

	"github.com/sortkey/sortkey/store"
)

// A reader reads one version or, in a writer, a tree that may change between two reads.
type reader struct {
	ctx     context.Context //nolint:containedctx // ends with the call of View or Update
	version *version        // in a View, held until the call has returned and no read runs
	writer  *writer         // nil in a View

	// uses counts the running reads. When the call of View or Update returns, end adds the constant returned to uses,
	// which makes it negative for good. If another goroutine is still reading then, its read keeps the version held
	// until it finishes.
	uses atomic.Int32

	// walks counts the running iterators. Only writers use it.
	walks atomic.Int32
}

// returned is so low that uses stays negative after end has added it, however many reads run.
const returned = math.MinInt32

// done reports whether the call has returned.
func (r *reader) done() bool { return r.uses.Load() < 0 }

// begin begins a read. It returns false when the call has returned.
func (r *reader) begin() bool {
	for {
		n := r.uses.Load()
		if n < 0 {
			return false
		}
		if r.uses.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// finish ends a read.
func (r *reader) finish() {
	if r.uses.Add(-1) == returned {
		r.release()
	}
}

// end ends the call.
func (r *reader) end() {
	if r.uses.Add(returned) == returned {
		r.release()
	}
}

func (r *reader) release() {
	if r.writer == nil {
		r.version.release()
	}
}

// hold holds the current version for a walk of a writer, and returns it. The walk may continue after the Update has
// returned; holding the version keeps its nodes from being reused until the walk ends. For a View, hold returns nil,
// because the reader holds its version already.
func (r *reader) hold() *version {
	if r.writer == nil {
		return nil
	}
	return r.writer.store.hold()
}

// now returns the tree to read.
func (r *reader) now() tree {
	if r.writer != nil {
		return r.writer.tree
	}
	return r.version.tree
}

// check returns why a read must stop, or nil.
func (r *reader) check() error {
	if r.done() {
		return store.ErrClosed
	}
	if r.ctx.Err() != nil {
		return context.Cause(r.ctx)
	}
	return nil
}

// Get implements [store.Reader].
func (r *reader) Get(space store.Space, partition, sort []byte) (value []byte, ok bool, err error) {
	if !r.begin() {
		return nil, false, store.ErrClosed
	}
	defer r.finish()
	if r.writer != nil && r.ctx.Err() != nil {
		return nil, false, context.Cause(r.ctx)
	}
	t := r.now()
	value, ok = t.value(space, partition, sort)
	return value, ok, nil
}

// value returns the value of a row. The value stays valid after the tree is gone.
func (t *tree) value(space store.Space, partition, sort []byte) (value []byte, ok bool) {
	a := newAddresses()
	defer a.free()
	if leaf, i, found := t.find(a.row(space, partition, sort)); found {
		return leaf.value(i), true
	}
	return nil, false
}

// Query implements [store.Reader].
func (r *reader) Query(space store.Space, partition []byte, rng store.Range, reverse bool) iter.Seq2[store.Row, error] {
	return func(yield func(store.Row, error) bool) {
		var buf boundsBuf
		a := newAddresses()
		a.slice(space, partition, rng)
		lo, hi := a.bounds(&buf)
		r.walk(space, lo, hi, reverse, yield)
	}
}

// Scan implements [store.Reader].
func (r *reader) Scan(space store.Space, s store.Span) iter.Seq2[store.Row, error] {
	return func(yield func(store.Row, error) bool) {
		var buf boundsBuf
		a := newAddresses()
		bounded := a.span(space, s)
		lo, hi := a.bounds(&buf)
		if !bounded {
			hi = nil
		}
		r.walk(space, lo, hi, false, yield)
	}
}

// firstTouched is the number of rows of the first leaf that an ascending walk touches together (see [node.touch]). It
// is small, because the walk may end soon. In later leaves the walk touches all rows together.
const firstTouched = 12

// walk yields the rows of a space with lo <= address < hi. A nil hi means no bound.
func (r *reader) walk(space store.Space, lo, hi []byte, reverse bool, yield func(store.Row, error) bool) {
	if !r.begin() {
		yield(store.Row{}, store.ErrClosed)
		return
	}
	defer r.finish()
	if !r.checkContext(yield) || hi != nil && bytes.Compare(lo, hi) >= 0 {
		return
	}
	t := r.now()
	defer r.hold().release()
	if r.writer != nil {
		r.walks.Add(1)
		defer r.walks.Add(-1)
	}

	if reverse {
		t.descend(lo, hi, func(leaf *node, from, to int) bool {
			return r.each(leaf, to-1, from-1, -1, yield) && r.checkContext(yield)
		})
		return
	}
	touched := firstTouched
	t.ascend(lo, hi, func(leaf *node, from, to int) bool {
		leaf.touch(from, min(to, from+touched))
		touched = fan
		return r.each(leaf, from, to, +1, yield) && r.checkContext(yield)
	})
}

// each yields the rows of a leaf at the indexes from, from+by, … and stops before to. For the usual rows it inlines
// the code of node.row.
func (r *reader) each(leaf *node, from, to, by int, yield func(store.Row, error) bool) bool {
	page, overflows, partition := leaf.page, leaf.overflows, []byte(nil)
	one := leaf.head == headOfOne
	if one {
		partition = leaf.partition()
	}
	nextAway := leaf.rank(from)
	for i := from; i != to; i += by {
		if r.done() {
			yield(store.Row{}, store.ErrClosed)
			return false
		}
		if !one {
			if !yield(leaf.row(i), nil) {
				return false
			}
			continue
		}

		row := store.Row{Partition: partition}
		if !leaf.hasOverflow(i) {
			record := page[leaf.offsets[i]:]
			key, value := leaf.parts(record)
			keyEnd, valueEnd := key+int(record[0]), value+int(record[1])
			row.Sort, row.Value = record[key:keyEnd:keyEnd], record[value:valueEnd:valueEnd]
		} else {
			if by < 0 {
				nextAway = leaf.rank(i)
			}
			a := &overflows[nextAway]
			nextAway++
			if row.Value = a.value; a.long != nil {
				row.Sort = a.long.sortPosition()
			} else {
				record := page[leaf.offsets[i]:]
				end := headOfOne + int(record[0]) // the value overflows, so the record itself has the key
				row.Sort = record[headOfOne:end:end]
			}
		}
		if !yield(row, nil) {
			return false
		}
	}
	return true
}

// cacheLine is the usual size of what a processor loads from memory at a time.
const cacheLine = 64

// touch reads bytes in the first and the last two cache lines of the value of each entry. The processor then loads
// many values at the same time, while the walk itself would wait for one after the other: rows that are neighbours in
// the tree were often written at different times, and so are far apart in memory. touch returns a sum so that the
// compiler does not remove the reads.
//
//go:noinline
func (n *node) touch(from, to int) (sum byte) {
	if n.overflowBits != 0 {
		for _, outside := range n.overflows[n.rank(from):n.rank(to)] {
			if value := outside.value; len(value) > 0 {
				sum += value[0] + value[max(len(value)-cacheLine, 0)] + value[len(value)-1]
			}
		}
	}
	if len(n.page) == 0 { // all keys are long and have no common prefix
		return sum
	}
	for i := from; i < to; i++ {
		// An entry with a long key has no record to read. Its offset is 0, and writers of other versions may be
		// changing the bytes from there on.
		if n.offsets[i] == 0 {
			continue
		}
		record := n.page[n.offsets[i]:]
		sum += record[0] + record[n.sizeAt(record)-1]
	}
	return sum
}

// checkContext yields the context's error if it has ended. It runs after each
// leaf, which has fewer rows than [capability.ContextRows].
func (r *reader) checkContext(yield func(store.Row, error) bool) bool {
	if r.ctx.Err() == nil {
		return true
	}
	yield(store.Row{}, context.Cause(r.ctx))
	return false
}
