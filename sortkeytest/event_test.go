package sortkeytest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/sortkeytest"
)

// TestInsideHandler calls the database inside an HTTP handler of the code under test, with the context of the
// handler's request. That this request arrived at a loopback address must not affect the call.
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

// An invocation is a function that implements lambda.Handler.
type invocation func(context.Context, []byte) ([]byte, error)

func (f invocation) Invoke(ctx context.Context, event []byte) ([]byte, error) { return f(ctx, event) }

// handler returns the lambda.Handler of a function. The function may omit results.
func handler(fn any) invocation {
	return func(ctx context.Context, data []byte) ([]byte, error) {
		var e event
		if err := json.Unmarshal(data, &e); err != nil {
			return nil, err
		}
		var out any
		var err error
		switch fn := fn.(type) {
		case func(event):
			fn(e)
		case func(event) error:
			err = fn(e)
		case func(context.Context, event) error:
			err = fn(ctx, e)
		case func(event) (response, error):
			out, err = fn(e)
		case func(context.Context, event) (response, error):
			out, err = fn(ctx, e)
		default:
			panic(fmt.Sprintf("handler has type %T", fn))
		}
		if err != nil {
			return nil, err
		}
		return json.Marshal(out)
	}
}
