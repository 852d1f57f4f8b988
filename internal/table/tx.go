package table

import (
	"context"
	"fmt"
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/item/doc"
	"github.com/sortkey/sortkey/store"
)

// MaxItemBytes is the maximum size of an item. Source: DG/Constraints.html.
const MaxItemBytes = doc.MaxSize

const msgItemSize = "Item size has exceeded the maximum allowed size"

// A View reads tables as they are at one moment. It is valid until the function that got it returns.
type View struct {
	ctx    context.Context //nolint:containedctx // of the call that the View is for
	db     *DB
	tables *Set
	r      store.Reader
	fixed  bool   // the View is part of a transaction, so it reads no earlier versions
	addr   []byte // memory for the address of a ViewItem's only Get
	serial bool   // the View is part of an update, for which other updates wait
}

// Rows returns a Reader of all rows: those of tables, indexes and the catalogue.
func (s *View) Rows() store.Reader { return s.r }

// Table returns the table called name. The error has kind [NotFound], even for a table that is CREATING or DELETING.
func (s *View) Table(name string) (*Table, error) {
	t, err := s.tables.named(s.db, name)
	if err == nil && t.passing && !t.Usable(s.db.Clock()) {
		return nil, NoSuchTable()
	}
	return t, err
}

// Defined returns the table called name, whatever its status. The error has kind
// [NotFound].
func (s *View) Defined(name string) (*Table, error) { return s.tables.named(s.db, name) }

// Index returns the secondary index of t called name. The error has kind [Validation], even for an index that is
// CREATING.
func (s *View) Index(t *Table, name string) (*Index, error) {
	ix, err := t.Index(name)
	if err == nil && t.passing && ix.def.Status(s.db.Clock()) == StatusCreating {
		return nil, errBackfilling(name)
	}
	return ix, err
}

// itemOf returns the item in a stored row.
func itemOf(value []byte) attr.Item { return attr.Item(value) }

// wholeItem returns the item of a row of t, or an error if the row is damaged. Looking up an attribute of a damaged
// item may panic, and a panic in a goroutine of the database ends the program.
func wholeItem(t *Table, row store.Row) (attr.Item, error) {
	whole := doc.Valid(row.Value)
	for i := 0; whole && i < doc.Len(row.Value); i++ {
		whole = doc.IsAttribute(doc.Entry(row.Value, i))
	}
	if !whole {
		return nil, fmt.Errorf("damaged item of table %s at %q, %q", t.def.Name, row.Partition, row.Sort)
	}
	return itemOf(row.Value), nil
}

// Get returns the item with the given key, or nil. The item is valid until
// the function of the View or Update returns.
func (s *View) Get(t *Table, key attr.Item) (attr.Item, error) {
	if err := t.CheckKey(key); err != nil {
		return nil, err
	}
	partition, sort := t.addressOf(s.addr, key)
	return s.get(t, partition, sort)
}

func (s *View) get(t *Table, partition, sort []byte) (attr.Item, error) {
	value, ok, err := s.r.Get(t.def.Space, partition, sort)
	if err != nil || !ok {
		return nil, err
	}
	return itemOf(value), nil
}

// A Tx writes to tables. It is applied whole or not at all. It is not safe for
// concurrent use.
type Tx struct {
	View
	w       store.Writer
	times   []recordedAt
	written int         // number of rows put or deleted
	undo    *undoWriter // equal to w, once there has been a savepoint
	pending []delta
	// expiring is true while a sweep deletes items, so that the stream records of these deletions say that the items
	// expired.
	expiring bool
	few      [4]delta // initial memory of pending
}

// A delta is a change of the counters of one space. It takes effect after the transaction has been applied.
type delta struct {
	stats        *Stats
	items, bytes int
}

// Writer returns the transaction's writer, for rows that are not items.
func (tx *Tx) Writer() store.Writer { return tx.w }

func (tx *Tx) settle() {
	for _, d := range tx.pending {
		d.stats.Add(d.items, d.bytes)
	}
}

// A Change is the result of a write.
type Change struct {
	// Old and New are the item before and after the write, or nil. They are valid until the function of the Update
	// returns.
	Old, New attr.Item
	// Capacity is the capacity that the write consumed.
	Capacity Capacity
}

// Put writes an item. It replaces the item with the same key, if there is one. A nil cond always holds. The caller
// must not change the item afterwards. The error has kind [Validation] if the item does not match the table. It has
// kind [ConditionFailed] if cond does not hold; Change.Capacity is then set.
func (tx *Tx) Put(t *Table, item attr.Item, cond *expr.Condition) (Change, error) {
	if err := t.CheckPut(item); err != nil {
		return Change{}, err
	}
	partition, sort := t.addressOf(nil, item)
	return tx.write(t, partition, sort, item, cond)
}

// CheckPut returns the error that [Tx.Put] would return for an item that does not match the table.
func (t *Table) CheckPut(item attr.Item) error {
	if err := t.checkKeyValues(item); err != nil {
		return err
	}
	return t.checkItem(item)
}

// Delete removes the item with the given key, if it exists. It returns the same errors as [Tx.Put].
func (tx *Tx) Delete(t *Table, key attr.Item, cond *expr.Condition) (Change, error) {
	partition, sort, err := t.Address(key)
	if err != nil {
		return Change{}, err
	}
	return tx.write(t, partition, sort, nil, cond)
}

// write puts item at an address of t, or deletes the item there if item is nil.
func (tx *Tx) write(t *Table, partition, sort []byte, item attr.Item, cond *expr.Condition) (Change, error) {
	old, err := tx.get(t, partition, sort)
	if err != nil {
		return Change{}, err
	}
	if !cond.Match(old) {
		return t.conditionFailed(old)
	}
	change := Change{Old: old, New: item}
	was, is := t.BilledSize(old), t.BilledSize(item)
	change.Capacity.Table = WriteUnits(max(was, is))
	switch {
	case item != nil:
		err = tx.w.Put(t.def.Space, partition, sort, item)
	case old != nil:
		err = tx.w.Delete(t.def.Space, partition, sort)
	default:
		return change, nil
	}

	tx.written++
	t.stats.Writes.Add(1)
	if err != nil {
		return Change{}, err
	}
	tx.count(t.stats, old != nil, item != nil, was, is)
	for _, ix := range t.all {
		if err := tx.maintain(ix, old, item, &change.Capacity); err != nil {
			return Change{}, err
		}
	}
	for _, st := range []*Stream{t.def.Stream, t.def.History()} {
		if st != nil && err == nil {
			err = tx.record(t, st, partition, old, item)
		}
	}
	return change, err
}

// conditionFailed returns the result of a write whose condition does not hold for the item old.
func (t *Table) conditionFailed(old attr.Item) (Change, error) {
	return t.unchanged(old), &Error{Kind: ConditionFailed, Msg: "The conditional request failed", Item: old}
}

// unchanged returns the result of an operation that consumes the units of a write but leaves the item as it is.
func (t *Table) unchanged(item attr.Item) Change {
	return Change{Old: item, New: item, Capacity: Capacity{Table: WriteUnits(t.BilledSize(item))}}
}

// count adds a write of a row to the pending counters. before reports whether the row existed before the write, and
// was is its size then. after reports whether it exists now, and is is its size now.
func (tx *Tx) count(s *Stats, before, after bool, was, is int) {
	d := delta{stats: s}
	if before {
		d.items--
		d.bytes -= was + StorageOverhead
	}
	if after {
		d.items++
		d.bytes += is + StorageOverhead
	}
	if tx.pending == nil {
		tx.pending = tx.few[:0]
	}
	for i := range tx.pending {
		if p := &tx.pending[i]; p.stats == s {
			p.items, p.bytes = p.items+d.items, p.bytes+d.bytes
			return
		}
	}
	tx.pending = append(tx.pending, d)
}

// checkItem returns an error if an item is too large, or if it has a key attribute of an index with a value that
// cannot be a key.
func (t *Table) checkItem(item attr.Item) error {
	if item.Size() > MaxItemBytes {
		return invalid(msgItemSize)
	}
	if err := t.firstRefusal(func(ix *Index) error { return ix.checkEntry(item) }); err != nil {
		return err
	}
	for _, ix := range t.all[len(t.indexes):] {
		if err := ix.checkEntry(item); err != nil {
			return err
		}
	}
	return t.checkSize(item)
}

// firstRefusal calls check for each secondary index of t. If several calls fail, it returns the error of the index
// that comes first by name, whether global or local.
func (t *Table) firstRefusal(check func(*Index) error) (refusal error) {
	var first *Index
	for _, ix := range t.indexes {
		if err := check(ix); err != nil && (first == nil || ix.Name() < first.Name()) {
			first, refusal = ix, err
		}
	}
	return refusal
}

// checkSize returns an error if an item and its entries in local indexes are together too large.
func (t *Table) checkSize(item attr.Item) error {
	size := item.Size()
	for _, ix := range t.indexes {
		if ix.local && ix.has(item) {
			size += ix.entrySize(item)
		}
	}
	if size > MaxItemBytes {
		return invalid(msgItemSize)
	}
	return nil
}

// Measure returns the partition key and the size in bytes of an item collection: the items of a partition and their
// entries in local indexes. It reads all of them. Source: DG/LSI.html, item collections.
func (s *View) Measure(t *Table, key attr.Item) (hash attr.Item, size int64, err error) {
	partition, ok := t.key.AppendPartition(nil, key)
	if !ok {
		return nil, 0, errKey()
	}
	spaces := []store.Space{t.def.Space}
	for _, ix := range t.indexes {
		if ix.local {
			spaces = append(spaces, ix.def.Space)
		}
	}
	for _, space := range spaces {
		for row, err := range s.r.Query(space, partition, store.Range{}, false) {
			if err != nil {
				return nil, 0, err
			}
			size += int64(itemOf(row.Value).Size())
		}
	}

	var b attr.Builder
	for _, a := range t.key.Partition() {
		b.Add(a.Name, key.Get(a.Name))
	}
	return slices.Clone(b.Item()), size, nil
}

// Check evaluates a condition on the item with the given key and writes nothing. If the condition does not hold, the
// error has kind [ConditionFailed]. A check consumes the units of a write. Source: API_TransactWriteItems,
// ConditionCheck.
func (tx *Tx) Check(t *Table, key attr.Item, cond *expr.Condition) (Change, error) {
	item, err := tx.Get(t, key)
	if err != nil {
		return Change{}, err
	}
	if !cond.Match(item) {
		return t.conditionFailed(item)
	}
	return t.unchanged(item), nil
}
