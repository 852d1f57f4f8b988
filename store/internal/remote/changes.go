package remote

import (
	"iter"
	"slices"

	"github.com/google/btree"

	"github.com/sortkey/sortkey/internal/address"
	"github.com/sortkey/sortkey/store"
)

// A Row is a row of the database, or a change of one.
type Row struct {
	Addr, Value []byte
	Deleted     bool // or did not exist, of a row that was read
	Unchanged   bool // in [Changes] only: the row was only read
	Dropped     bool // unchanged, and the value is not kept
	Presumed    bool // in [Changes] only: the row was not read, but presumed not to exist
}

// Changes holds the rows that an Update has changed, which reach the database with its
// commit, and the rows that it has read by address. A loop over rows keeps seeing what
// was there when it began.
type Changes struct {
	rows     *btree.BTreeG[Row] // in the order of addresses
	cleared  map[store.Space]bool
	changed  int // rows of them that are changes
	size     int // in bytes, of the changes
	readSize int // in bytes, of all that was read
}

// cachedBytes limits the values that Changes keep of rows that were read. A conditional
// write reads its row twice.
const cachedBytes = 4 << 20

// NewChanges returns no changes.
func NewChanges() *Changes {
	return &Changes{rows: btree.NewG(16, func(x, y Row) bool { return string(x.Addr) < string(y.Addr) })}
}

// Get returns what the Update knows about an address of a space: its change, or what it
// read.
func (c *Changes) Get(space store.Space, addr []byte) (known Row, ok bool) {
	if known, ok = c.rows.Get(Row{Addr: addr}); ok {
		return known, true
	}
	return Row{Deleted: true}, c.cleared[space]
}

// Remember keeps a row that was read, unless it has been changed.
func (c *Changes) Remember(read Row) {
	if c.rows.Has(read) {
		return
	}
	read.Unchanged = true
	if c.readSize += len(read.Addr) + len(read.Value); c.readSize > cachedBytes {
		read.Value, read.Dropped = nil, !read.Deleted
	}
	c.rows.ReplaceOrInsert(read)
}

// Presume notes that the Update takes a row for one that does not exist, unless it knows
// better. The commit has to check it.
func (c *Changes) Presume(addr []byte) {
	row := Row{Addr: addr, Deleted: true, Unchanged: true, Presumed: true}
	if !c.rows.Has(row) {
		c.rows.ReplaceOrInsert(row)
	}
}

// Set adds a change.
func (c *Changes) Set(changed Row) {
	if old, ok := c.rows.Get(changed); ok {
		changed.Presumed = old.Presumed
		c.forget(old)
	}
	c.rows.ReplaceOrInsert(changed)
	c.changed++
	c.size += len(changed.Addr) + len(changed.Value)
}

func (c *Changes) forget(old Row) {
	if !old.Unchanged {
		c.changed--
		c.size -= len(old.Addr) + len(old.Value)
	}
}

// Clear makes a space empty.
func (c *Changes) Clear(space store.Space) {
	lo, hi := address.AppendSpace(nil, nil, space)
	var gone []Row
	c.ascend(lo, hi, func(r Row) { gone = append(gone, r) })
	for _, r := range gone {
		c.rows.Delete(r)
		c.forget(r)
	}
	if c.cleared == nil {
		c.cleared = map[store.Space]bool{}
	}
	c.cleared[space] = true
}

// Cleared returns the spaces that were cleared, before the changes in them.
func (c *Changes) Cleared() map[store.Space]bool { return c.cleared }

// All yields the changes, and the rows that were only read, in the order of addresses.
func (c *Changes) All() iter.Seq[Row] {
	return func(yield func(Row) bool) { c.rows.Ascend(yield) }
}

// Empty reports whether there is nothing to commit.
func (c *Changes) Empty() bool { return c.changed == 0 && len(c.cleared) == 0 }

// Size returns the size of the changes in bytes.
func (c *Changes) Size() int { return c.size }

func (c *Changes) ascend(lo, hi []byte, fn func(Row)) {
	c.rows.AscendGreaterOrEqual(Row{Addr: lo}, func(r Row) bool {
		if !within(r.Addr, lo, hi) {
			return false
		}
		fn(r)
		return true
	})
}

// over returns stored rows of a space, those with addresses in [lo, hi), as the Update
// sees them.
func (c *Changes) over(
	stored iter.Seq2[Row, error], space store.Space, lo, hi []byte, reverse bool,
) iter.Seq2[Row, error] {
	var changed []Row
	c.ascend(lo, hi, func(r Row) {
		if !r.Unchanged {
			changed = append(changed, r)
		}
	})
	if reverse {
		slices.Reverse(changed)
	}
	if c.cleared[space] {
		stored = func(func(Row, error) bool) {}
	}
	if len(changed) == 0 {
		return stored
	}
	return merge(stored, changed, reverse)
}

// merge returns stored rows with the changes applied to them.
func merge(stored iter.Seq2[Row, error], changed []Row, reverse bool) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		changed := changed
		for found, err := range stored {
			if err != nil {
				yield(Row{}, err)
				return
			}
			order := -1
			for len(changed) > 0 && order < 0 {
				next := changed[0]
				if order = compare(next.Addr, found.Addr, reverse); order > 0 {
					break
				}
				if changed = changed[1:]; !next.Deleted && !yield(next, nil) {
					return
				}
			}
			if order != 0 && !yield(found, nil) {
				return
			}
		}

		for _, next := range changed {
			if !next.Deleted && !yield(next, nil) {
				return
			}
		}
	}
}
