package fuzz_test

import (
	"encoding/json"
	"maps"
)

// write puts or deletes one item, sometimes with a condition. It returns the id
// of the item.
func (w *world) write(m *model) string {
	if !w.often(35) {
		it := w.newItem(m)
		if bad := w.wrong(m, it); bad != nil && w.often(8) {
			w.refuse("PutItem", map[string]any{"TableName": m.name, "Item": bad.wire()}, "ValidationException")
			return ""
		}
		return w.writeItem(m, "PutItem", "Item", it, it)
	}
	return w.writeItem(m, "DeleteItem", "Key", w.newKey(m), nil)
}

// writeItem replaces the item with the key in arg by it, or deletes it if it is
// nil, and compares the answer with the model's.
func (w *world) writeItem(m *model, op, param string, arg, it item) string {
	id := m.id(arg)
	old := m.items[id]
	in := map[string]any{"TableName": m.name, param: arg.wire(), "ReturnConsumedCapacity": "INDEXES", "ReturnValues": "ALL_OLD"}
	if w.often(30) {
		e := &expression{draw: w.draw}
		cond := w.newTest(m, append(append([]string{}, keyAttributes...), payloads...), 2)
		in["ConditionExpression"] = e.test(cond)
		e.add(in)
		if !cond.eval(old) {
			in["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
			w.refuse(op, in, "ConditionalCheckFailedException")
			var failed struct{ Item map[string]json.RawMessage }
			if err := json.Unmarshal(w.buf, &failed); err != nil || w.item(failed.Item).canon() != old.canon() {
				w.Fatalf("the failed condition shows %v, want %v", w.item(failed.Item).canon(), old.canon())
			}
			return id
		}
	}
	var out struct {
		Attributes       map[string]json.RawMessage
		ConsumedCapacity *capacity
	}
	w.must(op, in, &out)
	if got := w.item(out.Attributes); got.canon() != old.canon() {
		w.Fatalf("ALL_OLD is %s, want %s", got.canon(), old.canon())
	}
	w.checkUnits(out.ConsumedCapacity, m.name, m.writes(old, it))
	m.set(id, it)
	return id
}

func (m *model) set(id string, it item) {
	if it == nil {
		delete(m.items, id)
	} else {
		m.items[id] = it
	}
}

// batchWrite puts and deletes several items of all tables at once. Sometimes
// one of them is wrong, and then nothing may change.
func (w *world) batchWrite() {
	requests := map[string][]any{}
	changes := map[*model]map[string]item{}
	units := map[string]map[string]float64{}
	refused := false
	for range 1 + w.IntN(25) {
		m := pick(w.draw, w.tables)
		if changes[m] == nil {
			changes[m], units[m.name] = map[string]item{}, map[string]float64{}
		}
		var it item
		key := w.newKey(m)
		if w.often(70) {
			it = w.newItem(m)
			key = it
		}
		id := m.id(key)
		if _, twice := changes[m][id]; twice {
			if !w.often(5) {
				continue
			}
			refused = true
		}
		changes[m][id] = it
		for part, n := range m.writes(m.items[id], it) {
			units[m.name][part] += n
		}
		if it == nil {
			requests[m.name] = append(requests[m.name], map[string]any{"DeleteRequest": map[string]any{"Key": key.wire()}})
			continue
		}
		if bad := w.wrong(m, it); bad != nil && w.often(1) {
			it, refused = bad, true
		}
		requests[m.name] = append(requests[m.name], map[string]any{"PutRequest": map[string]any{"Item": it.wire()}})
	}
	in := map[string]any{"RequestItems": requests, "ReturnConsumedCapacity": "INDEXES"}
	if refused {
		w.refuse("BatchWriteItem", in, "ValidationException")
		return
	}
	var out struct {
		UnprocessedItems map[string]json.RawMessage
		ConsumedCapacity []*capacity
	}
	w.must("BatchWriteItem", in, &out)
	if out.UnprocessedItems == nil || len(out.UnprocessedItems) > 0 {
		w.Fatalf("UnprocessedItems is %v", out.UnprocessedItems)
	}
	if len(out.ConsumedCapacity) != len(units) {
		w.Fatalf("%d ConsumedCapacity of %d tables", len(out.ConsumedCapacity), len(units))
	}
	for _, got := range out.ConsumedCapacity {
		w.checkUnits(got, got.TableName, units[got.TableName])
	}
	for m, items := range changes {
		for id, it := range items {
			m.set(id, it)
		}
	}
}

// get reads one item.
func (w *world) get(m *model) {
	key := w.newKey(m)
	want := m.items[m.id(key)]
	consistent := w.often(50)
	var out struct {
		Item             map[string]json.RawMessage
		ConsumedCapacity *capacity
	}
	w.must("GetItem", map[string]any{"TableName": m.name, "Key": key.wire(), "ConsistentRead": consistent, "ReturnConsumedCapacity": "INDEXES"}, &out)
	if got := w.item(out.Item); got.canon() != want.canon() {
		w.Fatalf("the item is %s, want %s", got.canon(), want.canon())
	}
	w.checkUnits(out.ConsumedCapacity, m.name, map[string]float64{"": readUnits(want.size(), consistent)})
}

// batchGet reads several items of all tables at once.
func (w *world) batchGet() {
	requests := map[string]map[string]any{}
	want := map[string]map[string]bool{}
	seen := map[string]bool{}
	for range 1 + w.IntN(20) {
		m := pick(w.draw, w.tables)
		key := w.newKey(m)
		id := m.id(key)
		if seen[m.name+id] {
			continue
		}
		seen[m.name+id] = true
		if requests[m.name] == nil {
			requests[m.name] = map[string]any{"Keys": []any{}}
			want[m.name] = map[string]bool{}
		}
		requests[m.name]["Keys"] = append(requests[m.name]["Keys"].([]any), key.wire())
		if it := m.items[id]; it != nil {
			want[m.name][it.canon()] = true
		}
	}
	var out struct {
		Responses       map[string][]map[string]json.RawMessage
		UnprocessedKeys map[string]json.RawMessage
	}
	w.must("BatchGetItem", map[string]any{"RequestItems": requests}, &out)
	got := map[string]map[string]bool{}
	for name, items := range out.Responses {
		got[name] = map[string]bool{}
		for _, it := range items {
			got[name][w.item(it).canon()] = true
		}
		if len(got[name]) != len(items) || !maps.Equal(got[name], want[name]) {
			w.Fatalf("BatchGetItem of %s found %v, want %v", name, got[name], want[name])
		}
	}
	if len(got) != len(want) || out.UnprocessedKeys == nil || len(out.UnprocessedKeys) > 0 {
		w.Fatalf("BatchGetItem answers for %d tables, want %d; unprocessed %v", len(got), len(want), out.UnprocessedKeys)
	}
}
