package model

import (
	"encoding/json"
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/keycond"
)

// Table returns the named table, or nil.
func (m *Model) Table(name string) *Table {
	for _, t := range m.Tables {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// Entity returns the named entity, or nil.
func (m *Model) Entity(name string) *Entity {
	for _, e := range m.Entities {
		if e.Name == name {
			return e
		}
	}
	return nil
}

// Pattern returns the named access pattern, or nil.
func (m *Model) Pattern(name string) *Pattern {
	for _, p := range m.Patterns {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// Index returns the named index, or nil.
func (t *Table) Index(name string) *Index {
	for _, x := range t.Indexes {
		if x.Name == name {
			return x
		}
	}
	return nil
}

// Keys returns the key attributes of the table, the partition key first.
func (t *Table) Keys() []Attribute {
	return append(append([]Attribute(nil), t.Partition...), t.Sort...)
}

// Has reports whether the named attribute is in the table's primary key.
func (t *Table) Has(name string) bool {
	is := func(a Attribute) bool { return a.Name == name }
	return slices.ContainsFunc(t.Partition, is) || slices.ContainsFunc(t.Sort, is)
}

// Keys returns the key attributes of the index, the partition key first. It does not add the table's key attributes.
func (x *Index) Keys() []Attribute {
	return append(append([]Attribute(nil), x.Partition...), x.Sort...)
}

// Keys returns the partition key and the sort key of the table or the index that the pattern reads.
func (p *Pattern) Keys() (partition, sort []Attribute) {
	if p.Index != nil {
		return p.Index.Partition, p.Index.Sort
	}
	return p.Table.Partition, p.Table.Sort
}

// Kinds returns the types of the key attributes of the table and its indexes, by name.
func (t *Table) Kinds() map[string]attr.Kind {
	all := map[string]attr.Kind{}
	for _, a := range t.AllKeys() {
		all[a.Name] = a.Kind
	}
	return all
}

// Schema returns the key schema of the index x, or of the table if x is nil.
func (t *Table) Schema(x *Index) *keycond.Schema {
	own := keycond.NewSchema(t.Partition, t.Sort)
	if x == nil {
		return own
	}
	return own.NewIndex(x.Name, x.Partition, x.Sort)
}

// RowSize returns the size of an item's row in an index of the table, or in the table itself if x is nil, by
// DynamoDB's documented rules. It reports false if the index does not hold the item.
func (t *Table) RowSize(x *Index, it attr.Item) (int, bool) { return t.RowSizes(x).Of(it) }

// RowSizes computes the sizes of rows in one table or index.
type RowSizes struct {
	keys []Attribute // key attributes of the index; nil for a table
	all  bool        // rows have all attributes, not only the projected ones
	has  map[string]bool
}

// RowSizes returns a [RowSizes] for the index x, or for the table itself if x is nil.
func (t *Table) RowSizes(x *Index) *RowSizes {
	if x == nil {
		return &RowSizes{all: true}
	}
	s := &RowSizes{keys: x.Keys(), all: x.Projection == "ALL", has: map[string]bool{}}
	for _, a := range slices.Concat(t.Keys(), s.keys) {
		s.has[a.Name] = true
	}
	for _, name := range x.Include {
		s.has[name] = true
	}
	return s
}

// Of returns the size of an item's row in bytes. It reports false if the item has no row.
func (s *RowSizes) Of(it attr.Item) (int, bool) {
	for _, a := range s.keys {
		if it.Get(a.Name).Kind() != a.Kind {
			return 0, false
		}
	}
	if s.all {
		return it.Size(), true
	}
	size := 0
	for name, v := range it.All() {
		if s.has[string(name)] {
			size += len(name) + v.Size()
		}
	}
	return size, true
}

// Same reports whether the rows of two items are equal. Both items must have a row.
func (s *RowSizes) Same(a, b attr.Item) bool {
	if s.all {
		return a.Equal(b)
	}
	for name := range s.has {
		if !attr.Equal(a.Get(name), b.Get(name)) {
			return false
		}
	}
	return true
}

// Attribute returns the template of the named attribute, or nil.
func (e *Entity) Attribute(name string) *Template {
	for _, t := range e.Attributes {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// Field returns the named field, or nil.
func (e *Entity) Field(name string) *Field {
	for _, f := range e.Fields {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// Definition returns the table definition for the engine.
func (t *Table) Definition() *table.Definition {
	d := &table.Definition{Name: t.Name, BillingMode: "PAY_PER_REQUEST"}
	seen := map[string]bool{}
	elements := func(hash, sort []Attribute) []table.KeyElement {
		var all []table.KeyElement
		for i, list := range [][]Attribute{hash, sort} {
			for _, a := range list {
				all = append(all, table.KeyElement{Name: a.Name, Hash: i == 0})
				if !seen[a.Name] {
					seen[a.Name] = true
					d.Attributes = append(d.Attributes, a)
				}
			}
		}
		return all
	}
	d.Key = elements(t.Partition, t.Sort)
	for _, x := range t.Indexes {
		def := table.IndexDefinition{
			Name: x.Name, Key: elements(x.Partition, x.Sort),
			Projection: table.Projection{Type: x.Projection, Include: x.Include},
		}
		if x.Local {
			d.Local = append(d.Local, def)
		} else {
			d.Global = append(d.Global, def)
		}
	}
	return d
}

// CreateRequest returns the CreateTable request of the table.
func (t *Table) CreateRequest() json.RawMessage {
	type attribute struct{ AttributeName, AttributeType string }
	type element struct{ AttributeName, KeyType string }
	type projection struct {
		ProjectionType   string
		NonKeyAttributes []string `json:",omitempty"`
	}

	type index struct {
		IndexName  string
		KeySchema  []element
		Projection projection
	}

	d := t.Definition()
	schema := func(key []table.KeyElement) (all []element) {
		for _, k := range key {
			if k.Hash {
				all = append(all, element{k.Name, "HASH"})
			} else {
				all = append(all, element{k.Name, "RANGE"})
			}
		}
		return all
	}
	indexes := func(list []table.IndexDefinition) (all []index) {
		for _, x := range list {
			all = append(all, index{x.Name, schema(x.Key), projection{x.Projection.Type, x.Projection.Include}})
		}
		return all
	}
	request := struct {
		TableName              string
		AttributeDefinitions   []attribute
		KeySchema              []element
		LocalSecondaryIndexes  []index `json:",omitempty"`
		GlobalSecondaryIndexes []index `json:",omitempty"`
		BillingMode            string
	}{
		TableName: t.Name, KeySchema: schema(d.Key), BillingMode: d.BillingMode,
		LocalSecondaryIndexes: indexes(d.Local), GlobalSecondaryIndexes: indexes(d.Global),
	}
	for _, a := range d.Attributes {
		request.AttributeDefinitions = append(request.AttributeDefinitions, attribute{a.Name, a.Kind.String()})
	}

	text, err := json.Marshal(request)
	if err != nil {
		return nil // strings and slices of strings always marshal
	}
	return text
}
