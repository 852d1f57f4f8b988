package explain

import (
	"context"
	"fmt"
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/expr"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/keycond"
)

// A tableInfo holds the keys of a table and of its indexes.
type tableInfo struct {
	name    string
	key     *keycond.Schema
	indexes []*indexInfo
}

type indexInfo struct {
	key        *keycond.Schema
	local      bool
	projection string
	include    []string
}

// index returns the named index, or nil.
func (t *tableInfo) index(name string) *indexInfo {
	for _, ix := range t.indexes {
		if ix.key.Index == name {
			return ix
		}
	}
	return nil
}

// schema returns the key of an index, or of the table for "". It is nil for an
// unknown index.
func (t *tableInfo) schema(index string) *keycond.Schema {
	if index == "" {
		return t.key
	}
	if ix := t.index(index); ix != nil {
		return ix.key
	}
	return nil
}

// holds reports whether the index holds an attribute. A nil index stands for
// the table, which holds all.
func (ix *indexInfo) holds(name string) bool {
	return ix == nil || ix.projection == table.ProjectAll || slices.Contains(ix.include, name) ||
		slices.ContainsFunc(ix.key.Attributes(), func(a keycond.Attribute) bool { return a.Name == name })
}

// lacks reports whether the index does not hold an attribute.
func (ix *indexInfo) lacks(name string) bool { return !ix.holds(name) }

// lacking returns the attributes of a projection that the index does not hold.
func (ix *indexInfo) lacking(projection *expr.Projection) (missing []string) {
	if projection == nil {
		return nil
	}
	for _, p := range projection.Paths {
		if ix.lacks(p[0].Name) {
			missing = append(missing, p[0].Name)
		}
	}
	return missing
}

// isKey reports whether an attribute is a key attribute of the table or of an
// index.
func (t *tableInfo) isKey(name string) bool { return t.kindOf(name) != 0 }

// kindOf returns the kind of a key attribute of the table or of an index, or 0.
func (t *tableInfo) kindOf(name string) attr.Kind {
	all := t.key.Attributes()
	for _, ix := range t.indexes {
		all = append(all, ix.key.Attributes()...)
	}
	for _, a := range all {
		if a.Name == name {
			return a.Kind
		}
	}
	return 0
}

// describe reads the description of a table.
func describe(ctx context.Context, t Target, name string) (*tableInfo, error) {
	out, _, err := t.Do(ctx, &wire.DescribeTableInput{TableName: &name})
	if err != nil {
		return nil, err
	}
	described, ok := out.(*wire.DescribeTableOutput)
	if !ok || described.Table == nil {
		return nil, fmt.Errorf("the endpoint did not describe table %s", name)
	}
	d := described.Table
	kinds := map[string]attr.Kind{}
	for _, a := range d.AttributeDefinitions {
		kinds[value(a.AttributeName)], _ = attr.ParseKind(value(a.AttributeType))
	}
	schema := func(elems []wire.KeySchemaElement) *keycond.Schema {
		s := &keycond.Schema{}
		for _, e := range elems {
			a := keycond.Attribute{Name: value(e.AttributeName), Kind: kinds[value(e.AttributeName)]}
			if value(e.KeyType) == "HASH" {
				s.Hash = append(s.Hash, a)
			} else {
				s.Range = append(s.Range, a)
			}
		}
		return s
	}

	info := &tableInfo{name: value(d.TableName), key: schema(d.KeySchema)}
	if len(info.key.Hash) != 1 || len(info.key.Range) > 1 {
		return nil, fmt.Errorf("the description of table %s has no key", name)
	}
	add := func(name *string, key []wire.KeySchemaElement, p *wire.Projection, local bool) {
		ix := &indexInfo{key: schema(key), local: local}
		ix.key.Index, ix.key.Table = value(name), info.key
		if p != nil {
			ix.projection, ix.include = value(p.ProjectionType), p.NonKeyAttributes
		}
		if len(ix.key.Hash) > 0 {
			info.indexes = append(info.indexes, ix)
		}
	}
	for _, ix := range d.LocalSecondaryIndexes {
		add(ix.IndexName, ix.KeySchema, ix.Projection, true)
	}
	for _, ix := range d.GlobalSecondaryIndexes {
		add(ix.IndexName, ix.KeySchema, ix.Projection, false)
	}
	return info, nil
}

// tableNames returns the names of the first page of tables, or nil.
func tableNames(ctx context.Context, t Target) []string {
	out, _, err := t.Do(ctx, new(wire.ListTablesInput))
	if list, ok := out.(*wire.ListTablesOutput); ok && err == nil {
		return list.TableNames
	}
	return nil
}
