package keyschema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/wire"
)

// An IndexSpec is an index as people write it.
type IndexSpec struct {
	Name string
	// Key is written as in [Define]; a local index has its sort key only.
	Key   string
	Local bool
	// Only are the attributes that are projected besides the keys; nil means all.
	Only []string
}

// Define adds to the input the key of a table and its indexes. A key names the partition key
// and, after a slash, the sort key: "customer / order". An attribute is a string unless a
// type follows its name, as in "sensor / second:N"; an index can have several for each:
// "country, state / city, street".
func Define(in *wire.CreateTableInput, key string, indexes []IndexSpec) (err error) {
	if in.KeySchema, err = parse(in, key); err != nil {
		return err
	}
	partition, _, _ := strings.Cut(key, "/")
	for _, ix := range indexes {
		text := ix.Key
		if ix.Local {
			text = partition + "/" + text
		}
		schema, err := parse(in, text)
		if err != nil {
			return err
		}
		if ix.Local {
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

func (ix *IndexSpec) projection() *wire.Projection {
	switch {
	case ix.Only == nil:
		return &wire.Projection{ProjectionType: new("ALL")}
	case len(ix.Only) == 0:
		return &wire.Projection{ProjectionType: new("KEYS_ONLY")}
	}
	return &wire.Projection{ProjectionType: new("INCLUDE"), NonKeyAttributes: ix.Only}
}

// parse parses a key and adds its attributes to the definitions of the input.
func parse(in *wire.CreateTableInput, key string) (schema []wire.KeySchemaElement, err error) {
	role := "HASH"
	for i, part := range strings.Split(key, "/") {
		if i > 0 {
			role = "RANGE"
		}
		for text := range strings.SplitSeq(part, ",") {
			name, kind, typed := strings.Cut(strings.TrimSpace(text), ":")
			if !typed {
				kind = "S"
			}
			if name == "" || i > 1 || !slices.Contains([]string{"S", "N", "B"}, kind) {
				return nil, fmt.Errorf("%q is not a key such as \"customer / order\" or \"sensor / second:N\"", key)
			}
			schema = append(schema, wire.KeySchemaElement{AttributeName: &name, KeyType: new(role)})
			known := slices.IndexFunc(in.AttributeDefinitions, func(d wire.AttributeDefinition) bool {
				return *d.AttributeName == name
			})
			switch {
			case known < 0:
				in.AttributeDefinitions = append(in.AttributeDefinitions,
					wire.AttributeDefinition{AttributeName: &name, AttributeType: &kind})
			case typed:
				in.AttributeDefinitions[known].AttributeType = &kind
			}
		}
	}
	return schema, nil
}
