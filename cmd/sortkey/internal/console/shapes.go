package console

import (
	"context"

	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
)

// maxAdvice bounds the advice for a shape, in bytes.
const maxAdvice = 600

// advise sets the advice of those shapes that have a mark. The advice says how the requests of the shape could read
// less.
func (s *Server) advise(ctx context.Context, shapes []Shape) {
	for i := range shapes {
		if one := &shapes[i]; one.Mark != "" && one.body != nil {
			one.Advice = seen(s.adviceOn(ctx, one), maxAdvice)
		}
	}
}

// adviceOn returns how requests of a shape could read less, or "". It has no advice for statements.
func (s *Server) adviceOn(ctx context.Context, shape *Shape) string {
	q, err := explain.Parse(shape.Operation, shape.body)
	if err != nil {
		return ""
	}
	name, _ := placeOf(q.Input)
	t, err := explain.Describe(ctx, s.opts.Target, name)
	if err != nil {
		return ""
	}
	return text.Visible(explain.Cheaper(t, q.Input))
}

// placeOf returns the table and the index that a Query, a Scan or a GetItem reads. For any other request, both are
// "".
func placeOf(in wire.Request) (table, index string) {
	value := func(s *string) string {
		if s == nil {
			return ""
		}
		return *s
	}
	switch in := in.(type) {
	case *wire.QueryInput:
		return value(in.TableName), value(in.IndexName)
	case *wire.ScanInput:
		return value(in.TableName), value(in.IndexName)
	case *wire.GetItemInput:
		return value(in.TableName), ""
	}
	return "", ""
}
