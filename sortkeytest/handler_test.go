package sortkeytest_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/sortkeytest"
)

// TestInsideHandler calls the database in a handler of a server of the code under test, with the context
// of its request: that it arrived at a loopback address says nothing about the call.
func TestInsideHandler(t *testing.T) {
	db := sortkeytest.New(t)
	db.Table("Shop", "PK")
	failed := make(chan error, 2)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, err := db.Client.ListTables(r.Context(), &dynamodb.ListTablesInput{})
		failed <- err
		_, err = db.Client.Scan(r.Context(), &dynamodb.ScanInput{TableName: new("Shop")})
		failed <- err
	}))
	defer server.Close()
	resp, err := http.Get(server.URL)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.NoError(t, <-failed)
	require.NoError(t, <-failed)
}

// A contextLike is an interface with the methods of a context, which lambda.Start takes too.
type contextLike interface{ context.Context }

// A refusal is an error of a type of its own.
type refusal struct{}

func (*refusal) Error() string { return "refused" }

// Handlers are all forms that lambda.Start takes.
func TestHandlerForms(t *testing.T) {
	db := streamed(t)
	putEach(db, "a")
	calls := 0
	called := func(ctx context.Context, events ...event) {
		calls++
		if ctx != nil {
			require.NoError(t, ctx.Err())
		}
		for _, e := range events {
			require.Equal(t, "a", e.ids())
		}
	}
	done := json.RawMessage(`{"batchItemFailures":[]}`)
	for _, handler := range []any{
		func() { called(nil) },
		func() error { called(nil); return nil },
		func() (any, error) { called(nil); return done, nil },
		func(ctx context.Context) { called(ctx) },
		func(ctx context.Context) error { called(ctx); return nil },
		func(ctx context.Context) (json.RawMessage, error) { called(ctx); return done, nil },
		func(e event) { called(nil, e) },
		func(e event) error { called(nil, e); return nil },
		func(e *event) (any, error) { called(nil, *e); return nil, nil },
		func(ctx context.Context, e event) { called(ctx, e) },
		func(ctx context.Context, e event) error { called(ctx, e); return nil },
		func(ctx contextLike, e event) (json.RawMessage, error) { called(ctx, e); return done, nil },
		func(any) { called(nil) },
		func(context.Context, any) { called(nil) },
		func(json.RawMessage) { called(nil) },
		func(ctx context.Context) (io.Reader, error) { called(ctx); return strings.NewReader(string(done)), nil },
		invocation(func(ctx context.Context, _ []byte) ([]byte, error) { called(ctx); return done, nil }),
	} {
		calls = 0
		db.EventSource("Events", handler, func(s *sortkeytest.EventSource) {
			s.ReportBatchItemFailures = true
		}).Deliver()
		require.Equal(t, 1, calls, "%T", handler)
	}

	// An error of any type fails the batch.
	discarded := 0
	for _, handler := range []any{
		func() *refusal { return new(refusal) },
		func() (any, *refusal) { return done, new(refusal) },
		func(context.Context) error { return new(refusal) },
		func(int) {}, // which is no event
	} {
		db.EventSource("Events", handler, func(s *sortkeytest.EventSource) {
			s.MaximumRetryAttempts, s.OnFailure = 0, func([]byte) { discarded++ }
		}).Deliver()
	}
	require.Equal(t, 4, discarded)
}

// An invocation is a lambda.Handler.
type invocation func(context.Context, []byte) ([]byte, error)

func (f invocation) Invoke(ctx context.Context, event []byte) ([]byte, error) { return f(ctx, event) }
