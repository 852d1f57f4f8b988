package keyschema

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/keycond"
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
// "country, state / city, street". A name with a slash, a comma, a
// colon, a backquote, or a space at an end is in backquotes, two of which stand for one.
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

// Addition returns the request that adds a global index to a table with attributes. An attribute
// without a type keeps that of the table.
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

// parse parses a key and adds its attributes to the definitions of the input.
func parse(in *wire.CreateTableInput, key string) (schema []wire.KeySchemaElement, err error) {
	role, rest := "HASH", key
	for {
		name, kind, after, ok := cutAttribute(rest)
		if !ok {
			return nil, wrongKey(key)
		}
		schema = append(schema, wire.KeySchemaElement{AttributeName: &name, KeyType: new(role)})
		defineAttribute(in, name, kind)
		if after == "" {
			return schema, nil
		}
		if after[0] == '/' {
			if role == "RANGE" {
				return nil, wrongKey(key)
			}
			role = "RANGE"
		}
		rest = after[1:]
	}
}

func wrongKey(key string) error {
	return fmt.Errorf("%q is not a key such as \"customer / order\" or \"sensor / second:N\"", key)
}

// cutAttribute returns the first attribute of a key, and what follows it, which is empty or begins
// with a slash or a comma. The kind is "" if no type follows the name.
func cutAttribute(text string) (name, kind, after string, ok bool) {
	text = strings.TrimSpace(text)
	if quoted, is := strings.CutPrefix(text, "`"); is {
		for {
			part, rest, closed := strings.Cut(quoted, "`")
			if !closed {
				return "", "", "", false
			}
			name += part
			if quoted, is = strings.CutPrefix(rest, "`"); !is {
				text = rest
				break
			}
			name += "`"
		}
	} else {
		end := strings.IndexAny(text, "/,:`")
		if end < 0 {
			end = len(text)
		}
		name, text = strings.TrimSpace(text[:end]), text[end:]
	}

	end := strings.IndexAny(text, "/,")
	if end < 0 {
		end = len(text)
	}
	typ := strings.TrimSpace(text[:end])
	kind, typed := strings.CutPrefix(typ, ":")
	kind = strings.TrimSpace(kind)
	ok = name != "" && (typ == "" || typed && slices.Contains([]string{"S", "N", "B"}, kind))
	return name, kind, text[end:], ok
}

// defineAttribute adds an attribute to the definitions of the input, a string if it has no kind and
// is new.
func defineAttribute(in *wire.CreateTableInput, name, kind string) {
	known := slices.IndexFunc(in.AttributeDefinitions, func(d wire.AttributeDefinition) bool {
		return *d.AttributeName == name
	})
	if known < 0 {
		in.AttributeDefinitions = append(in.AttributeDefinitions,
			wire.AttributeDefinition{AttributeName: &name, AttributeType: new(cmp.Or(kind, "S"))})
		return
	}
	if kind != "" {
		in.AttributeDefinitions[known].AttributeType = &kind
	}
}

// Text returns a key as [Define] reads it: "customer / order:N". Of the key of a local index
// without its partition key it returns the sort key.
func Text(s *keycond.Schema) string {
	var parts []string
	for _, list := range [][]keycond.Attribute{s.Hash, s.Range} {
		if len(list) > 0 {
			parts = append(parts, listText(list))
		}
	}
	return strings.Join(parts, " / ")
}

func listText(attributes []keycond.Attribute) string {
	parts := make([]string, len(attributes))
	for i, a := range attributes {
		parts[i] = a.Name
		if !isPlain(a.Name) {
			parts[i] = "`" + strings.ReplaceAll(a.Name, "`", "``") + "`"
		}
		if a.Kind != attr.String {
			parts[i] += ":" + a.Kind.String()
		}
	}
	return strings.Join(parts, ", ")
}

// isPlain reports whether a name needs no backquotes.
func isPlain(name string) bool {
	return name != "" && !strings.ContainsAny(name, "/,:`") && strings.TrimSpace(name) == name
}
