package convert

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/tabledef"
	"github.com/sortkey/sortkey/internal/wire"
)

// An Endpoint answers a ListTables, DescribeTable or Scan.
type Endpoint func(ctx context.Context, in wire.Request) (wire.Output, error)

// FromEndpoint imports the tables of a running endpoint with up to
// Options.Items items of each. It only reads. Name is the endpoint's name in
// places.
func FromEndpoint(ctx context.Context, name string, call Endpoint, o Options) (*model.Model, []Loss, error) {
	im := newImporter(o)
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
		s, err := tabledef.Parse(d.roots[0].raw())
		if err != nil {
			return nil, nil, err
		}
		s.Place = name
		if t := im.definition(s); t != nil {
			im.streams = append(im.streams, Stream{Table: t.Name, Items: im.scan(table, ask)})
		}
	}
	return im.finish(ctx, name)
}

// scan yields the items of a table, or the first ones.
func (im *importer) scan(name string, ask func(wire.Request) (*document, error)) iter.Seq2[attr.Item, error] {
	return func(yield func(attr.Item, error) bool) {
		in := &wire.ScanInput{TableName: &name}
		for left := im.o.Items; left > 0; {
			if !im.o.All {
				in.Limit = new(int64(min(left, 1000)))
			}
			d, err := ask(in)
			if err != nil {
				yield(nil, err)
				return
			}
			list := d.roots[0].get("Items").elems()
			for _, m := range list {
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
			if im.o.All {
				continue
			}
			if left -= len(list); left <= 0 {
				im.add(Loss{
					What: "items of table " + name,
					Why:  fmt.Sprintf("only the first %d were read", im.o.Items),
					Hint: "--all counts all of them",
				})
			}
		}
	}
}
