package convert

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/wire"
)

// An Endpoint answers a ListTables, DescribeTable or Scan.
type Endpoint func(ctx context.Context, in wire.Request) (wire.Output, error)

// FromEndpoint imports the tables of a running endpoint with up to
// Options.Items items of each. It only reads. Name is the endpoint's name in
// places.
func FromEndpoint(ctx context.Context, name string, call Endpoint, o Options) (*model.Model, []Loss, error) {
	im := newImporter(o)
	im.derived = true
	ask := func(in wire.Request) (*document, error) {
		out, err := call(ctx, in)
		if err != nil {
			return nil, fmt.Errorf("%v: %w", in.Op(), err)
		}
		return read(name, out.AppendJSON(nil))
	}
	var names []string
	for in := new(wire.ListTablesInput); ; {
		d, err := ask(in)
		if err != nil {
			return nil, nil, err
		}
		for _, m := range d.roots[0].get("TableNames").elems() {
			names = append(names, m.text)
		}
		last := d.roots[0].str("LastEvaluatedTableName")
		again := in.ExclusiveStartTableName != nil && last == *in.ExclusiveStartTableName // it would not end
		if last == "" || again || len(names) > maxTables {
			break
		}
		in.ExclusiveStartTableName = &last
	}
	if len(names) == 0 {
		return nil, nil, &Error{
			Pos: model.Pos{File: name}, Msg: "the endpoint has no tables",
			Hint: "sortkey serve --load file-tree loads some",
		}
	}
	if o.Table != "" && !slices.Contains(names, o.Table) {
		return nil, nil, &Error{
			Pos: model.Pos{File: name}, Msg: "no table " + o.Table,
			Hint: "the tables are " + clip(strings.Join(names, ", ")),
		}
	}

	for _, table := range names {
		if o.Table != "" && table != o.Table {
			continue
		}
		d, err := ask(&wire.DescribeTableInput{TableName: &table})
		if err != nil {
			return nil, nil, err
		}
		t := im.createTable(d.roots[0].get("Table"))
		if t == nil {
			continue
		}
		if o.All && o.Items >= 0 {
			im.streams = append(im.streams, Stream{Table: t.Name, Items: im.scanAll(table, ask)})
			continue
		}
		if err := im.scan(t, table, ask); err != nil {
			return nil, nil, err
		}
	}
	if err := im.pour(); err != nil {
		return nil, nil, err
	}
	for i := range im.losses {
		im.losses[i].Pos.Line, im.losses[i].Pos.Col = 0, 0
	}
	return im.finish(ctx, name)
}

// scan reads the first items of a table.
func (im *importer) scan(t *model.Table, name string, ask func(wire.Request) (*document, error)) error {
	in := &wire.ScanInput{TableName: &name}
	for left := im.o.Items; left > 0; {
		in.Limit = new(int64(min(left, 1000)))
		d, err := ask(in)
		if err != nil {
			return err
		}

		list := d.roots[0].get("Items").elems()
		for _, m := range list {
			if it, ok := im.item(m); ok {
				im.put(t, it, nil, m)
			}
		}

		left -= len(list)
		next := d.roots[0].get("LastEvaluatedKey")
		if next == nil || !next.isObject() {
			return nil
		}

		key, ok := im.item(next)
		if !ok {
			return nil
		}
		if in.ExclusiveStartKey = key; left <= 0 {
			im.add(Loss{
				What: "items of table " + name,
				Why:  fmt.Sprintf("only the first %d were read", im.o.Items),
				Hint: "--all counts all of them",
			})
		}
	}
	return nil
}

// scanAll yields the items of a table.
func (im *importer) scanAll(name string, ask func(wire.Request) (*document, error)) iter.Seq2[attr.Item, error] {
	return func(yield func(attr.Item, error) bool) {
		for in := (&wire.ScanInput{TableName: &name}); ; {
			d, err := ask(in)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, m := range d.roots[0].get("Items").elems() {
				if it, ok := im.item(m); ok && !yield(it, nil) {
					return
				}
			}
			next := d.roots[0].get("LastEvaluatedKey")
			if !next.isObject() {
				return
			}
			if in.ExclusiveStartKey, _ = im.item(next); in.ExclusiveStartKey == nil {
				return
			}
		}
	}
}
