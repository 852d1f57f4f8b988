package mcp

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
)

type noArgs struct{}

type tablesArgs struct {
	Skip int `json:"skip,omitempty" jsonschema:"leave out so many tables, to go on after a cut"`
}

var tablesTool = tool{name: "tables", title: "List tables", description: `
Lists the tables with their keys and indexes. Call it first. A key is written as partition / sort, with the type
after names of numbers (:N) and binary values (:B); items of a table have both attributes of its key, and an
index has only those items that have the attributes of its key. The answer is JSON: for each table and index its
key, and the number and the bytes of its items (services update these only every few hours). If the database
comes from a model, "model" has what it is about, its entities with the templates of their keys, and the names
of its access patterns, which explain takes as pattern. "writes" says where writes go. Needs no arguments.`}

type indexLine struct {
	Name       string `json:"name"`
	Key        string `json:"key"`
	Local      bool   `json:"local,omitempty"`
	Projection string `json:"projection,omitempty"`
	Items      int64  `json:"items"`
	Bytes      int64  `json:"bytes"`
}

type tableLine struct {
	Name    string      `json:"name"`
	Key     string      `json:"key"`
	Items   int64       `json:"items"`
	Bytes   int64       `json:"bytes"`
	Indexes []indexLine `json:"indexes,omitempty"`
}

// tables returns the names of all tables.
func (d *side) tables(ctx context.Context) (names []string, err error) {
	in := &wire.ListTablesInput{}
	for {
		out, _, err := d.target.Do(ctx, in)
		if err != nil {
			return nil, err
		}
		page := out.(*wire.ListTablesOutput)
		names = append(names, page.TableNames...)
		if in.ExclusiveStartTableName = page.LastEvaluatedTableName; in.ExclusiveStartTableName == nil {
			return names, nil
		}
	}
}

func (s *Server) tables(ctx context.Context, in tablesArgs) (answer string, err error) {
	err = s.read(func(d *side) error {
		names, err := d.tables(ctx)
		if err != nil {
			return service(err, nil)
		}
		var lines list
		size, next := 0, 0
		skip := min(max(in.Skip, 0), len(names))
		for _, name := range names[skip:] {
			line, err := d.table(ctx, name)
			if err != nil {
				return service(err, nil)
			}
			if size += len(line); size > s.o.MaxAnswer {
				next = skip + max(len(lines), 1)
				break
			}
			lines = append(lines, line)
		}

		var o object
		o.add("database", s.o.About)
		o.add("writes", s.writes(d))
		o.add("tables", lines)
		if next > 0 {
			o.add("note", fmt.Sprintf("cut here; for the rest call tables again with skip: %d", next))
		}
		if len(names) == 0 {
			o.add("note", "there are no tables yet: design_load creates those of a model")
		}
		s.addModel(&o, d.model.Load(), size)
		answer, err = o.text()
		return err
	})
	return answer, err
}

// table returns the line of a table.
func (d *side) table(ctx context.Context, name string) (json.RawMessage, error) {
	out, _, err := d.target.Do(ctx, &wire.DescribeTableInput{TableName: &name})
	if err != nil {
		return nil, err
	}

	about := out.(*wire.DescribeTableOutput).Table
	t, err := keyschema.Of(about)
	if err != nil {
		return nil, err
	}

	line := tableLine{
		Name: name, Key: t.Key.String(), Items: number(about.ItemCount), Bytes: number(about.TableSizeBytes),
	}
	add := func(name *string, local bool, projection *wire.Projection, items, bytes *int64) {
		if name == nil || t.Schema(*name) == nil {
			return
		}
		index := indexLine{
			Name: *name, Key: t.Schema(*name).String(), Local: local, Items: number(items), Bytes: number(bytes),
		}
		if projection != nil && projection.ProjectionType != nil {
			index.Projection = *projection.ProjectionType
		}
		line.Indexes = append(line.Indexes, index)
	}
	for _, x := range about.LocalSecondaryIndexes {
		add(x.IndexName, true, x.Projection, x.ItemCount, x.IndexSizeBytes)
	}

	for _, x := range about.GlobalSecondaryIndexes {
		add(x.IndexName, false, x.Projection, x.ItemCount, x.IndexSizeBytes)
	}
	return text.JSON(line)
}

func number(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

// writes says where writes go.
func (s *Server) writes(d *side) string {
	switch {
	case s.o.Write:
		return "go to the database itself"
	case !s.forkable():
		return "are refused: this database cannot be forked, and sortkey mcp was started without --write"
	case d != s.origin:
		return "go to a fork, which has some already: see fork_diff"
	}
	return "go to a fork, which the first one makes"
}

// addModel adds what the model says about the items.
func (s *Server) addModel(o *object, m *model.Model, size int) {
	if m == nil {
		return
	}

	type entity struct {
		Name  string            `json:"name"`
		Table string            `json:"table"`
		About string            `json:"about,omitempty"`
		Keys  map[string]string `json:"keys,omitempty"`
	}

	var entities, patterns list
	line := func(v any) json.RawMessage {
		raw, err := text.JSON(v)
		if err != nil || size+len(raw) > s.o.MaxAnswer {
			return nil
		}
		size += len(raw)
		return raw
	}
	for _, e := range m.Entities {
		if raw := line(entity{e.Name, e.Table.Name, e.About, keysOf(e)}); raw != nil {
			entities = append(entities, raw)
		}
	}

	for _, p := range m.Patterns {
		if raw := line(p.Name); raw != nil {
			patterns = append(patterns, raw)
		}
	}

	o.add("model", m.Name)
	o.add("about", m.About)
	o.add("entities", entities)
	o.add("patterns", patterns)
}

// keysOf returns the key attributes of an entity, as templates or constants.
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
