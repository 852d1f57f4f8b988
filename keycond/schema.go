package keycond

import (
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/item"
	"github.com/sortkey/sortkey/store"
)

// Limits of key values in bytes. Source: DG/Constraints.html.
const (
	MaxPartitionKeyBytes = 2048
	MaxSortKeyBytes      = 1024
)

// MaxAttributes is how many partition key attributes, and how many sort key
// attributes, a global secondary index may have.
// Source: DG/GSI.DesignPattern.MultiAttributeKeys.html.
const MaxAttributes = 4

// An Attribute is a key attribute: its name and its kind, which is
// [attr.String], [attr.Number] or [attr.Binary].
type Attribute struct {
	Name string
	Kind attr.Kind
}

// A Schema is the key of a table or of an index.
//
// A table has one partition key attribute and at most one sort key attribute;
// its rows lie at the payload of the sort key. Rows of an index lie at the
// tuple of its sort key attributes followed by the key of the table, so that
// items with equal index keys have a total, stable order.
type Schema struct {
	// Index is the name of the index, or "" for the table.
	Index string
	// Hash and Range are the partition and the sort key attributes.
	Hash, Range []Attribute
	// Table is the key of the table that the index belongs to, or nil for the
	// table itself.
	Table *Schema
}

// Len returns the number of attributes of a table's key, or of those of an index that a
// query can give.
func (s *Schema) Len() int { return len(s.Hash) + len(s.Range) }

// Attribute returns attribute i of those that [Schema.Len] counts.
func (s *Schema) Attribute(i int) Attribute {
	if i < len(s.Hash) {
		return s.Hash[i]
	}
	return s.Range[i-len(s.Hash)]
}

// Attributes returns all attributes of the key: partition, sort, and for an
// index those of the table's key that are not among them.
func (s *Schema) Attributes() []Attribute {
	all := slices.Concat(s.Hash, s.Range)
	if s.Table != nil {
		for _, a := range slices.Concat(s.Table.Hash, s.Table.Range) {
			if !slices.Contains(all, a) {
				all = append(all, a)
			}
		}
	}
	return all
}

// Has reports whether name is one of the schema's own key attributes; those
// of an index's table do not count.
func (s *Schema) Has(name string) bool {
	is := func(a Attribute) bool { return a.Name == name }
	return slices.ContainsFunc(s.Hash, is) || slices.ContainsFunc(s.Range, is)
}

// AppendPartition appends the partition bytes of an item or key. It reports
// false when an attribute is missing or of another kind.
func (s *Schema) AppendPartition(dst []byte, it attr.Item) ([]byte, bool) {
	last := len(s.Hash) - 1
	for i, a := range s.Hash {
		v := it.Get(a.Name)
		if v.Kind() != a.Kind {
			return dst, false
		}
		dst = appendComponent(dst, v, i == last)
	}
	return dst, true
}

// AppendSort appends the sort position of an item or key: for an index, the
// attributes of the table's key must be in it too. It reports false when an
// attribute is missing or of another kind.
func (s *Schema) AppendSort(dst []byte, it attr.Item) ([]byte, bool) {
	if s.Table == nil {
		return s.appendOwn(dst, it)
	}
	for _, a := range s.Range {
		v := it.Get(a.Name)
		if v.Kind() != a.Kind {
			return dst, false
		}
		dst = item.AppendKey(dst, v)
	}
	return s.Table.appendTie(dst, it)
}

// appendOwn appends the sort position of an item in the table.
func (s *Schema) appendOwn(dst []byte, it attr.Item) ([]byte, bool) {
	if len(s.Range) == 0 {
		return dst, true
	}
	v := it.Get(s.Range[0].Name)
	return append(dst, v.Raw()...), v.Kind() == s.Range[0].Kind
}

// appendTie appends what orders index rows with equal index keys: the hash of
// the table's partition and sort key together, as the service orders them, and
// the table's key. Source: dynalite, db/index.js, hashPrefix, and five of its
// tests.
func (s *Schema) appendTie(dst []byte, it attr.Item) ([]byte, bool) {
	pk := it.Get(s.Hash[0].Name)
	if pk.Kind() != s.Hash[0].Kind {
		return dst, false
	}
	whole := pk.Raw()
	if len(s.Range) > 0 {
		var room [128]byte
		whole = append(append(room[:0], whole...), it.Get(s.Range[0].Name).Raw()...)
	}
	h := store.Hash(whole)
	dst = append(dst, byte(h>>16), byte(h>>8), byte(h))
	dst = item.AppendKey(dst, pk)
	return s.appendOwn(dst, it)
}

// appendComponent appends one component of a tuple; the last needs no end.
func appendComponent(dst []byte, v attr.Value, last bool) []byte {
	if last {
		return append(dst, v.Raw()...)
	}
	return item.AppendKey(dst, v)
}
