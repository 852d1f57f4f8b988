package layer

import (
	"bytes"
	"context"
	"errors"
	"sync"

	"github.com/google/btree"

	"github.com/sortkey/sortkey/bench/measure"
	"github.com/sortkey/sortkey/bench/work"
)

// A bareTree is a B-tree without anything around it. The keys and values of calls are made in advance. So no engine
// that uses such a tree can be faster.
type bareTree struct {
	tree   *btree.BTreeG[pair]
	locked bool // reads lock, because some workers write to the tree
	mu     sync.RWMutex
}

type pair struct{ key, value []byte }

// degree is the degree of google/btree's own benchmarks.
const degree = 32

// newBareTree returns an empty tree.
func newBareTree() *bareTree {
	return &bareTree{tree: btree.NewG(degree, func(a, b pair) bool { return string(a.key) < string(b.key) })}
}

// put adds or replaces a row. The tree keeps both slices.
func (t *bareTree) put(key, value []byte) { t.tree.ReplaceOrInsert(pair{key, value}) }

var errMissing = errors.New("a row is missing")

// lockRead takes the read lock if the tree needs one. It returns the function that unlocks.
func (t *bareTree) lockRead() func() {
	if !t.locked {
		return func() {}
	}
	t.mu.RLock()
	return t.mu.RUnlock
}

func (t *bareTree) read(_ context.Context, p *plan, s *measure.Scratch) (rows, size int, err error) {
	defer t.lockRead()()
	visit := func(x pair) bool {
		rows++
		size += len(x.value)
		s.Sum ^= touch(x.value)
		return rows < p.examined
	}
	switch {
	case p.examined == 0: // the read walks no rows, so only search
		t.tree.Get(pair{key: p.lo})
	case p.call.Range.Reverse:
		t.tree.DescendLessOrEqual(pair{key: p.hi}, func(x pair) bool {
			return rows == 0 && bytes.Equal(x.key, p.hi) || visit(x)
		})
	default:
		// visit ends the walk after a number of rows. AscendRange would also compare each key with hi, which is not
		// necessary.
		t.tree.AscendGreaterOrEqual(pair{key: p.lo}, visit)
	}
	return rows, size, nil
}

func (t *bareTree) get(_ context.Context, p *plan, s *measure.Scratch) (size int, err error) {
	defer t.lockRead()()
	for i := range p.gets {
		x, ok := t.tree.Get(pair{key: p.gets[i].address})
		if !ok {
			return 0, errMissing
		}
		s.Sum ^= touch(x.value)
		size += len(x.value)
	}
	return size, nil
}

func (t *bareTree) write(_ context.Context, p *plan, s *measure.Scratch) (size int, err error) {
	if t.locked {
		t.mu.Lock()
		defer t.mu.Unlock()
	}
	if p.call.Op == work.Update { // an update reads the row that it changes
		x, _ := t.tree.Get(pair{key: p.puts[0].address})
		s.Sum ^= touch(x.value)
	}
	for i := range p.drops {
		t.tree.Delete(pair{key: p.drops[i].address})
	}
	for i := range p.puts {
		t.put(p.puts[i].address, p.puts[i].value)
		size += len(p.puts[i].value)
	}
	return size, nil
}
