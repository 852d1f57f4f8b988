package sortkey_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/sortkey/sortkey/server"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
)

// A watcher is an observer that keeps the last event.
type watcher struct {
	begun int
	last  *sortkey.Event
}

func (w *watcher) Begin(context.Context, *sortkey.Event)   { w.begun++ }
func (w *watcher) End(_ context.Context, e *sortkey.Event) { w.last = e }

func TestObserver(t *testing.T) {
	var w watcher
	now := time.Unix(0, 0)
	db, err := sortkey.Open(sortkey.Options{
		Observer: &w, Clock: func() time.Time { now = now.Add(time.Millisecond); return now },
	})
	require.NoError(t, err)
	defer db.Close()
	do := func(r *http.Request) *httptest.ResponseRecorder {
		rec := httptest.NewRecorder()
		server.New(db, server.Options{}).ServeHTTP(rec, r)
		return rec
	}
	post := func(operation, body string) *http.Request {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/x-amz-json-1.0")
		if operation != "" {
			r.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
		}
		return r
	}
	const create = `{"TableName":"Cats","BillingMode":"PAY_PER_REQUEST",` +
		`"AttributeDefinitions":[{"AttributeName":"PK","AttributeType":"S"}],` +
		`"KeySchema":[{"AttributeName":"PK","KeyType":"HASH"}]}`
	res := do(post("CreateTable", create))
	e := w.last
	require.Equal(t, "CreateTable", e.Operation)
	require.Equal(t, []string{"Cats"}, e.Tables)
	require.Equal(t, 200, e.Status)
	require.Equal(t, "POST / 192.0.2.1:1234", e.Method+" "+e.Path+" "+e.From)
	require.EqualValues(t, len(create), e.In)
	require.EqualValues(t, res.Body.Len(), e.Out)
	require.Equal(t, res.Header().Get("X-Amzn-Requestid"), e.ID)
	require.Positive(t, e.Duration)

	do(post("PutItem", `{"TableName":"Cats","Item":{"PK":{"S":"a"}}}`))
	require.Equal(t, []sortkey.Units{{Table: "Cats", Write: true, Units: 1}}, w.last.Units)

	// Both the header and the observer ask for the trace.
	r := post("Scan", `{"TableName":"Cats"}`)
	r.Header.Set(server.TraceHeader, "1")
	res = do(r)
	tr, ok := server.ReadTrace(res.Header())
	require.True(t, ok, "in the header")
	require.Equal(t, []sortkey.Trace{tr}, w.last.Traces(), "of the observer")
	require.Equal(t, 1, w.last.Examined)
	require.Equal(t, "all partitions", tr.Slice())

	// Requests that are refused before they reach a table.
	do(post("", "{}"))
	require.Equal(t, "UnknownOperationException", w.last.Error)
	require.Empty(t, w.last.Operation)
	do(post("Invented", "{}"))
	require.Equal(t, "Invented UnknownOperationException", w.last.Operation+" "+w.last.Error)
	do(post("PutItem", "{"))
	require.Equal(t, "PutItem SerializationException", w.last.Operation+" "+w.last.Error)
	do(httptest.NewRequest(http.MethodGet, "/nothing", nil))
	require.Equal(t, 404, w.last.Status)

	// The server counts the bytes of a chunked body while it reads them.
	r = post("Scan", `{"TableName":"Cats"}`)
	r.ContentLength = -1
	do(r)
	require.Equal(t, "Scan", w.last.Operation)
	require.EqualValues(t, 20, w.last.In)

	// Long errors are compressed for clients that accept it.
	r = post("Scan", `{"TableName":"`+strings.Repeat("x", 5000)+`"}`)
	r.Header.Set("Accept-Encoding", "gzip")
	res = do(r)
	require.Equal(t, "gzip", res.Header().Get("Content-Encoding"))
	require.Equal(t, "ValidationException", w.last.Error)
	require.EqualValues(t, res.Body.Len(), w.last.Out)
}

// A bodyWatcher is a watcher that asks for request bodies.
type bodyWatcher struct{ watcher }

func (*bodyWatcher) RequestBytes() int { return 100 }

// TestRequestBytes tests that an observer with RequestBytes gets the bodies of requests as they were sent, and also
// bodies for calls without HTTP. The database does not keep long bodies, nor those that no observer asks for.
func TestRequestBytes(t *testing.T) {
	t.Parallel()
	var k bodyWatcher
	var w watcher
	db, err := sortkey.Open(sortkey.Options{Observer: &k})
	require.NoError(t, err)
	defer db.Close()
	defer db.Observe(&w)()
	send := func(operation, body string) string {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/x-amz-json-1.0")
		r.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
		server.New(db, server.Options{}).ServeHTTP(httptest.NewRecorder(), r)
		return string(k.last.Request)
	}
	const scan = ` {"TableName": "Cats", "Limit": 5}`
	require.Equal(t, scan, send("Scan", scan))
	require.Equal(t, `{"Limit": "x"`, send("Scan", `{"Limit": "x"`), "no JSON")
	require.Empty(t, send("Scan", `{"TableName": "`+strings.Repeat("x", 100)+`"}`))
	send("CreateTable", `{"TableName": "Cats", "BillingMode": "PAY_PER_REQUEST", "AttributeDefinitions":`+
		`[{"AttributeName": "PK", "AttributeType": "S"}], "KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}]}`)
	_, err = sortkey.Table[struct {
		PK string `dynamodbav:"PK"`
	}](db, "Cats").Get(t.Context(), "a")
	require.ErrorIs(t, err, sortkey.ErrNotFound)
	require.Equal(t, "GetItem", k.last.Operation)
	require.JSONEq(t, `{"TableName": "Cats", "Key": {"PK": {"S": "a"}}, "ConsistentRead": false}`,
		string(k.last.Request))
}
