package console

import (
	"context"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/ask"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/text"
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
	t, err := explain.Describe(ctx, s.opts.Target, ask.TextsOf(q.Input).TableName)
	if err != nil {
		return ""
	}
	return text.Visible(explain.Cheaper(t, q.Input))
}
