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

// An Endpoint sends a DescribeTable or Scan request and returns its output.
type Endpoint func(ctx context.Context, in wire.Request) (wire.Output, error)

// FromEndpoint imports tables of a running endpoint, with up to Options.Items items of each. It only reads. names are
// the names of all tables at the endpoint. If Options.Table is not "", FromEndpoint imports only this table. name is
// the endpoint's name in error messages and losses.
func FromEndpoint(
	ctx context.Context, name string, names []string, call Endpoint, o Options,
) (*model.Model, []Loss, error) {
	im := newImporter(o)
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
		out, err := ask[*wire.DescribeTableOutput](ctx, call, &wire.DescribeTableInput{TableName: &table})
		if err != nil {
			return nil, nil, err
		}
		s, err := tabledef.Parse(wire.AppendJSON(nil, out))
		if err != nil {
			return nil, nil, err
		}
		s.Place = name
		if t := im.definition(s); t != nil {
			im.streams = append(im.streams, Stream{Table: t.Name, Items: im.scan(ctx, table, call)})
		}
	}
	return im.finish(ctx, name)
}

// ask sends a request and returns its output.
func ask[T wire.Output](ctx context.Context, call Endpoint, in wire.Request) (out T, err error) {
	answer, err := call(ctx, in)
	if err != nil {
		return out, fmt.Errorf("%v: %w", in.Op(), err)
	}
	out, ok := answer.(T)
	if !ok {
		return out, fmt.Errorf("the answer to %v is a %T", in.Op(), answer)
	}
	return out, nil
}

// scan yields the items of a table: all of them if Options.All is true, and only the first ones otherwise.
func (im *importer) scan(ctx context.Context, name string, call Endpoint) iter.Seq2[attr.Item, error] {
	return func(yield func(attr.Item, error) bool) {
		in := &wire.ScanInput{TableName: &name}
		for left := im.o.Items; left > 0; {
			if !im.o.All {
				in.Limit = new(int64(min(left, 1000)))
			}
			out, err := ask[*wire.ScanOutput](ctx, call, in)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, it := range out.Items {
				if !yield(it, nil) {
					return
				}
			}
			if in.ExclusiveStartKey = out.LastEvaluatedKey; in.ExclusiveStartKey.Len() == 0 {
				return
			}
			if im.o.All {
				continue
			}
			if left -= len(out.Items); left <= 0 {
				im.add(Loss{
					What: "items of table " + name,
					Why:  fmt.Sprintf("only the first %d were read", im.o.Items),
					Hint: "--all counts all of them",
				})
			}
		}
	}
}
