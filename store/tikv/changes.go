package tikv

import (
	"bytes"
	"iter"
	"slices"

	"github.com/google/btree"
)

// A row is a row of the cluster or a change of one.
type row struct {
	addr, value []byte
	deleted     bool // or did not exist, of a row that was read
	dropped     bool // read, but value is not kept
}

// changes are what an Update has changed, in memory until its commit, and the rows
// that it has locked. A loop keeps seeing what was there when it began.
type changes struct {
	rows *btree.BTreeG[row] // in the order of addresses
	size int

	locked     map[string]row // by address, without values if there were too many
	lockedSize int
}

func newChanges() *changes {
	return &changes{
		rows:   btree.NewG(16, func(x, y row) bool { return string(x.addr) < string(y.addr) }),
		locked: map[string]row{},
	}
}

// get returns what the Update knows about an address: its change, or what it read.
func (c *changes) get(addr []byte) (known row, ok bool) {
	if known, ok = c.rows.Get(row{addr: addr}); ok {
		return known, true
	}
	known, ok = c.locked[string(addr)]
	return known, ok
}

// remember keeps a row that was locked.
func (c *changes) remember(found row) {
	if c.lockedSize += len(found.addr) + len(found.value); c.lockedSize > cachedBytes {
		found.value, found.dropped = nil, !found.deleted
	}
	c.locked[string(found.addr)] = found
}

// set adds a change.
func (c *changes) set(changed row) {
	if old, ok := c.rows.ReplaceOrInsert(changed); ok {
		c.size -= len(old.addr) + len(old.value)
	}
	c.size += len(changed.addr) + len(changed.value)
}

// within returns the changes in [lo, hi), where a nil hi is no bound.
func (c *changes) within(lo, hi []byte, reverse bool) (rows []row) {
	c.rows.AscendGreaterOrEqual(row{addr: lo}, func(changed row) bool {
		if !within(changed.addr, lo, hi) {
			return false
		}
		rows = append(rows, changed)
		return true
	})
	if reverse {
		slices.Reverse(rows)
	}
	return rows
}

// merge returns stored rows with the changes applied to them.
func merge(stored iter.Seq2[row, error], changed []row, reverse bool) iter.Seq2[row, error] {
	before := func(x, y []byte) bool {
		if reverse {
			x, y = y, x
		}
		return bytes.Compare(x, y) < 0
	}
	return func(yield func(row, error) bool) {
		// next yields the changes before an address, or all of them.
		next := func(addr []byte) bool {
			for len(changed) > 0 && (addr == nil || before(changed[0].addr, addr)) {
				c := changed[0]
				if changed = changed[1:]; !c.deleted && !yield(c, nil) {
					return false
				}
			}
			return true
		}
		for found, err := range stored {
			if err != nil {
				yield(row{}, err)
				return
			}
			if !next(found.addr) {
				return
			}
			if len(changed) > 0 && bytes.Equal(changed[0].addr, found.addr) {
				found, changed = changed[0], changed[1:]
				if found.deleted {
					continue
				}
			}
			if !yield(found, nil) {
				return
			}
		}
		next(nil)
	}
}
