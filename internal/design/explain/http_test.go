package explain_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sortkey/sortkey/server"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/wire"
)

const filtered = `{"TableName": "Things", "KeyConditionExpression": "PK = :p AND SK > :s", "FilterExpression": "x = :x",
	"ExpressionAttributeValues": {":p": {"S": "a"}, ":s": {"S": "1"}, ":x": {"N": "1"}}}`

func things(t *testing.T) *sortkey.DB {
	return makeDB(t, `
		table Things PK SK
		item {"PK": "a", "SK": "0", "x": 1}
		item {"PK": "a", "SK": "1", "x": 1}
		item {"PK": "a", "SK": "2", "x": 1}
		item {"PK": "a", "SK": "3", "x": 2}
		item {"PK": "b", "SK": "1", "x": 1}`[1:])
}

// TestHTTP holds that the reports on a request are the same in process, over HTTP, and over HTTP without traces.
func TestHTTP(t *testing.T) {
	db := things(t)
	defer db.Close()
	reports := map[string]*explain.Report{}
	run := func(name string, target explain.Target) {
		r, err := runJSON(context.Background(), target, "Query", json.RawMessage(filtered), explain.Options{})
		require.NoError(t, err)
		require.Empty(t, r.Notes)
		reports[name] = r
	}
	run("in process", explain.InProcess(db))

	var seen http.Header
	traced := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		seen = req.Header.Clone()
		server.New(db, server.Options{}).ServeHTTP(w, req)
	}))
	defer traced.Close()
	run("traced", explain.HTTP(traced.URL, nil, http.Header{"X-Mine": {"yes"}}))
	require.Equal(t, "yes", seen.Get("X-Mine"))
	checkTraces(t, reports["traced"])

	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		req.Header.Del(server.TraceHeader)
		server.New(db, server.Options{}).ServeHTTP(w, req)
	}))
	defer other.Close()
	run("other", explain.HTTP(other.URL, other.Client(), nil))
	require.Empty(t, reports["other"].Traces)

	want, err := json.Marshal(reports["in process"])
	require.NoError(t, err)
	for name, r := range reports {
		got, err := json.Marshal(r)
		require.NoError(t, err)
		require.JSONEq(t, string(want), string(got), name)
	}
	require.Equal(t, 2, reports["other"].Examined)
	require.Equal(t, 1, reports["other"].Returned)
}

// TestLies explains requests to an endpoint whose figures contradict its responses.
func TestLies(t *testing.T) {
	db := things(t)
	defer db.Close()
	liar := targetFunc(func(ctx context.Context, in wire.Request) (wire.Output, error) {
		out, _, err := explain.InProcess(db).Do(ctx, in)
		if page, ok := out.(*wire.QueryOutput); ok && page.ConsumedCapacity != nil {
			page.ConsumedCapacity.CapacityUnits = new(7.0)
		}
		return out, err
	})
	r, err := runJSON(context.Background(), liar, "Query", json.RawMessage(filtered), explain.Options{})
	require.NoError(t, err)
	require.Equal(t, []string{"the endpoint consumed 7 units for a page of 18 bytes; expected 0.5"}, r.Notes)

	// changing is an endpoint whose rows change between two requests.
	calls := 0
	changing := targetFunc(func(ctx context.Context, in wire.Request) (wire.Output, error) {
		if calls++; calls == 3 {
			serve(t, db, "PutItem", `{"TableName":"Things","Item":{"PK":{"S":"a"},"SK":{"S":"4"}}}`)
		}
		out, _, err := explain.InProcess(db).Do(ctx, in)
		return out, err
	})
	r, err = runJSON(context.Background(), changing, "Query", json.RawMessage(filtered), explain.Options{})
	require.NoError(t, err)
	require.Equal(t, []string{"the rows changed while they were being read"}, r.Notes)
}

func TestTargetErrors(t *testing.T) {
	db := things(t)
	defer db.Close()
	answer := func(status int, body string) explain.Target {
		return explain.HTTP("http://there", &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}, nil
		})}, nil)
	}
	run := func(ctx context.Context, target explain.Target) error {
		_, err := runJSON(ctx, target, "Query", json.RawMessage(filtered), explain.Options{})
		return err
	}
	for _, tt := range []struct {
		status     int
		body, want string
	}{
		{404, "<html>", "the endpoint returned status 404 without a DynamoDB error"},
		{200, "<html>", "cannot decode the response to Query"},
		{200, `{"Items":[{"a":{"Q":1}}]}`, "cannot decode the response to Query: ValidationException"},
		{200, `{"LastEvaluatedKey":{"a":1}}`, "cannot decode the response to Query: SerializationException"},
		{200, `{"Items":[]}`, "the endpoint did not describe table Things"},
	} {
		if err := run(context.Background(), answer(tt.status, tt.body)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Run with the answer %d %s = %v, want %s", tt.status, tt.body, err, tt.want)
		}
	}
	if err := run(context.Background(), answer(200, "<html>")); !strings.Contains(advice.Of(err), "another kind of server") {
		t.Errorf("Run at a server of web pages = %v, without advice", err)
	}
	err := run(context.Background(), answer(400, `{"__type":"com.amazon.coral.service#UnrecognizedClientException","message":"who?"}`))
	if e, ok := errors.AsType[*explain.ServiceError](err); !ok || e.Code != "UnrecognizedClientException" || e.Error() != "UnrecognizedClientException: who?" {
		t.Errorf("Run without credentials = %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := run(ctx, explain.InProcess(db)); !errors.Is(err, context.Canceled) {
		t.Errorf("Run after a cancel = %v", err)
	}
}

type targetFunc func(ctx context.Context, in wire.Request) (wire.Output, error)

// Do implements [explain.Target] without traces.
func (f targetFunc) Do(ctx context.Context, in wire.Request) (wire.Output, []sortkey.Trace, error) {
	out, err := f(ctx, in)
	return out, nil, err
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }
