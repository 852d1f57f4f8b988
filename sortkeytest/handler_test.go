package sortkeytest_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
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

// A refusal is an error of a type of its own.
type refusal struct{}

func (*refusal) Error() string { return "refused" }

// TestHandlerForms has the forms of a handler that module fuzz, which tests with aws-lambda-go, does not: results that
// are JSON, and errors of a type of their own.
func TestHandlerForms(t *testing.T) {
	db := streamed(t)
	putEach(db, "a")
	done := json.RawMessage(`{"batchItemFailures":[]}`)
	calls := 0
	for _, handler := range []any{
		func(ctx context.Context, e event) (json.RawMessage, error) {
			require.NoError(t, ctx.Err())
			require.Equal(t, "a", e.ids())
			calls++
			return done, nil
		},
		func(e json.RawMessage) (map[string][]string, error) {
			require.Contains(t, string(e), `"eventID":"`)
			calls++
			return map[string][]string{"batchItemFailures": {}}, nil
		},
		invocation(func(context.Context, []byte) ([]byte, error) { calls++; return done, nil }),
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
