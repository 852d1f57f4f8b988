package api_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sortkey/sortkey/internal/wire"
	"github.com/stretchr/testify/require"

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

// Source for the names, and for Message or message: dynalite test/helpers.js and connection.js; the service model.
func TestErrorJSON(t *testing.T) {
	for _, tt := range []struct {
		err    *wire.Error
		status int
		want   string
	}{
		{
			wire.NewError("ResourceNotFoundException", "Requested resource not found"), 400,
			`{"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException",` +
				`"message":"Requested resource not found"}`,
		},
		{
			wire.Validation(`a "b"`), 400,
			`{"__type":"com.amazon.coral.validate#ValidationException","message":"a \"b\""}`,
		},
		{wire.Serialization("x"), 400, `{"__type":"com.amazon.coral.service#SerializationException","Message":"x"}`},
		{wire.UnknownOperation(), 400, `{"__type":"com.amazon.coral.service#UnknownOperationException"}`},
		{wire.AccessDenied("no"), 400, `{"__type":"com.amazon.coral.service#AccessDeniedException","Message":"no"}`},
		{
			wire.NewError("InternalServerError", "x"), 500,
			`{"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError","message":"x"}`,
		},
		{
			wire.NewError("IdempotentParameterMismatchException", "x"), 400,
			`{"__type":"com.amazonaws.dynamodb.v20120810#IdempotentParameterMismatchException","Message":"x"}`,
		},
		{
			wire.ConditionalCheckFailed(nil), 400,
			`{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException","message":"The conditional ` +
				`request failed"}`,
		},
		{
			wire.ConditionalCheckFailed(mustItem(t, `{"a":{"S":"x"}}`)), 400,
			`{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException","message":"The conditional ` +
				`request failed","Item":{"a":{"S":"x"}}}`,
		},
		{
			wire.TransactionCanceled([]wire.CancellationReason{
				{Code: new("None")},
				{Code: new("ConditionalCheckFailed"), Message: new("The conditional request failed")},
			}), 400,
			`{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","Message":"Transaction ` +
				`cancelled, please refer cancellation reasons for specific reasons [None, ` +
				`ConditionalCheckFailed]","CancellationReasons":[{"Code":"None"},{"Code":"ConditionalCheckFailed",` +
				`"Message":"The conditional request failed"}]}`,
		},
		{
			&wire.Error{
				Code: "ThrottlingException", Status: 400, Message: "slow",
				Throttling: []wire.ThrottlingReason{{Reason: new("r")}},
			}, 400,
			`{"__type":"com.amazon.coral.availability#ThrottlingException","message":"slow",` +
				`"throttlingReasons":[{"reason":"r"}]}`,
		},
	} {
		if got := string(tt.err.AppendJSON(nil)); got != tt.want || tt.err.Status != tt.status {
			t.Errorf("%v: status %d\n got %s\nwant %s", tt.err, tt.err.Status, got, tt.want)
		}
	}
}

func TestOps(t *testing.T) {
	for _, op := range wire.Operations() {
		if got, ok := wire.Lookup(op.Target()); !ok || got != op {
			t.Errorf("Lookup(%s) = %v, %v", op.Target(), got, ok)
		}
	}
	for _, target := range []string{
		"", "PutItem", "DynamoDB_20120810.", "DynamoDB_20120810.ListTable", "DynamoDB_20120810.ListStreams",
	} {
		if op, ok := wire.Lookup(target); ok {
			t.Errorf("Lookup(%q) = %v", target, op)
		}
	}
	if wire.Op(0).Target() != "" || wire.Op(200).String() != "UnknownOperation" {
		t.Error("the zero Op is an operation")
	}
}

// modelOperations returns the names of all operations of the service.
func modelOperations(t *testing.T) (names []string) {
	t.Helper()
	for _, file := range []string{"dynamodb.json", "dynamodbstreams.json"} {
		data, err := os.ReadFile(filepath.Join("..", "apigen", "model", file))
		require.NoError(t, err)
		var model struct{ Operations map[string]any }
		require.NoError(t, json.Unmarshal(data, &model))
		names = slices.AppendSeq(names, maps.Keys(model.Operations))
	}
	return names
}

// TestEveryOperation checks that the service implements every operation of the service model, and that
// docs/fidelity.md names each, the last of several with the same ending in full: "Enable-, Disable- and
// DescribeKinesisStreamingDestination".
func TestEveryOperation(t *testing.T) {
	e := newEndpoint(t)
	answered := 0
	page, err := os.ReadFile("../../docs/fidelity.md")
	require.NoError(t, err)
	for _, name := range modelOperations(t) {
		short := strings.TrimSuffix(name, "KinesisStreamingDestination")
		require.Regexp(t, `\b(`+name+`\b|`+short+`-)`, string(page))
	}
	for _, op := range wire.Operations() {
		if e.svc.Implements(op) && slices.Contains(modelOperations(t), op.String()) {
			answered++
		}
	}
	if n := len(modelOperations(t)); answered != n || n != 66 {
		t.Errorf("%d of %d operations of the model are answered, want 66", answered, n)
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
		{
			arn + "Orders/index/ByDate",
			api.TableRef{Name: "Orders", Index: "ByDate", Region: "eu-west-1", Account: "123456789012"}, true,
		},
		{
			arn + "Orders/stream/2026-01-02T15:04:05.000",
			api.TableRef{
				Name: "Orders", Stream: "2026-01-02T15:04:05.000", Region: "eu-west-1", Account: "123456789012",
			}, true,
		},
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
