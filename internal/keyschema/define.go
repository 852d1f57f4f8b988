package keyschema

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/keycond"
)

// An IndexSpec is an index in the short text form of [Define].
type IndexSpec struct {
	Name string
	// Key is the key as in [Define]. For a local index, it is the sort key alone.
	Key   string
	Local bool
	// Only lists the non-key attributes to project. Nil means all attributes; an empty list means keys only.
	Only []string
}

// Define adds the keys of a table and its indexes to the input. A key is the partition key and, after a slash, the
// sort key: "customer / order". An attribute is a string unless a type follows its name, as in "sensor / second:N".
// An index can have several partition key or sort key attributes: "country, state / city, street". Put a name in
// backquotes if it contains a slash, a comma, a colon or a backquote, or if it begins or ends with a space. Double a
// backquote in a name.
func Define(in *wire.CreateTableInput, key string, indexes []IndexSpec) (err error) {
	if in.KeySchema, err = parse(in, key); err != nil {
		return err
	}
	for _, ix := range indexes {
		schema, err := parse(in, ix.Key)
		if err != nil {
			return err
		}
		if ix.Local {
			if len(schema) != 1 {
				return fmt.Errorf("%q is not the sort key of a local index, such as \"placed\" or \"second:N\"", ix.Key)
			}
			schema[0].KeyType = new("RANGE")
			schema = []wire.KeySchemaElement{in.KeySchema[0], schema[0]}
			in.LocalSecondaryIndexes = append(in.LocalSecondaryIndexes, wire.LocalSecondaryIndex{
				IndexName: &ix.Name, KeySchema: schema, Projection: ix.projection(),
			})
			continue
		}
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, wire.GlobalSecondaryIndex{
			IndexName: &ix.Name, KeySchema: schema, Projection: ix.projection(),
		})
	}
	return nil
}

// Addition returns the request that adds a global index to a table. Attributes are the table's attribute definitions.
// They give the types of attributes that have no type in the key.
func Addition(table string, attributes []wire.AttributeDefinition, ix IndexSpec) (*wire.UpdateTableInput, error) {
	known := wire.CreateTableInput{AttributeDefinitions: slices.Clone(attributes)}
	schema, err := parse(&known, ix.Key)
	if err != nil {
		return nil, err
	}
	in := &wire.UpdateTableInput{TableName: &table, GlobalSecondaryIndexUpdates: []wire.GlobalSecondaryIndexUpdate{{
		Create: &wire.CreateGlobalSecondaryIndexAction{
			IndexName: &ix.Name, KeySchema: schema, Projection: ix.projection(),
		},
	}}}
	for _, a := range known.AttributeDefinitions {
		used := func(e wire.KeySchemaElement) bool { return *e.AttributeName == *a.AttributeName }
		if slices.ContainsFunc(schema, used) {
			in.AttributeDefinitions = append(in.AttributeDefinitions, a)
		}
	}
	return in, nil
}

func (ix *IndexSpec) projection() *wire.Projection {
	switch {
	case ix.Only == nil:
		return &wire.Projection{ProjectionType: new("ALL")}
	case len(ix.Only) == 0:
		return &wire.Projection{ProjectionType: new("KEYS_ONLY")}
	}
	return &wire.Projection{ProjectionType: new("INCLUDE"), NonKeyAttributes: ix.Only}
}

// parse parses a key and adds its attributes to the input's definitions.
func parse(in *wire.CreateTableInput, key string) (schema []wire.KeySchemaElement, err error) {
	partition, sort, err := keycond.ParseKey(key)
	if err != nil {
		return nil, err
	}
	for i, list := range [][]keycond.Attribute{partition, sort} {
		for _, a := range list {
			schema = append(schema, wire.KeySchemaElement{
				AttributeName: &a.Name, KeyType: new([]string{"HASH", "RANGE"}[i]),
			})
			defineAttribute(in, a)
		}
	}
	return schema, nil
}

// defineAttribute adds an attribute to the input's definitions. If the definitions have the attribute already, a kind
// that is not 0 replaces its type. A new attribute without a kind is a string.
func defineAttribute(in *wire.CreateTableInput, a keycond.Attribute) {
	known := slices.IndexFunc(in.AttributeDefinitions, func(d wire.AttributeDefinition) bool {
		return *d.AttributeName == a.Name
	})
	if known < 0 {
		in.AttributeDefinitions = append(in.AttributeDefinitions,
			wire.AttributeDefinition{AttributeName: &a.Name, AttributeType: new(cmp.Or(a.Kind, attr.String).String())})
		return
	}
	if a.Kind != 0 {
		in.AttributeDefinitions[known].AttributeType = new(a.Kind.String())
	}
}
