package transfer_test

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/sdk"
	"github.com/sortkey/sortkey/sortkeytest"
)

// described returns a client that calls fn before its first DescribeTable.
func described(db *sortkeytest.DB, fn func()) *dynamodb.Client {
	fn = sync.OnceFunc(fn)
	return sdk.Direct(db.DB, func(o *dynamodb.Options) {
		o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
			return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("described",
				func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
					if _, ok := in.Parameters.(*dynamodb.DescribeTableInput); ok {
						fn()
					}
					return next.HandleInitialize(ctx, in)
				}), middleware.Before)
		})
	})
}

// TestImportsBeginAtOnce: of two imports that both found no journal, the second one to
// write it fails.
func TestImportsBeginAtOnce(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a file that is open cannot be replaced there, so journals are not locked")
	}
	path := write(t, "a.jsonl", manyLines(1000))
	o := options(t, path)
	o.Every = 10
	half, leave, first := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	var batches atomic.Int64
	begun := hooked(sortkeytest.New(t), func(context.Context, *dynamodb.BatchWriteItemInput) (*dynamodb.BatchWriteItemOutput, error) {
		if batches.Add(1) == 20 {
			close(half)
			<-leave
		}
		return nil, nil
	})
	second := sortkeytest.New(t)
	_, err := importFiles(t, t.Context(), described(second, func() {
		go func() {
			_, err := importFiles(t, context.Background(), begun, o, path)
			first <- err
		}()
		<-half
	}), o, path)
	close(leave)
	require.NoError(t, <-first)
	require.ErrorContains(t, err, "another import is using the journal "+o.Journal)
	require.False(t, exists(o.Journal))
}
