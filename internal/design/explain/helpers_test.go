package explain_test

import (
	"context"

	"github.com/sortkey/sortkey"
)

// Do implements [explain.Target] without traces.
func (f targetFunc) Do(ctx context.Context, op string, request []byte) ([]byte, []sortkey.Trace, error) {
	body, err := f(ctx, op, request)
	return body, nil, err
}
