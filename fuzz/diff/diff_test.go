package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestDifference(t *testing.T) {
	const invalid = `{"__type":"com.amazon.coral.validate#ValidationException","message":"%"}`
	refusal := func(text string) string { return strings.Replace(invalid, "%", text, 1) }
	for _, tt := range []struct {
		name, op     string
		ours, theirs string
		status       [2]int
		want         string
	}{
		{"equal", "GetItem", `{"Item":{"a":{"S":"x"}}}`, `{ "Item": {"a": {"S": "x"}} }`, [2]int{200, 200}, ""},
		{"sets have no order", "GetItem", `{"Item":{"a":{"SS":["x","y"]}}}`, `{"Item":{"a":{"SS":["y","x"]}}}`, [2]int{200, 200}, ""},
		{"lists have", "GetItem", `{"Item":{"a":{"L":[{"S":"x"},{"S":"y"}]}}}`, `{"Item":{"a":{"L":[{"S":"y"},{"S":"x"}]}}}`, [2]int{200, 200}, "body"},
		{"scans have no order", "Scan", `{"Items":[{"a":{"S":"x"}},{"a":{"S":"y"}}]}`, `{"Items":[{"a":{"S":"y"}},{"a":{"S":"x"}}]}`, [2]int{200, 200}, ""},
		{"queries have", "Query", `{"Items":[{"a":{"S":"x"}},{"a":{"S":"y"}}]}`, `{"Items":[{"a":{"S":"y"}},{"a":{"S":"x"}}]}`, [2]int{200, 200}, "body"},
		{"units are numbers", "Query", `{"ConsumedCapacity":{"CapacityUnits":1.0}}`, `{"ConsumedCapacity":{"CapacityUnits":1}}`, [2]int{200, 200}, ""},
		{"volatile", "DescribeTable", `{"Table":{"TableId":"1","TableName":"t"}}`, `{"Table":{"TableId":"2","TableName":"t"}}`, [2]int{200, 200}, ""},
		{"a text", "PutItem", refusal("a"), refusal("b"), [2]int{400, 400}, "text"},
		{"an exception", "PutItem", `{"__type":"x#A"}`, `{"__type":"y#B"}`, [2]int{400, 400}, "outcome"},
		{"its namespace", "PutItem", `{"__type":"x#A"}`, `{"__type":"y#A"}`, [2]int{400, 400}, ""},
		{"Message and message", "PutItem", `{"__type":"A","Message":"m"}`, `{"__type":"A","message":"m"}`, [2]int{400, 400}, ""},
		{"a status", "PutItem", `{}`, refusal("a"), [2]int{200, 400}, "outcome"},
		{"no JSON", "PutItem", refusal("a"), `<html>`, [2]int{400, 500}, "outcome"},
	} {
		ours, theirs := parse(tt.op, tt.status[0], []byte(tt.ours)), parse(tt.op, tt.status[1], []byte(tt.theirs))
		if got, signature := difference(tt.op, ours, theirs); got != tt.want {
			t.Errorf("%s: difference = %q (%s), want %q", tt.name, got, signature, tt.want)
		}
	}
}

func TestSignatureLeavesOutTheRequest(t *testing.T) {
	refusal := func(s string) answer {
		return parse("PutItem", 400, []byte(`{"__type":"ValidationException","message":"Invalid FilterExpression: Syntax error; token: `+s+`"}`))
	}
	_, a := difference("Scan", refusal("x"), answer{status: 200})
	_, b := difference("Scan", refusal("y"), answer{status: 200})
	if a != b {
		t.Errorf("signatures %q and %q, want one", a, b)
	}
}

// TestForgive: what a peer's leniencies take out no longer shows, and the rest
// still does.
func TestForgive(t *testing.T) {
	for _, tt := range []struct {
		name, ours, theirs string
		equal              bool
		reasons            int
	}{
		{"notation", `{"Items":[{"n":{"N":"1000"}}]}`, `{"Items":[{"n":{"N":"1e3"}}]}`, true, 1},
		{"notation in sets", `{"Items":[{"n":{"NS":["1000","2"]}}]}`, `{"Items":[{"n":{"NS":["2","1E+3"]}}]}`, true, 1},
		{"another number", `{"Items":[{"n":{"N":"1000"}}]}`, `{"Items":[{"n":{"N":"1001"}}]}`, false, 0},
		{"a string like a number", `{"Items":[{"n":{"S":"1000"}}]}`, `{"Items":[{"n":{"S":"1e3"}}]}`, false, 0},
		{"capacity", `{"Count":1}`, `{"Count":1,"ConsumedCapacity":{"CapacityUnits":1}}`, true, 1},
		{"capacity hides nothing else", `{"Count":1}`, `{"Count":2,"ConsumedCapacity":{"CapacityUnits":1}}`, false, 1},
	} {
		ours, theirs := parse("Query", 200, []byte(tt.ours)), parse("Query", 200, []byte(tt.theirs))
		reasons, x, y := forgive("moto", "Query", ours, theirs)
		if got := text(x.body) == text(y.body); got != tt.equal {
			t.Errorf("%s: equal = %v, want %v: %s and %s", tt.name, got, tt.equal, text(x.body), text(y.body))
		}
		if tt.equal && len(reasons) != tt.reasons {
			t.Errorf("%s: reasons %q, want %d", tt.name, reasons, tt.reasons)
		}
		if text(ours.body) != text(parse("Query", 200, []byte(tt.ours)).body) {
			t.Errorf("%s: forgive changed the answer", tt.name)
		}
	}
}

func sequence(seed uint64, n int) []string {
	g := newGenerator(seed)
	out := make([]string, n)
	for i := range out {
		req := g.next()
		out[i] = req.op + " " + text(req.body)
	}
	return out
}

func TestSameSeedSameSequence(t *testing.T) {
	a := sequence(7, 2_000)
	if !slices.Equal(a, sequence(7, 2_000)) {
		t.Error("one seed gives two sequences")
	}
	if slices.Equal(a, sequence(8, 2_000)) {
		t.Error("two seeds give one sequence")
	}
	ops := map[string]int{}
	for _, s := range a {
		op, _, _ := strings.Cut(s, " ")
		ops[op]++
	}
	for _, op := range []string{
		"CreateTable", "PutItem", "GetItem", "DeleteItem", "UpdateItem", "Query", "Scan",
		"BatchWriteItem", "BatchGetItem", "TransactWriteItems", "DescribeTable", "ListTables",
	} {
		if ops[op] == 0 {
			t.Errorf("no %s in 2,000 requests", op)
		}
	}
}

// TestSpoil: a spoiled request is JSON, most often another one, and the
// original is as it was.
func TestSpoil(t *testing.T) {
	g := newGenerator(3)
	for len(g.tables) == 0 {
		g.next()
	}
	changed := 0
	const n = 2_000
	for range n {
		body := g.update(g.tables[0]).body
		before := text(body)
		spoiled, err := json.Marshal(g.spoil(body))
		if err != nil || !json.Valid(spoiled) {
			t.Fatalf("spoil(%s) = %s, %v", before, spoiled, err)
		}
		if text(body) != before {
			t.Fatalf("spoil changed %s to %s", before, text(body))
		}
		if string(spoiled) != before {
			changed++
		}
	}
	if changed < n*8/10 {
		t.Errorf("%d of %d spoiled requests differ, want most", changed, n)
	}
}

func TestWritten(t *testing.T) {
	item := object{"pk": object{"S": "a"}, "v": object{"N": "1"}}
	key := object{"pk": object{"S": "b"}}
	for _, tt := range []struct {
		req  request
		want string
	}{
		{request{op: "PutItem", body: object{"TableName": "t", "Item": item}}, `[{"Key":{"pk":{"S":"a"}},"TableName":"t"}]`},
		{request{op: "UpdateItem", body: object{"TableName": "t", "Key": key}}, `[{"Key":{"pk":{"S":"b"}},"TableName":"t"}]`},
		{request{op: "BatchWriteItem", body: object{"RequestItems": object{"t": list{object{"DeleteRequest": object{"Key": key}}}}}}, `[{"Key":{"pk":{"S":"b"}},"TableName":"t"}]`},
		{request{op: "TransactWriteItems", body: object{"TransactItems": list{object{"Put": object{"TableName": "t", "Item": item}}}}}, `[{"Key":{"pk":{"S":"a"}},"TableName":"t"}]`},
		{request{op: "PutItem", body: object{"Item": "x"}}, `null`},
		{request{op: "TransactWriteItems", body: object{"TransactItems": list{object{"Put": 7}, "x"}}}, `null`},
		{request{op: "Query", body: object{"TableName": "t"}}, `null`},
	} {
		if got := text(written(tt.req)); got != tt.want {
			t.Errorf("written(%v) = %s, want %s", tt.req, got, tt.want)
		}
	}
}

// TestKnown: every reason is said once, and names a side.
func TestKnown(t *testing.T) {
	for peer, list := range knownDifferences {
		seen := map[string]bool{}
		for _, k := range list {
			if seen[k.reason] {
				t.Errorf("%s: %q twice", peer, k.reason)
			}
			seen[k.reason] = true
			if k.match(&pair{req: request{op: "GetItem", body: object{}}, kind: "body", signature: "GetItem: +Item"}) {
				t.Errorf("%s: %q explains an item that only one side has", peer, k.reason)
			}
		}
	}
}
