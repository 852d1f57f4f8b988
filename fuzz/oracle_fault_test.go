package fuzz_test

import (
	"encoding/json"
	"go/parser"
	"go/token"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sortkey/sortkey/internal/tests/proptest"
)

// A plant is a fault that a test injects between the oracle and a correct database.
type plant struct {
	name string
	op   string // start or end of the names of the operations that have the fault
	// ask changes a request and tell changes an answer; either may be nil. They return false if there is nothing to
	// change.
	ask  func(in map[string]any) bool
	tell func(in, out map[string]any) bool
	rare bool // the oracle needs thousands of requests to find it, so only with SORTKEY_LONG
}

// without removes a member from a request or an answer, and reports whether it was there.
func without(doc map[string]any, name string) bool {
	_, has := doc[name]
	delete(doc, name)
	return has
}

// items returns the Items of an answer, or nil if there are fewer than n.
func items(out map[string]any, n int) []any {
	list, _ := out["Items"].([]any)
	if len(list) < n {
		return nil
	}
	return list
}

// plants are faults that real implementations have had, one for each part of the answers and of the database that the
// oracle compares. It must find each of them.
var plants = []plant{
	{name: "a page lacks its last row", op: "Query", tell: func(_, out map[string]any) bool {
		list := items(out, 1)
		if list == nil {
			return false
		}
		out["Items"], out["Count"] = list[:len(list)-1], out["Count"].(float64)-1
		return true
	}},
	{name: "two ties of an index are swapped", rare: true, op: "Query", tell: func(in, out map[string]any) bool {
		list := items(out, 2)
		for i := 1; i < len(list) && in["IndexName"] != nil; i++ {
			a, b := list[i-1].(map[string]any), list[i].(map[string]any)
			differ := func(name string) bool { return !reflect.DeepEqual(a[name], b[name]) }
			if !slices.ContainsFunc(keyAttributes[2:], differ) {
				list[i-1], list[i] = list[i], list[i-1]
				return true
			}
		}
		return false
	}},
	{name: "an index costs nothing", op: "PutItem", tell: func(_, out map[string]any) bool {
		c, _ := out["ConsumedCapacity"].(map[string]any)
		_, has := c["GlobalSecondaryIndexes"]
		delete(c, "GlobalSecondaryIndexes")
		return has
	}},
	{name: "pages end without a place to go on", op: "Query", tell: func(_, out map[string]any) bool {
		return without(out, "LastEvaluatedKey")
	}},
	{name: "a filter is ignored", op: "Scan", ask: func(in map[string]any) bool {
		if in["FilterExpression"] == nil {
			return false
		}
		without(in, "ExpressionAttributeValues")
		if in["ProjectionExpression"] == nil {
			without(in, "ExpressionAttributeNames")
		}
		return without(in, "FilterExpression")
	}},
	{name: "a condition is ignored", op: "DeleteItem", ask: func(in map[string]any) bool {
		without(in, "ExpressionAttributeValues")
		without(in, "ExpressionAttributeNames")
		without(in, "ReturnValuesOnConditionCheckFailure")
		return without(in, "ConditionExpression")
	}},
	{name: "a number keeps its zeros", op: "GetItem", tell: func(_, out map[string]any) bool {
		it, _ := out["Item"].(map[string]any)
		n, _ := it["n"].(map[string]any)
		text, ok := n["N"].(string)
		if ok {
			n["N"] = text + ".0"
		}
		return ok
	}},
	{name: "reasons of a cancellation are swapped", op: "TransactWriteItems", tell: func(_, out map[string]any) bool {
		list, _ := out["CancellationReasons"].([]any)
		slices.Reverse(list)
		return len(list) > 1
	}},
	{name: "an item is lost behind the oracle", op: "PutItem", ask: func(in map[string]any) bool {
		delete(in["Item"].(map[string]any), "d")
		return true
	}},
	{name: "an index has all attributes", op: "UpdateTable", ask: func(in map[string]any) bool {
		updates := in["GlobalSecondaryIndexUpdates"].([]any)
		create, _ := updates[0].(map[string]any)["Create"].(map[string]any)
		if create == nil {
			return false
		}
		create["Projection"] = map[string]any{"ProjectionType": "ALL"}
		return true
	}},
	{name: "the time to live is forgotten", op: "UpdateTimeToLive", ask: func(in map[string]any) bool {
		spec := in["TimeToLiveSpecification"].(map[string]any)
		spec["AttributeName"] = "other"
		return true
	}},
	{name: "a stream lacks a record", rare: true, op: "GetRecords", tell: func(_, out map[string]any) bool {
		list, _ := out["Records"].([]any)
		if len(list) > 1 {
			out["Records"] = list[1:]
		}
		return len(list) > 1
	}},
	{name: "a deleted table is still listed", op: "ListTables", tell: func(_, out map[string]any) bool {
		out["TableNames"] = append(out["TableNames"].([]any), "Table-gone")
		return true
	}},
}

// on returns a copy of an engine that has the fault. It counts in planted how often the fault occurs.
func (p plant) on(e *engine, planted *int) *engine {
	faulty := *e
	faulty.send = func(op string, body []byte) (reply, bool) {
		if op != p.op {
			return e.send(op, body)
		}
		in, err := decode(body)
		if err != nil {
			panic(err)
		}
		if p.ask != nil && p.ask(in) {
			body = marshal(in)
			*planted++
		}
		got, answered := e.send(op, body)
		if out, err := decode(got.body); p.tell != nil && err == nil && p.tell(in, out) {
			got.body = marshal(out)
			*planted++
		}
		return got, answered
	}
	return &faulty
}

// TestOracleFindsFaults injects faults into the answers of a database. The oracle must find each fault, and reduce it
// to a few requests.
func TestOracleFindsFaults(t *testing.T) {
	seed := proptest.Seed()
	for n, p := range plants {
		t.Run(p.name, func(t *testing.T) {
			if p.rare || n >= 3 {
				proptest.NeedLong(t) // these test the oracle, not the database
			}
			t.Parallel()
			planted := 0
			fresh := func() *engine { return p.on(memoryEngine(t), &planted) }
			o := newOracle(seed, fresh())
			defer o.engine.close()
			bad := o.run(500, nil)
			for bad == nil && len(o.sent) < 4000 {
				bad = o.run(500, nil)
			}
			if bad == nil {
				t.Fatalf("not found in %d requests; it was planted %d times", len(o.sent), planted)
			}
			if p.name != plants[0].name && !proptest.Long() {
				return
			}
			short, _ := shorten(o.sent, fresh, 3*time.Minute)
			if len(short) == 0 || len(short) > 12 {
				t.Errorf("%d of %d requests repeat it, want 1 to 12", len(short), len(o.sent))
			}
			t.Logf("found by request %d, and again by %d of them: %s", len(o.sent), len(short), bad.difference)
		})
	}
}

// TestOracleAfterKills makes a killed database lose an acknowledged write, or apply half of a request that it did not
// answer. The oracle must find both.
func TestOracleAfterKills(t *testing.T) {
	const acknowledged = "an acknowledged item"
	for _, loss := range []string{acknowledged, "half of a transaction"} {
		t.Run(loss, func(t *testing.T) {
			o := newOracle(proptest.Seed(), memoryEngine(t))
			defer o.engine.close()
			if bad := o.run(100, nil); bad != nil {
				t.Fatal(o.report(bad, proptest.Seed(), func() *engine { return memoryEngine(t) }))
			}
			m := o.message()
			for m.op != "TransactWriteItems" || !changes(o.service, m) {
				o.check(m, reply{})
				o.engine.answer(m)
				m = o.message()
			}
			if bad := o.recover(m); bad != nil {
				t.Fatalf("without a loss: %s", bad.difference)
			}
			after := o.service.clone()
			m.step(after)
			for name, table := range after.tables {
				for id, it := range table.items {
					old := o.service.tables[name].items[id]
					if changed := old.canon() != it.canon(); changed == (loss == acknowledged) {
						continue // the database may not have executed the message, so there may be nothing to lose
					}
					op, in := "PutItem", map[string]any{"TableName": name, "Item": it.wire()}
					if loss == acknowledged {
						key := it.only(table.keyNames())
						op, in = "DeleteItem", map[string]any{"TableName": name, "Key": key.wire()}
					}
					if fault := o.engine.must(op, in, new(json.RawMessage)); fault != "" {
						t.Fatal(fault)
					}
					if bad := o.recover(m); bad == nil {
						t.Fatalf("not found after %s %s", op, marshal(in))
					}
					return
				}
			}
			t.Fatal("nothing to lose")
		})
	}
}

// changes reports whether a message puts at least two items.
func changes(s *service, m message) bool {
	after := s.clone()
	m.step(after)
	n := 0
	for name, table := range after.tables {
		for id, it := range table.items {
			if s.tables[name].items[id].canon() != it.canon() {
				n++
			}
		}
	}
	return n > 1
}

// TestModelStandsAlone checks that the files that predict answers import nothing of Sortkey.
func TestModelStandsAlone(t *testing.T) {
	for _, name := range []string{
		"choose", "value", "model", "condition", "update", "expression", "oracle_service",
	} {
		f, err := parser.ParseFile(token.NewFileSet(), name+"_test.go", nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range f.Imports {
			if strings.Contains(spec.Path.Value, "sortkey") {
				t.Errorf("%s imports %s", name, spec.Path.Value)
			}
		}
	}
}
