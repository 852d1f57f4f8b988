package table

import (
	"slices"
	"time"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/store"
)

// A Table is a compiled [Definition]. It is immutable: after a change the table has a new Table. Get a Table in a
// [DB.View] or [DB.Update].
type Table struct {
	def     *Definition
	key     *keycond.Schema
	indexes []*Index // secondary indexes: global, then local ones, each in definition order
	all     []*Index // indexes, then the vector indexes
	vectors []vectorAttribute
	stats   *Stats
	passing bool // the status of the table or of an index changes at a set time
}

// An Index is a compiled index of a [Table]: a secondary index or a vector index.
type Index struct {
	def *IndexDefinition
	key *keycond.Schema
	// the key attributes of the index, without those that it takes from the table's key
	own      []keycond.Attribute
	filters  []keycond.Attribute // of a vector index: the attributes that searches may compare
	local    bool
	project  func(name []byte) bool // nil for ALL
	stats    *Stats
	position int // among the table's indexes
}

// StorageOverhead is the number of bytes that the reported storage counts for each item or index entry besides its
// size. Source: DG/CapacityUnitCalculations.html.
const StorageOverhead = 100

// Compile returns the Table of a checked definition. If old is not nil, the new Table continues the counters of old,
// for the spaces that both have.
func Compile(def *Definition, old *Table) *Table {
	var before []Counter
	if old != nil {
		before = old.Counters(false)
	}
	statsOf := func(space store.Space) *Stats {
		for _, c := range before {
			if c.Space == space {
				return c.Stats
			}
		}
		return new(Stats)
	}

	t := &Table{def: def, passing: def.passing(), stats: statsOf(def.Space)}
	t.key = def.schema("", def.Key, nil)
	add := func(defs []IndexDefinition, local bool) {
		for i := range defs {
			ix := &Index{def: &defs[i], local: local, position: len(t.all), stats: statsOf(defs[i].Space)}
			ix.key = def.schema(ix.def.Name, ix.def.Key, t.key)
			ix.own = slices.Concat(ix.key.Partition(), ix.key.Sort())
			if ix.def.Vector != nil {
				filters := def.schema("", ix.def.Vector.Schema, nil)
				ix.filters = slices.Concat(filters.Partition(), filters.Sort())
			}
			ix.project = projector(ix)
			t.all = append(t.all, ix)
		}
	}

	add(def.Global, false)
	add(def.Local, true)
	t.indexes = t.all[:len(t.all):len(t.all)]
	add(def.Vectors, false)
	t.vectors = def.vectorAttributes()
	return t
}

// projector returns a function that reports whether entries of ix have the attribute with a given name. It returns
// nil if they have all attributes of the item.
func projector(ix *Index) func([]byte) bool {
	if ix.def.Projection.Type == ProjectAll {
		return nil
	}
	keep := map[string]bool{}
	for _, name := range ix.def.Projection.Include {
		keep[name] = true
	}
	for _, a := range slices.Concat(ix.key.Attributes(), ix.filters) {
		keep[a.Name] = true
	}
	return func(name []byte) bool { return keep[string(name)] }
}

// Name returns the table's name.
func (t *Table) Name() string { return t.def.Name }

// Definition returns the table's definition, which the caller must not change.
func (t *Table) Definition() *Definition { return t.def }

// Key returns the key schema of the table.
func (t *Table) Key() *keycond.Schema { return t.key }

// Indexes returns the secondary indexes of the table and then its vector indexes. The caller must not change the
// slice.
func (t *Table) Indexes() []*Index { return t.all }

// HasLocal reports whether the table has local secondary indexes, which limit the size of its item collections.
func (t *Table) HasLocal() bool { return len(t.def.Local) > 0 }

// Items returns the number of items and their storage in bytes.
func (t *Table) Items() (count, bytes int64) {
	return t.stats.sum()
}

// HasIndex reports whether the table has a secondary index called name, even if it is still being built.
func (t *Table) HasIndex(name string) bool {
	return slices.ContainsFunc(t.indexes, func(ix *Index) bool { return ix.def.Name == name })
}

// HasVector reports whether the table has a vector index called name. Only a search can read a vector index.
func (t *Table) HasVector(name string) bool {
	return slices.ContainsFunc(t.def.Vectors, func(ix IndexDefinition) bool { return ix.Name == name })
}

// Index returns the secondary index called name. The error has kind [Validation] and the text of queries.
func (t *Table) Index(name string) (*Index, error) {
	i := slices.IndexFunc(t.indexes, func(ix *Index) bool { return ix.def.Name == name })
	if i < 0 {
		return nil, invalid("The table does not have the specified index: %s", name)
	}
	ix := t.indexes[i]
	if ix.def.Building {
		return nil, errBackfilling(name)
	}
	return ix, nil
}

func errBackfilling(index string) error {
	return invalid("Cannot read from backfilling global secondary index: %s", index)
}

// Name returns the index's name.
func (ix *Index) Name() string { return ix.def.Name }

// Definition returns the index's definition, which the caller must not change.
func (ix *Index) Definition() *IndexDefinition { return ix.def }

// Key returns the key schema of the index.
func (ix *Index) Key() *keycond.Schema { return ix.key }

// Local reports whether the index is a local secondary index.
func (ix *Index) Local() bool { return ix.local }

// Items returns the number of entries and their storage in bytes.
func (ix *Index) Items() (count, bytes int64) {
	return ix.stats.sum()
}

// Examined returns how many items of the table the build of the index has examined. It counts only builds by this
// process.
func (ix *Index) Examined() int64 { return ix.stats.Examined.Load() }

// Projects reports whether entries of the index have the top-level attribute called name.
func (ix *Index) Projects(name string) bool {
	return ix.project == nil || ix.project([]byte(name))
}

// addressBytes is the initial capacity of the buffer for an address. Most addresses are shorter.
const addressBytes = 64

// addressOf is ItemAddress for an item whose key attributes are known to match the schema. It uses the memory of buf if
// buf is not nil.
func (t *Table) addressOf(buf []byte, it attr.Item) (partition, sort []byte) {
	if buf == nil {
		buf = make([]byte, 0, addressBytes)
	}
	buf, _ = t.key.AppendPartition(buf, it)
	n := len(buf)
	buf, _ = t.key.AppendSort(buf, it)
	return buf[:n:n], buf[n:]
}

// ItemAddress returns the partition and sort bytes of an item's row. It returns an error if the key attributes do not
// match the schema.
func (t *Table) ItemAddress(item attr.Item) (partition, sort []byte, err error) {
	if err := t.checkKeyValues(item); err != nil {
		return nil, nil, err
	}
	partition, sort = t.addressOf(nil, item)
	return partition, sort, nil
}

// Address returns the partition and sort bytes of the row of the item with the given key. The key must have exactly
// the attributes of the key schema.
func (t *Table) Address(key attr.Item) (partition, sort []byte, err error) {
	if err := t.CheckKey(key); err != nil {
		return nil, nil, err
	}
	partition, sort = t.addressOf(nil, key)
	return partition, sort, nil
}

// CheckKey returns an error unless key has exactly the attributes of the key schema, with valid values.
func (t *Table) CheckKey(key attr.Item) error {
	if key.Len() != len(t.key.Attributes()) {
		return errKey()
	}
	var few [2]attr.Value
	values := few[:0]
	for _, a := range t.key.Attributes() {
		v := key.Get(a.Name)
		if v.Kind() != a.Kind {
			return errKey()
		}
		values = append(values, v)
	}
	for i, a := range t.key.Attributes() {
		if err := t.key.CheckValue(a, values[i]); err != nil {
			return invalid("%s", err.Error())
		}
	}
	return nil
}

func (t *Table) checkKeyValues(it attr.Item) error {
	for _, a := range t.key.Attributes() {
		v := it.Get(a.Name)
		if v.IsZero() {
			return invalid("One or more parameter values were invalid: Missing the key %s in the item", a.Name)
		}
		if v.Kind() != a.Kind {
			return invalid(
				"One or more parameter values were invalid: Type mismatch for key %s expected: %v actual: %v", a.Name,
				a.Kind, v.Kind(),
			)
		}
		if err := t.key.CheckValue(a, v); err != nil {
			return invalid("%s", err.Error())
		}
	}
	return nil
}

// space returns the space of the table, or of ix if it is not nil.
func (t *Table) space(ix *Index) store.Space {
	if ix == nil {
		return t.def.Space
	}
	return ix.def.Space
}

// KeyOf returns the key of an item. It returns an error if the key attributes do not
// match the schema.
func (t *Table) KeyOf(item attr.Item) (attr.Item, error) {
	if err := t.checkKeyValues(item); err != nil {
		return nil, err
	}
	return t.key.Key(item), nil
}

// Gone reports whether the table was deleted and the time for which it was DELETING is over.
func (t *Table) Gone(now time.Time) bool {
	return !t.def.States.Deleting.IsZero() && !now.Before(t.def.States.Deleting)
}

// Usable reports whether clients can read and write items of the table. While a table is CREATING or DELETING, such
// requests fail as if it did not exist. Source: ExtendDB pull request 204, which compared it with the service.
// (According to API_DeleteTable, a DELETING table may still answer for a while.)
func (t *Table) Usable(now time.Time) bool {
	s := t.def.Status(now)
	return s == StatusActive || s == StatusUpdating
}

// Counters returns the counters of the table and then of its indexes. If onlyWhole is set, it skips the indexes that
// are still being built.
func (t *Table) Counters(onlyWhole bool) []Counter {
	all := []Counter{{t.def.Space, t.stats, t.BilledSize}}
	for _, ix := range t.all {
		if !onlyWhole || !ix.def.Building {
			all = append(all, Counter{ix.def.Space, ix.stats, attr.Item.Size})
		}
	}
	return all
}
