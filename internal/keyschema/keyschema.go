// Package keyschema reads the keys of a table and its indexes from a table description. It also defines keys and
// indexes from short text such as "customer / order".
package keyschema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/keycond"
)

// A Table has the keys of a table and of its indexes.
type Table struct {
	Name string
	Key  *keycond.Schema
	// Indexes has the local and then the global indexes, each in the order of the description.
	Indexes []*Index
}

// An Index is the key and the projection of an index.
type Index struct {
	Key   *keycond.Schema
	Local bool
	// Projection is ALL, KEYS_ONLY or INCLUDE. Include lists the non-key attributes of INCLUDE.
	Projection string
	Include    []string
}

// Of returns the keys in a table description.
func Of(d *wire.TableDescription) (*Table, error) {
	kinds := map[string]attr.Kind{}
	for _, a := range d.AttributeDefinitions {
		kinds[value(a.AttributeName)], _ = attr.ParseKind(value(a.AttributeType))
	}
	attributes := func(elems []wire.KeySchemaElement) (partition, sort []keycond.Attribute) {
		for _, e := range elems {
			a := keycond.Attribute{Name: value(e.AttributeName), Kind: kinds[value(e.AttributeName)]}
			if value(e.KeyType) == "HASH" {
				partition = append(partition, a)
			} else {
				sort = append(sort, a)
			}
		}
		return partition, sort
	}

	partition, sort := attributes(d.KeySchema)
	t := &Table{Name: value(d.TableName), Key: keycond.NewSchema(partition, sort)}
	if len(partition) != 1 || len(sort) > 1 || partition[0].Kind == 0 {
		return nil, fmt.Errorf("the description of table %s has no key", t.Name)
	}
	add := func(name *string, key []wire.KeySchemaElement, p *wire.Projection, local bool) {
		partition, sort := attributes(key)
		ix := &Index{Key: t.Key.NewIndex(value(name), partition, sort), Local: local}
		if p != nil {
			ix.Projection, ix.Include = value(p.ProjectionType), p.NonKeyAttributes
		}
		if len(ix.Key.Partition()) > 0 { // a vector index may have none
			t.Indexes = append(t.Indexes, ix)
		}
	}
	for _, ix := range d.LocalSecondaryIndexes {
		add(ix.IndexName, ix.KeySchema, ix.Projection, true)
	}
	for _, ix := range d.GlobalSecondaryIndexes {
		add(ix.IndexName, ix.KeySchema, ix.Projection, false)
	}
	return t, nil
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// String returns the key in the form that [Define] reads. Unless the index projects all attributes, its non-key
// attributes follow in parentheses.
func (ix *Index) String() string {
	key := ix.Key.String()
	if ix.Projection == "KEYS_ONLY" || ix.Projection == "INCLUDE" {
		key += " (" + strings.Join(ix.Include, ", ") + ")"
	}
	return key
}

// Index returns the named index, or nil.
func (t *Table) Index(name string) *Index {
	for _, ix := range t.Indexes {
		if ix.Key.Name() == name {
			return ix
		}
	}
	return nil
}

// IndexNames returns the names of the indexes.
func (t *Table) IndexNames() []string {
	names := make([]string, len(t.Indexes))
	for i, ix := range t.Indexes {
		names[i] = ix.Key.Name()
	}
	return names
}

// Schema returns the key of the named index, or of the table for "". For an unknown index it returns nil.
func (t *Table) Schema(index string) *keycond.Schema {
	if index == "" {
		return t.Key
	}
	if ix := t.Index(index); ix != nil {
		return ix.Key
	}
	return nil
}

// Kind returns the kind of a key attribute of the table or of an index, or 0.
func (t *Table) Kind(name string) attr.Kind {
	all := t.Key.Attributes()
	for _, ix := range t.Indexes {
		all = append(all, ix.Key.Attributes()...)
	}
	for _, a := range all {
		if a.Name == name {
			return a.Kind
		}
	}
	return 0
}

// IsKey reports whether an attribute is a key attribute of the table or of an index.
func (t *Table) IsKey(name string) bool { return t.Kind(name) != 0 }

// Lacks reports whether the index does not project an attribute. A nil index stands for the table, which has all
// attributes.
func (ix *Index) Lacks(name string) bool {
	if ix == nil || ix.Projection == "ALL" || slices.Contains(ix.Include, name) {
		return false
	}
	return !ix.Key.Has(name) && !ix.Key.Table().Has(name)
}
