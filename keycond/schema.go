package keycond

import (
	"slices"
	"sync"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/item"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/store"
)

// Limits of key values in bytes, which [Schema.CheckValue] and [Schema.Place] check. Source: DG/Constraints.html.
const (
	MaxPartitionKeyBytes = 2048
	MaxSortKeyBytes      = 1024
)

// MaxAttributes is how many partition key attributes, and how many sort key
// attributes, a global secondary index may have.
// Source: DG/GSI.DesignPattern.MultiAttributeKeys.html.
const MaxAttributes = 4

// An Attribute is a key attribute: its name and its kind, which is [attr.String], [attr.Number] or [attr.Binary].
type Attribute struct {
	Name string
	Kind attr.Kind
}

// A Schema is the key of a table or of an index. It says where an item is stored, and which key conditions select one
// range of rows. [ParseSchema] returns the key of a table, and [Schema.Index] that of an index. A Schema is
// immutable.
//
// A table has one partition key attribute and at most one sort key attribute. The sort position of a row is the
// payload of its sort key. The sort position of an index row is the tuple of its sort key attributes, followed by the
// key of the table, so that items with equal index keys have a total, stable order.
type Schema struct {
	name            string // of the index; empty for a table
	partition, sort []Attribute
	table           *Schema     // the key of the index's table; nil for a table
	attributes      []Attribute // what the method Attributes returns
	wrong           string      // why the schema is invalid, or empty
}

// NewSchema returns the key of a table with these attributes, for programs that have a definition of the table;
// [ParseSchema] takes text. The partition key has one attribute, and the sort key at most one; with other numbers,
// [Schema.Place], [Of] and [Compile] return an error. Nobody may change the slices afterwards.
func NewSchema(partition, sort []Attribute) *Schema {
	s := &Schema{partition: partition, sort: sort, attributes: slices.Concat(partition, sort)}
	if len(partition) != 1 || len(sort) > 1 {
		s.wrong = "the key of a table has one partition key attribute and at most one sort key attribute"
	}
	s.checkKinds()
	return s
}

// checkKinds records an error for attributes whose kind no key can have.
func (s *Schema) checkKinds() {
	if slices.ContainsFunc(s.attributes, func(a Attribute) bool { return !a.Kind.IsScalar() }) {
		s.wrong = "key attributes are strings, numbers or binary"
	}
}

// check returns an error if the schema is invalid, so that no item can be stored under it.
func (s *Schema) check() error {
	if s.wrong == "" && len(s.partition) == 0 {
		s = &Schema{wrong: "a schema has a partition key; make one with ParseSchema or NewSchema"}
	}
	if s.wrong == "" {
		return nil
	}
	return refuse("%s", s.wrong)
}

// NewIndex returns the key of an index called name, of the table whose key is s. Use it if you have a definition of
// the index, and [Schema.Index] if you have text. Errors about the values of its attributes contain the name.
func (s *Schema) NewIndex(name string, partition, sort []Attribute) *Schema {
	index := &Schema{
		name: name, partition: partition, sort: sort, table: s,
		attributes: slices.Concat(partition, sort), wrong: s.wrong,
	}
	for _, a := range s.attributes {
		if !slices.Contains(index.attributes, a) {
			index.attributes = append(index.attributes, a)
		}
	}

	switch {
	case s.table != nil:
		index.wrong = "an index belongs to a table, not to another index"
	case len(s.partition) == 0:
		index.wrong = "the table of an index has a partition key"
	}
	index.checkKinds()
	return index
}

// Name returns the name of the index, "" for a table.
func (s *Schema) Name() string { return s.name }

// Table returns the key of the table that the index belongs to. For the key of a table it returns nil.
func (s *Schema) Table() *Schema { return s.table }

// Partition returns the attributes of the partition key. The caller must not change the slice.
func (s *Schema) Partition() []Attribute { return s.partition }

// Sort returns the attributes of the sort key. The caller must not change the slice.
func (s *Schema) Sort() []Attribute { return s.sort }

// Len returns the number of attributes that a query can have clauses on. For an index, that is its own attributes and
// not those of the table's key.
func (s *Schema) Len() int { return len(s.partition) + len(s.sort) }

// Attribute returns attribute i of those that [Schema.Len] counts: the partition key, then the sort key.
func (s *Schema) Attribute(i int) Attribute { return s.attributes[i] }

// Attributes returns all attributes of the key, which a [PageOptions].Start needs: partition key, sort key and, for
// an index, those attributes of the table's key that are not among them. The caller must not change the slice.
func (s *Schema) Attributes() []Attribute { return s.attributes }

// Has reports whether name is one of the schema's own key attributes. An item needs all of these to be in an index;
// attributes of the table's key do not count.
func (s *Schema) Has(name string) bool {
	return slices.ContainsFunc(s.attributes[:s.Len()], func(a Attribute) bool { return a.Name == name })
}

// Key returns the part of an item that has only the attributes of [Schema.Attributes]. The Key of the last item that
// a program has shown is the [PageOptions].Start of the next page.
func (s *Schema) Key(it attr.Item) attr.Item {
	b := builders.Get().(*attr.Builder)
	for _, a := range s.attributes {
		b.Add(a.Name, it.Get(a.Name))
	}

	var key attr.Item
	if b.Len() == it.Len() { // the item has only key attributes, like a row of an index of keys only
		key = slices.Clone(it)
	} else {
		key = b.Item()
	}
	b.Reset()
	builders.Put(b)
	return key
}

var builders = sync.Pool{New: func() any { return new(attr.Builder) }}

// Place returns the address at which the row of an item is stored: the partition, and the sort position, whose byte
// order is the order of the sort key. For an index, the item needs the attributes of the table's key too. The error
// is an [*Error]. It names the attribute that is missing, or that has a value which no key can have.
func (s *Schema) Place(it attr.Item) (partition, sort []byte, err error) {
	if err := s.check(); err != nil {
		return nil, nil, err
	}
	for _, a := range s.attributes {
		v := it.Get(a.Name)
		switch {
		case v.IsZero():
			return nil, nil, refuse("the item has no attribute %s, which is in the key", text.Name(a.Name))
		case v.Kind() != a.Kind:
			return nil, nil, refuse("the key attribute %s is of type %s, not %s", text.Name(a.Name), a.Kind, v.Kind())
		}
		owner := s
		if !s.Has(a.Name) {
			owner = s.table
		}
		if err := owner.CheckValue(a, v); err != nil {
			return nil, nil, err
		}
	}

	partition, _ = s.AppendPartition(nil, it)
	sort, _ = s.AppendSort(nil, it)
	return partition, sort, nil
}

// AppendPartition appends the partition of an item or key, for programs that reuse memory; [Schema.Place] checks values
// too. It reports false when an attribute is missing or of another kind.
func (s *Schema) AppendPartition(dst []byte, it attr.Item) ([]byte, bool) {
	last := len(s.partition) - 1
	for i, a := range s.partition {
		v := it.Get(a.Name)
		if v.Kind() != a.Kind {
			return dst, false
		}
		dst = appendComponent(dst, v, i == last)
	}
	return dst, true
}

// AppendSort appends the sort position of an item or key, for programs that reuse memory: for an index, the attributes
// of the table's key must be in it too. It reports false when an attribute is missing or of another kind.
func (s *Schema) AppendSort(dst []byte, it attr.Item) ([]byte, bool) {
	if s.table == nil {
		return s.appendOwn(dst, it)
	}
	for _, a := range s.sort {
		v := it.Get(a.Name)
		if v.Kind() != a.Kind {
			return dst, false
		}
		dst = item.AppendKey(dst, v)
	}
	return s.table.appendTie(dst, it)
}

// appendOwn appends the sort position of an item in the table whose key is s. Only a position in an index has a tie.
func (s *Schema) appendOwn(dst []byte, it attr.Item) ([]byte, bool) {
	if len(s.sort) == 0 {
		return dst, true
	}
	v := it.Get(s.sort[0].Name)
	return append(dst, v.Raw()...), v.Kind() == s.sort[0].Kind
}

// appendTie appends the bytes that order index rows with equal index keys as the service does: a hash of the table's
// partition key and sort key together, and then these two keys. Source: dynalite, db/index.js, hashPrefix, and five
// of its tests.
func (s *Schema) appendTie(dst []byte, it attr.Item) ([]byte, bool) {
	pk := it.Get(s.partition[0].Name)
	if pk.Kind() != s.partition[0].Kind {
		return dst, false
	}
	whole := pk.Raw()
	if len(s.sort) > 0 {
		var buf [128]byte
		whole = append(append(buf[:0], whole...), it.Get(s.sort[0].Name).Raw()...)
	}
	h := store.Hash(whole)
	dst = append(dst, byte(h>>16), byte(h>>8), byte(h))
	dst = item.AppendKey(dst, pk)
	return s.appendOwn(dst, it)
}

// appendComponent appends one component of a tuple; the last component needs no end mark.
func appendComponent(dst []byte, v attr.Value, last bool) []byte {
	if last {
		return append(dst, v.Raw()...)
	}
	return item.AppendKey(dst, v)
}

// CheckValue refuses a value of the right kind that cannot be a key, because it is empty or too long. Use it to check
// input before there is an item; [Schema.Place] calls it. The error is an [*Error].
func (s *Schema) CheckValue(a Attribute, v attr.Value) error {
	if a.Kind == attr.Number {
		return nil
	}
	if len(v.Raw()) == 0 {
		return s.refuseEmpty(a)
	}
	if s.isHash(a) {
		if len(v.Raw()) > MaxPartitionKeyBytes {
			return refuse(
				"One or more parameter values were invalid: Size of hashkey has exceeded the "+
					"maximum size limit of%d bytes",
				MaxPartitionKeyBytes,
			)
		}
	} else if len(v.Raw()) > MaxSortKeyBytes {
		return refuse(
			"One or more parameter values were invalid: Aggregated size of all range keys has "+
				"exceeded the size limit of %d bytes",
			MaxSortKeyBytes,
		)
	}

	return nil
}

func (s *Schema) isHash(a Attribute) bool { return slices.Contains(s.partition, a) }

func (s *Schema) refuseEmpty(a Attribute) error {
	kind := "string"
	if a.Kind == attr.Binary {
		kind = "binary"
	}
	if s.table != nil {
		return refuse(
			"One or more parameter values are not valid. "+
				"A value specified for a secondary index key is not supported. "+
				"The AttributeValue for a key attribute cannot contain an empty %s value. "+
				"IndexName: %s, IndexKey: %s",
			kind, s.name, a.Name,
		)
	}
	return refuse(
		"One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty "+
			"%s value. Key: %s",
		kind, a.Name,
	)
}
