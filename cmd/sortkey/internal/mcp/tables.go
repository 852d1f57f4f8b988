package mcp

import (
	"context"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/models"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/operation"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
)

var listTables = &operation.Operation{
	Name:  "tables",
	Short: "List tables",
	Does:  "lists the tables with their keys and indexes",
	Tool: operation.Help{
		Lead: `Call it first. A key is written as partition / sort, with the type after names of numbers (:N) and binary
values (:B); items of a table have both attributes of its key, and an index has only those items that have the
attributes of its key. After the key of an index that has not all attributes, those that it has besides keys are in
parentheses.`,
		More: `The answer is JSON: for each table its key, the number and the bytes of its items (services update
these only every few hours), and the keys of its indexes by name. If the database comes from a model, "model" has what
it is about, its entities with the templates of their keys, and the names of its access patterns, which explain takes
as pattern. Needs no arguments.`,
		Example: `{}`,
	},
	Params: []*operation.Param{operation.Skip},
}

type tableLine struct {
	Name    string            `json:"name"`
	Key     string            `json:"key"`
	Items   int64             `json:"items"`
	Bytes   int64             `json:"bytes"`
	Indexes map[string]string `json:"indexes,omitempty"` // key and projection by name
}

type entityLine struct {
	Name  string            `json:"name"`
	Table string            `json:"table"`
	About string            `json:"about,omitempty"`
	Keys  map[string]string `json:"keys,omitempty"`
}

func (s *Server) tables(ctx context.Context, v *operation.Values) (string, error) {
	names, err := models.Tables(ctx, s.o.Target)
	if err != nil {
		return "", err
	}
	var tables, entities, patterns list
	for _, name := range names {
		line, err := s.table(ctx, name)
		if err != nil {
			return "", err
		}
		tables = append(tables, encoded(line))
	}

	var o object
	o.add("database", s.o.About)
	if !s.o.Write {
		o.add("writes", "are not allowed: sortkey mcp was started without --write")
	}
	o.add("tables", tables)
	if m := s.o.Model; m != nil {
		for _, e := range m.Entities {
			entities = append(entities, encoded(entityLine{e.Name, e.Table.Name, e.About, keysOf(e)}))
		}
		for _, p := range m.Patterns {
			patterns = append(patterns, encoded(p.Name))
		}
		o.add("model", m.Name)
		o.add("about", m.About)
		o.add("entities", entities)
		o.add("patterns", patterns)
	}
	return s.report(o.text(), v.Skip), nil
}

// table describes a table with its indexes.
func (s *Server) table(ctx context.Context, name string) (*tableLine, error) {
	out, _, err := s.o.Target.Do(ctx, &wire.DescribeTableInput{TableName: &name})
	if err != nil {
		return nil, err
	}
	about := out.(*wire.DescribeTableOutput).Table
	t, err := keyschema.Of(about)
	if err != nil {
		return nil, err
	}

	line := &tableLine{
		Name: name, Key: t.Key.String(), Items: value(about.ItemCount), Bytes: value(about.TableSizeBytes),
		Indexes: map[string]string{},
	}
	for _, ix := range t.Indexes {
		line.Indexes[ix.Key.Name()] = ix.String()
	}
	return line, nil
}

// value returns what p points to, or the zero value for nil.
func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// keysOf returns the key attributes of an entity with their templates or constants.
func keysOf(e *model.Entity) map[string]string {
	keys := map[string]string{}
	for _, a := range e.Attributes {
		isKey := e.Table.IsKey(a.Name)
		for _, x := range e.Table.Indexes {
			isKey = isKey || e.Table.Schema(x).Has(a.Name)
		}
		switch {
		case !isKey:
		case a.Template != nil:
			keys[a.Name] = a.Template.String()
		default:
			keys[a.Name] = text.Literal(a.Const)
		}
	}
	return keys
}
