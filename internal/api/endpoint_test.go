package api_test

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sortkey/sortkey/internal/api"
	"github.com/sortkey/sortkey/internal/table/life"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/store/memory"
)

// An endpoint is a service for tests. Its tables H and R are those of dynalite's test/helpers.js. H has the key a. R
// has the key a, b, the local indexes index1 (c) and index2 (d, projecting c), and the global indexes index3 (c) and
// index4 (c, d, projecting e).
type endpoint struct {
	t   *testing.T
	svc *api.Service
	db  *life.DB

	mu  sync.Mutex
	now time.Time
}

const tableH = `{"TableName":"HHH","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"a",` +
	`"AttributeType":"S"}],"KeySchema":[{"AttributeName":"a","KeyType":"HASH"}]}`

const tableR = `{"TableName":"RRR","BillingMode":"PAY_PER_REQUEST",
	"AttributeDefinitions":[{"AttributeName":"a","AttributeType":"S"},{"AttributeName":"b","AttributeType":"S"},
	{"AttributeName":"c","AttributeType":"S"},{"AttributeName":"d","AttributeType":"S"}],
	"KeySchema":[{"AttributeName":"a","KeyType":"HASH"},{"AttributeName":"b","KeyType":"RANGE"}],
	"LocalSecondaryIndexes":[
		{"IndexName":"index1","KeySchema":[{"AttributeName":"a","KeyType":"HASH"},{"AttributeName":"c",
		"KeyType":"RANGE"}],"Projection":{"ProjectionType":"ALL"}},
		{"IndexName":"index2","KeySchema":[{"AttributeName":"a","KeyType":"HASH"},{"AttributeName":"d",
		"KeyType":"RANGE"}],"Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":["c"]}}],
	"GlobalSecondaryIndexes":[
		{"IndexName":"index3","KeySchema":[{"AttributeName":"c","KeyType":"HASH"}],
		"Projection":{"ProjectionType":"ALL"}},
		{"IndexName":"index4","KeySchema":[{"AttributeName":"c","KeyType":"HASH"},{"AttributeName":"d",
		"KeyType":"RANGE"}],"Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":["e"]}}]}`

const wrongValues = "One or more parameter values were invalid: "

func newEndpoint(t *testing.T, tables ...string) *endpoint {
	t.Helper()
	st := memory.Open()
	t.Cleanup(func() { st.Close() })
	db, err := life.Open(context.Background(), st)
	if err != nil {
		t.Fatal(err)
	}
	e := &endpoint{t: t, db: db, now: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}
	db.Clock = func() time.Time {
		e.mu.Lock()
		defer e.mu.Unlock()
		return e.now
	}
	e.svc = api.New(db, api.Options{Clock: db.Clock})
	for _, body := range tables {
		e.answer("CreateTable", body)
	}
	return e
}

// sleep moves the clock.
func (e *endpoint) sleep(d time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.now = e.now.Add(d)
}

func (e *endpoint) serve(op, body string) (string, int) {
	target := "DynamoDB_20120810." + op
	for _, known := range wire.Operations() {
		if known.String() == op {
			target = known.Target() // also of a stream
		}
	}
	out, status := e.svc.Serve(context.Background(), target, []byte(body), nil)
	return string(out), status
}

// answer sends a request that must succeed, and returns the response.
func (e *endpoint) answer(op, body string) string {
	e.t.Helper()
	out, status := e.serve(op, body)
	if status != 200 {
		e.t.Errorf("%s %s\n got %d %s", op, short(body), status, out)
	}
	return out
}

// want sends a request that must succeed, and compares the response with want as JSON.
func (e *endpoint) want(op, body, want string) {
	e.t.Helper()
	if got := e.answer(op, body); !sameJSON(e.t, got, want) {
		e.t.Errorf("%s %s\n got %s\nwant %s", op, short(body), short(got), short(want))
	}
}

// refuse sends a request that must fail. want is the exception and its text, as in "ValidationException: text".
func (e *endpoint) refuse(op, body, want string) {
	e.t.Helper()
	out, status := e.serve(op, body)
	if got := fault(out); status != 400 || got != want {
		e.t.Errorf("%s %s\n got %d %s\nwant 400 %s", op, short(body), status, short(got), short(want))
	}
}

// invalid sends a request that must fail with a ValidationException.
func (e *endpoint) invalid(op, body, text string) {
	e.t.Helper()
	e.refuse(op, body, "ValidationException: "+text)
}

// cancelled sends a transaction that must be cancelled with the given reasons, in JSON.
func (e *endpoint) cancelled(op, body, reasons string) {
	e.t.Helper()
	out, status := e.serve(op, body)
	var got struct {
		Type    string `json:"__type"`
		Message string
		Reasons json.RawMessage `json:"CancellationReasons"`
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil || status != 400 ||
		!strings.HasSuffix(got.Type, "#TransactionCanceledException") {
		e.t.Errorf("%s %s\n got %d %s\nwant to be cancelled", op, short(body), status, out)
		return
	}
	if !sameJSON(e.t, string(got.Reasons), reasons) {
		e.t.Errorf("%s %s\n got %s\nwant %s", op, short(body), got.Reasons, reasons)
	}
	var codes []struct{ Code string }
	if err := json.Unmarshal(got.Reasons, &codes); err != nil {
		e.t.Fatal(err)
	}
	list := make([]string, len(codes))
	for i, c := range codes {
		list[i] = c.Code
	}
	if want := "Transaction cancelled, please refer cancellation reasons for specific reasons [" +
		strings.Join(list, ", ") + "]"; got.Message != want {
		e.t.Errorf("%s %s\n got %s\nwant %s", op, short(body), got.Message, want)
	}
}

// item compares the item with a key to want, which is {} if there must be none.
func (e *endpoint) item(name, key, want string) {
	e.t.Helper()
	if want != "{}" {
		want = `{"Item":` + want + `}`
	}
	e.want("GetItem", `{"TableName":"`+name+`","Key":`+key+`}`, want)
}

// fault returns the exception and text of an error.
func fault(out string) string {
	var e struct {
		Type    string `json:"__type"`
		Message string
	}
	if err := json.Unmarshal([]byte(out), &e); err != nil {
		return out
	}
	_, name, _ := strings.Cut(e.Type, "#")
	if e.Message == "" {
		return name
	}
	return name + ": " + e.Message
}

func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y any
	if err := json.Unmarshal([]byte(a), &x); err != nil {
		t.Fatalf("%s: %v", a, err)
	}
	if err := json.Unmarshal([]byte(b), &y); err != nil {
		t.Fatalf("%s: %v", b, err)
	}
	return reflect.DeepEqual(x, y)
}

// short is s, or its ends.
func short(s string) string {
	if len(s) < 1500 {
		return s
	}
	return s[:700] + " … " + s[len(s)-700:]
}
