package postgres

import (
	"context"
	"maps"
	"slices"

	"github.com/google/btree"

	"github.com/sortkey/sortkey/store"
)

// changes are what an Update has changed, in memory until its commit, and some of
// what it has read. Reads of its transaction do not see changes in the database,
// so a loop keeps seeing what was there when it began.
type changes struct {
	rows    *btree.BTreeG[row] // in the order of addresses
	cleared map[store.Space]bool
	size    int

	read     map[string]row // rows of the database by address, without values if there were too many
	readSize int
}

func newChanges() *changes {
	return &changes{
		rows:    btree.NewG(16, func(x, y row) bool { return string(x.addr) < string(y.addr) }),
		cleared: map[store.Space]bool{},
		read:    map[string]row{},
	}
}

// get returns what the Update knows about an address: its change, or what it read.
func (c *changes) get(space store.Space, addr []byte) (known row, ok bool) {
	if known, ok = c.rows.Get(row{addr: addr}); ok {
		return known, true
	}
	if c.cleared[space] {
		return row{deleted: true}, true
	}
	known, ok = c.read[string(addr)]
	return known, ok && !known.dropped
}

// remember keeps a row of the database.
func (c *changes) remember(found row) {
	if c.readSize += len(found.addr) + len(found.value); c.readSize > cachedBytes {
		found.value, found.dropped = nil, true
	}
	c.read[string(found.addr)] = found
}

// lockReads adds the rows that were read and not written, to be locked by the
// commit.
func (c *changes) lockReads() {
	for _, found := range c.read {
		space, _, _, _ := store.ParseAddress(found.addr, nil)
		if !c.rows.Has(found) && !c.cleared[space] {
			c.rows.ReplaceOrInsert(row{addr: found.addr, deleted: found.deleted, lock: true})
		}
	}
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
	take := func(changed row) bool {
		if !within(changed.addr, lo, hi) {
			return false
		}
		rows = append(rows, changed)
		return true
	}
	c.rows.AscendGreaterOrEqual(row{addr: lo}, take)
	if reverse {
		slices.Reverse(rows)
	}
	return rows
}

// clear makes a space empty.
func (c *changes) clear(space store.Space) {
	lo, hi := store.AppendSpace(nil, nil, space)
	for _, changed := range c.within(lo, hi, false) {
		c.rows.Delete(changed)
		c.size -= len(changed.addr) + len(changed.value)
	}
	c.cleared[space] = true
}

// empty reports whether there is nothing to commit.
func (c *changes) empty() bool { return c.rows.Len() == 0 && len(c.cleared) == 0 }

// steps yields the statements that apply the changes to the database, in the order
// of addresses, so that transactions lock rows in one order. A row that does not
// exist is locked by inserting it for a moment.
func (c *changes) steps(yield func(*step) bool) {
	for _, space := range slices.Sorted(maps.Keys(c.cleared)) {
		lo, hi := store.AppendSpace(nil, nil, space)
		if !yield(&step{statement: clearRows, params: [][]byte{lo, highKey(hi)}}) {
			return
		}
	}
	c.rows.Ascend(func(changed row) bool {
		key, tail := keyOf(changed.addr)
		switch {
		case changed.lock && !changed.deleted:
			return yield(&step{statement: lockRow, params: [][]byte{key}})
		case changed.lock && !yield(&step{statement: claimRow, params: [][]byte{key, tail}}):
			return false
		}
		if changed.deleted {
			return yield(&step{statement: deleteRow, params: [][]byte{key}})
		}
		value := changed.value
		if value == nil {
			value = []byte{} // nil is null
		}
		return yield(&step{statement: putRow, params: [][]byte{key, tail, value}})
	})
}

// A writer is the transaction of an Update.
type writer struct{ reader }

// check returns an error if size more bytes cannot be written.
func (w *writer) check(size int) error {
	switch {
	case w.done.Load():
		return store.ErrClosed
	case w.ctx.Err() != nil:
		return context.Cause(w.ctx)
	case size > maxUpdate-w.changes.size:
		return errTooLarge
	}
	return nil
}

// Put implements [store.Writer].
func (w *writer) Put(space store.Space, partition, sort, value []byte) error {
	if err := w.check(len(value)); err != nil {
		return err
	}
	w.changes.set(row{addr: store.AppendAddress(nil, space, partition, sort), value: value})
	return nil
}

// Delete implements [store.Writer].
func (w *writer) Delete(space store.Space, partition, sort []byte) error {
	if err := w.check(0); err != nil {
		return err
	}
	w.changes.set(row{addr: store.AppendAddress(nil, space, partition, sort), deleted: true})
	return nil
}

// Clear implements [store.Writer]. Its time is that of the changes in the space; the
// database deletes the rows when the update commits.
func (w *writer) Clear(space store.Space) error {
	if err := w.check(0); err != nil {
		return err
	}
	w.changes.clear(space)
	return nil
}
