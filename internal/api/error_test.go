package api_test

import (
	"strings"
	"testing"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/api"
)

func mustItem(t testing.TB, text string) attr.Item {
	t.Helper()
	it, err := attr.ParseItem([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return it
}

// Source of the names and of Message or message: dynalite test/helpers.js and
// connection.js; the service model.
func TestErrorJSON(t *testing.T) {
	for _, tt := range []struct {
		err    *api.Error
		status int
		want   string
	}{
		{
			api.ResourceNotFound("Requested resource not found"), 400,
			`{"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException","message":"Requested resource not found"}`,
		},
		{api.Validation(`a "b"`), 400, `{"__type":"com.amazon.coral.validate#ValidationException","message":"a \"b\""}`},
		{api.Serialization("x"), 400, `{"__type":"com.amazon.coral.service#SerializationException","Message":"x"}`},
		{api.UnknownOperation(), 400, `{"__type":"com.amazon.coral.service#UnknownOperationException"}`},
		{api.AccessDenied("no"), 400, `{"__type":"com.amazon.coral.service#AccessDeniedException","Message":"no"}`},
		{api.InternalServerError("x"), 500, `{"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError","message":"x"}`},
		{api.IdempotentParameterMismatch("x"), 400, `{"__type":"com.amazonaws.dynamodb.v20120810#IdempotentParameterMismatchException","Message":"x"}`},
		{
			api.ConditionalCheckFailed(nil), 400,
			`{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException","message":"The conditional request failed"}`,
		},
		{
			api.ConditionalCheckFailed(mustItem(t, `{"a":{"S":"x"}}`)), 400,
			`{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException","message":"The conditional request failed","Item":{"a":{"S":"x"}}}`,
		},
		{
			api.TransactionCanceled([]api.CancellationReason{{Code: new("None")}, {Code: new("ConditionalCheckFailed"), Message: new("The conditional request failed")}}), 400,
			`{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","Message":"Transaction cancelled, please refer cancellation reasons ` +
				`for specific reasons [None, ConditionalCheckFailed]","CancellationReasons":[{"Code":"None"},{"Code":"ConditionalCheckFailed","Message":"The conditional request failed"}]}`,
		},
		{
			&api.Error{Code: "ThrottlingException", Status: 400, Message: "slow", Throttling: []api.ThrottlingReason{{Reason: new("r")}}}, 400,
			`{"__type":"com.amazon.coral.availability#ThrottlingException","message":"slow","throttlingReasons":[{"reason":"r"}]}`,
		},
	} {
		if got := string(tt.err.AppendJSON(nil)); got != tt.want || tt.err.Status != tt.status {
			t.Errorf("%v: status %d\n got %s\nwant %s", tt.err, tt.err.Status, got, tt.want)
		}
	}
}

func TestOps(t *testing.T) {
	ops := api.Operations()
	if len(ops) != 61 {
		t.Errorf("there are %d operations, want 61", len(ops))
	}
	for _, op := range ops {
		got, ok := api.Lookup(op.Target())
		if !ok || got != op {
			t.Errorf("Lookup(%s) = %v, %v", op.Target(), got, ok)
		}
		if op.NewInput() == nil {
			t.Errorf("%v has no input", op)
		}
	}
	for _, target := range append(api.NewerOperations(), "", "PutItem", "DynamoDB_20120810.", "DynamoDB_20120810.ListTable", "DynamoDB_20120810.ListStreams") {
		if op, ok := api.Lookup(target); ok {
			t.Errorf("Lookup(%q) = %v", target, op)
		}
	}
	if op, _ := api.Lookup("DynamoDBStreams_20120810.ListStreams"); op != api.OpListStreams {
		t.Errorf("ListStreams is %v", op)
	}
	if api.Op(0).NewInput() != nil || api.Op(0).Target() != "" || api.Op(200).String() != "UnknownOperation" {
		t.Error("the zero Op is an operation")
	}
}

// TestUnanswered: an operation is answered, or its error says what there is
// instead.
func TestUnanswered(t *testing.T) {
	e := newEndpoint(t)
	names := api.NewerOperations()
	for _, op := range api.Operations() {
		if e.svc.Implements(op) {
			if got := api.Unanswered(op.Target()); got.Message != "" {
				t.Errorf("%v is answered and said to be absent: %s", op, got.Message)
			}
			continue
		}
		names = append(names, op.String())
	}
	for _, name := range names {
		got := fault(e.mustFail(name))
		if !strings.HasPrefix(got, "UnknownOperationException: Sortkey does not answer "+name+", it has no ") {
			t.Errorf("%s: %s", name, got)
		}
	}
	for _, name := range []string{"", "ListTable", "Execute"} {
		if got := fault(e.mustFail(name)); got != "UnknownOperationException" {
			t.Errorf("%q: %s", name, got)
		}
	}
}

func (e *endpoint) mustFail(op string) string {
	e.t.Helper()
	out, status := e.serve(op, "{}")
	if status != 400 {
		e.t.Errorf("%s answers %d %s", op, status, out)
	}
	return out
}

func TestParseTable(t *testing.T) {
	const arn = "arn:aws:dynamodb:eu-west-1:123456789012:table/"
	for _, tt := range []struct {
		in   string
		want api.TableRef
		ok   bool
	}{
		{"Orders", api.TableRef{Name: "Orders"}, true},
		{arn + "Orders", api.TableRef{Name: "Orders", Region: "eu-west-1", Account: "123456789012"}, true},
		{arn + "Orders/index/ByDate", api.TableRef{Name: "Orders", Index: "ByDate", Region: "eu-west-1", Account: "123456789012"}, true},
		{arn + "Orders/stream/2026-01-02T15:04:05.000", api.TableRef{Name: "Orders", Stream: "2026-01-02T15:04:05.000", Region: "eu-west-1", Account: "123456789012"}, true},
		{arn + "Orders/index/a", api.TableRef{}, false},
		{arn + "Orders/other/abc", api.TableRef{}, false},
		{arn + "a!c", api.TableRef{}, false},
		{arn, api.TableRef{}, false},
		{"arn:", api.TableRef{}, false},
		{"arn:aws:s3:eu-west-1:123456789012:table/Orders", api.TableRef{}, false},
	} {
		got, err := api.ParseTable(tt.in)
		if got != tt.want || (err == nil) != tt.ok {
			t.Errorf("ParseTable(%q) = %+v, %v, want %+v", tt.in, got, err, tt.want)
		}
	}
}

func TestARNs(t *testing.T) {
	var a api.ARNs
	for got, want := range map[string]string{
		a.Table("T"):       "arn:aws:dynamodb:us-east-1:000000000000:table/T",
		a.Index("T", "I"):  "arn:aws:dynamodb:us-east-1:000000000000:table/T/index/I",
		a.Stream("T", "L"): "arn:aws:dynamodb:us-east-1:000000000000:table/T/stream/L",
		api.ARNs{Region: "eu", Account: "1"}.Table("T"): "arn:aws:dynamodb:eu:1:table/T",
	} {
		if got != want {
			t.Errorf("ARN is %s, want %s", got, want)
		}
	}
	ref, err := api.ParseTable(a.Table("abc"))
	if err != nil || !a.Local(ref) || (api.ARNs{Region: "eu"}).Local(ref) || !a.Local(api.TableRef{Name: "abc"}) {
		t.Errorf("Local(%+v) is wrong; %v", ref, err)
	}
}
