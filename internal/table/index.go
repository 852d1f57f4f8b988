package table

import (
	"bytes"
	"slices"
	"sync"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/item"
	"github.com/sortkey/sortkey/keycond"
)

// An entry is the row that an index has for one item. Its memory is reused.
type entry struct {
	partition, sort []byte
	value           attr.Item
	projected       []byte // memory for the projected attributes
}

// entries holds the index entries of an item before and after a write.
type entries struct{ old, new entry }

var entryPool = sync.Pool{New: func() any { return new(entries) }}

func (e *entries) release() {
	const keepBytes = 64 << 10
	if cap(e.old.projected) > keepBytes || cap(e.new.projected) > keepBytes {
		return
	}
	e.old.value, e.new.value = nil, nil
	entryPool.Put(e)
}

// make sets e to the entry that ix has for an item. It returns false if the index has no entry for the item. That is
// so if the item lacks a key attribute, as the index is sparse. It is also so if the item is older than the index and
// has a value that cannot be a key.
func (e *entry) make(ix *Index, it attr.Item) bool {
	if it != nil && ix.def.Vector != nil {
		return e.makeVector(ix, it)
	}
	if it == nil || !ix.has(it) || ix.checkEntry(it) != nil || !e.setKey(ix, it) {
		return false
	}
	if ix.project == nil {
		e.value = it
		return true
	}
	e.projected = item.AppendOnly(e.projected[:0], it, ix.project)
	e.value = attr.Item(e.projected)
	return true
}

// setKey sets the key of e to that of the entry which ix has for an item. It returns false if the item lacks an
// attribute of the key.
func (e *entry) setKey(ix *Index, it attr.Item) (ok bool) {
	if e.partition, ok = ix.key.AppendPartition(e.partition[:0], it); ok {
		e.sort, ok = ix.key.AppendSort(e.sort[:0], it)
	}
	return ok
}

// has reports whether item has all key attributes of ix with the right kinds. Only such items have an entry.
func (ix *Index) has(item attr.Item) bool {
	for _, a := range ix.own {
		if item.Get(a.Name).Kind() != a.Kind {
			return false
		}
	}
	return true
}

// entrySize returns the size of the item's entry in ix by the service's rules.
func (ix *Index) entrySize(item attr.Item) int {
	if ix.project == nil {
		return item.Size()
	}
	size := 0
	for name, v := range item.All() {
		if ix.project(name) {
			size += len(name) + v.Size()
		}
	}
	return size
}

// checkEntry returns an error if item has a key attribute of ix with another kind, an empty value or a value that is
// too long.
func (ix *Index) checkEntry(item attr.Item) error {
	if ix.def.Vector != nil {
		return ix.checkVectorEntry(item, func(string) bool { return true })
	}
	for _, a := range ix.own {
		v := item.Get(a.Name)
		if v.IsZero() {
			continue
		}
		if v.Kind() != a.Kind {
			return errIndexKind(ix, a, v.Kind())
		}
		err := ix.key.CheckValue(a, v)
		switch {
		case err == nil:
		case len(v.Raw()) == 0: // a list of the service's answers in transactions, 2026-11
			return invalidWhole("%s", err.Error())
		default:
			return invalid("%s", err.Error())
		}
	}
	return nil
}

func errIndexKind(ix *Index, a keycond.Attribute, kind attr.Kind) error {
	return invalid(
		"One or more parameter values were invalid: Type mismatch for Index Key %s Expected: "+
			"%v Actual: %v IndexName: %s",
		a.Name, a.Kind, kind, ix.def.Name,
	)
}

// maintain replaces the index entry of the item old by the entry of item, and adds the units of both writes to units.
// Source of the units: DG/GSI.html, write operations.
func (tx *Tx) maintain(ix *Index, old, item attr.Item, units *Capacity) error {
	e := entryPool.Get().(*entries)
	defer e.release()
	was, is := e.old.make(ix, old), e.new.make(ix, item)
	space := ix.def.Space
	if was && ix.def.Building { // the build of the index may not have added the old item yet
		var err error
		if _, was, err = tx.w.Get(space, e.old.partition, e.old.sort); err != nil {
			return err
		}
	}

	if !was && !is {
		return nil
	}
	moved := was && is && (!bytes.Equal(e.old.partition, e.new.partition) || !bytes.Equal(e.old.sort, e.new.sort))
	if was && is && !moved {
		if e.old.value.Equal(e.new.value) {
			return nil
		}
		larger := e.new.value
		if e.old.value.Size() > larger.Size() {
			larger = e.old.value
		}
		ix.charge(units, larger)
	} else {
		if was {
			ix.charge(units, e.old.value)
			if err := tx.w.Delete(space, e.old.partition, e.old.sort); err != nil {
				return err
			}
		}
		if is {
			ix.charge(units, e.new.value)
		}
	}

	var before, after attr.Item
	if was {
		before = e.old.value
	}
	if is {
		after = e.new.value
		if ix.project != nil {
			after = slices.Clone(after)
		}
		if err := tx.w.Put(space, e.new.partition, e.new.sort, after); err != nil {
			return err
		}
	}

	tx.count(ix.stats, was, is, before.Size(), after.Size())
	return nil
}
