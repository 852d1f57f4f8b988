package explain_test

import (
	"context"

	"github.com/sortkey/sortkey/internal/table"
)

// Do implements [explain.Target] without traces.
func (f targetFunc) Do(ctx context.Context, op string, request []byte) ([]byte, []table.Trace, error) {
	body, err := f(ctx, op, request)
	return body, nil, err
}
