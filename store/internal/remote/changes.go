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
	Deleted     bool // the row was deleted or, if it was only read, did not exist
	Unchanged   bool // in [Changes] only: the row was only read
	Dropped     bool // the row is Unchanged, and Changes has not kept its value
	Presumed    bool // in [Changes] only: the row was not read, but presumed not to exist
}

// Changes holds the rows that an Update has changed, which reach the database with its commit. It also holds the rows
// that the Update has read by address. A change does not affect loops over rows that began before it.
type Changes struct {
	rows     *btree.BTreeG[Row] // in the order of addresses
	cleared  map[store.Space]bool
	changed  int // number of rows that are changes
	size     int // in bytes, of the changes
	readSize int // size in bytes of all rows that were read
}

// cachedBytes limits the size, in bytes, of the rows that Changes keeps with their values after a read. A conditional
// write reads its row twice, so a kept row saves one read.
const cachedBytes = 4 << 20

// NewChanges returns Changes without any rows.
func NewChanges() *Changes {
	return &Changes{rows: btree.NewG(16, func(x, y Row) bool { return string(x.Addr) < string(y.Addr) })}
}

// Get returns the row at an address of a space as the Update last changed or read it. In a space that the Update has
// cleared, other rows are deleted. Get returns false for a row that the Update has neither changed nor read.
func (c *Changes) Get(space store.Space, addr []byte) (known Row, ok bool) {
	if known, ok = c.rows.Get(Row{Addr: addr}); ok {
		return known, true
	}
	return Row{Deleted: true}, c.cleared[space]
}

// Remember keeps a row that was read, unless the Update has read or changed it before.
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

// Presume records that the Update presumes that a row does not exist, unless the Update has read or changed the row.
// The commit must check whether the row exists.
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

// Cleared returns the spaces that the Update has cleared. The changes that All yields for such a space were made
// after it was cleared.
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

// over yields the rows of a space with addresses in [lo, hi) as the Update sees them. It applies the changes to
// stored, which yields these rows of the database.
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

// merge yields the stored rows with the changes applied to them.
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
