package fuzz_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// A service is the model of a whole database.
type service struct {
	tables map[string]*model
	tokens map[string]used // transactions that were executed, by token
	// counts says that DescribeTable reports exact counts of items.
	counts bool
}

func newService(counts bool) *service {
	return &service{map[string]*model{}, map[string]used{}, counts}
}

// A used is a token with the transaction that used it. If the transaction is repeated, it costs the units of reads.
type used struct {
	body  string
	reads bill
}

// clone returns a copy. A request that changes the copy does not change s.
func (s *service) clone() *service {
	out := &service{map[string]*model{}, maps.Clone(s.tokens), s.counts}
	for name, m := range s.tables {
		c := *m
		c.items = maps.Clone(m.items)
		out.tables[name] = &c
	}
	return out
}

// A message is a request together with its effect on the model. The same message can be sent to several databases and
// applied to several models.
type message struct {
	op   string
	body json.RawMessage
	// step applies the request to the model, and returns the answer that the service should give.
	step func(*service) prediction
	// keys are the keys of the items that the request may change, by table, or the items that it puts.
	keys map[string][]item
	// numbers are the numbers of the tables that the message was made for, by name.
	numbers map[string]int
	// refused says that the service refuses the request. If the table does not exist either, it is not predicted
	// which of the two faults the service reports.
	refused bool
	// separate says that the request is not atomic: after a kill, the service may have executed only a part of it.
	separate bool
}

// fits reports whether the tables are still those that the message was made for. Other tables with the same names may
// have other keys.
func (m message) fits(s *service) bool {
	for name, number := range m.numbers {
		t := s.tables[name]
		other := t != nil && t.number != number || t == nil && m.refused
		if other && bytes.Contains(m.body, marshal(name)) {
			return false
		}
	}
	return true
}

// administers reports whether the message changes tables.
func (m message) administers() bool {
	return slices.Contains([]string{"CreateTable", "UpdateTable", "DeleteTable", "UpdateTimeToLive"}, m.op)
}

// A prediction is the answer that the service should give.
type prediction struct {
	fault string
	body  map[string]any
	// some says that the answer may have more members than body.
	some bool
	// unordered says that the order of Items is not defined.
	unordered bool
}

func refusal(fault string) prediction { return prediction{fault: fault} }

const (
	noSuchTable   = "ResourceNotFoundException"
	invalid       = "ValidationException"
	conditionFail = "ConditionalCheckFailedException"
)

// A write is one change of one item, alone or in a batch or transaction.
type write struct {
	verb    string // Put, Delete, Update or ConditionCheck
	table   string
	item    item // to put, or the key
	when    *test
	actions []action // nil for an Update without an expression
	returns string   // ReturnValues
	shows   bool     // ReturnValuesOnConditionCheckFailure is ALL_OLD
}

// valid reports whether the table and its indexes accept the item. All attributes must fit, also those that were
// written before an index was created.
func (m *model) valid(it item) bool {
	for i, name := range m.keyNames() {
		if !fits(it[name], m.kinds[name], i == 0) {
			return false
		}
	}
	if m.oversize(it) {
		return false
	}
	for _, ix := range m.indexes {
		for i, name := range slices.Concat(ix.hash, ix.sort) {
			v, has := it[name]
			if has && !fits(v, m.kinds[name], i < len(ix.hash)) {
				return false
			}
		}
	}
	return true
}

// maxItem is the largest size of an item, in bytes.
const maxItem = 400 << 10

// oversize reports whether an item is too large, together with its entries in local indexes.
func (m *model) oversize(it item) bool {
	size := it.size()
	for _, v := range m.views()[1:] {
		if v.ix.local {
			size += v.entry(it).size()
		}
	}
	return size > maxItem
}

// refuses reports whether the table refuses the action for any item: the action changes the primary key, or sets a
// key attribute of an index to a constant of another kind.
func (m *model) refuses(a action) bool {
	name := a.path[0].name
	constant := a.verb == "SET" && a.to.op == "" && len(a.path) == 1
	return slices.Contains(m.keyNames(), name) || constant && m.isKey(name) && a.to.arg.kind != m.kinds[name]
}

// misfits reports whether the table refuses a write, whatever items it has.
func (m *model) misfits(wr *write) bool {
	return wr.verb == "Put" && !m.valid(wr.item) || slices.ContainsFunc(wr.actions, m.refuses)
}

// misfit returns the index of the first write that its table refuses, or -1.
func (s *service) misfit(writes []*write) int {
	return slices.IndexFunc(writes, func(wr *write) bool { return s.tables[wr.table].misfits(wr) })
}

// try returns the item before and after a write, or the error with which the write fails.
func (m *model) try(wr *write) (old, it item, fault string) {
	old = m.items[m.id(wr.item)]
	if m.misfits(wr) {
		return old, nil, invalid
	}
	if !wr.when.eval(old) {
		return old, nil, conditionFail
	}
	switch wr.verb {
	case "Put":
		it = wr.item.printed()
	case "ConditionCheck":
		it = old
	case "Update":
		var ok bool
		if it, ok = update(wr.item.printed(), old, wr.actions); !ok || it != nil && !m.valid(it) {
			return old, nil, invalid
		}
	}
	return old, it, ""
}

// one predicts the answer to a write that is a request of its own.
func (s *service) one(wr *write, spent string) prediction {
	m := s.tables[wr.table]
	if m == nil {
		return refusal(noSuchTable)
	}
	old, it, fault := m.try(wr)
	if fault != "" {
		p := refusal(fault)
		if fault == conditionFail && wr.shows && old != nil {
			p.body = map[string]any{"Item": old.wire()}
		}
		return p
	}
	paths := make([]path, len(wr.actions))
	for i, a := range wr.actions {
		paths[i] = a.path
	}
	var shown item
	switch wr.returns {
	case "ALL_OLD":
		shown = old
	case "ALL_NEW":
		shown = it
	case "UPDATED_OLD":
		shown = old.project(paths)
	case "UPDATED_NEW":
		shown = it.project(paths)
	}
	body := map[string]any{}
	if len(shown) > 0 {
		body["Attributes"] = shown.wire()
	}
	if c := m.spent(m.writes(old, it), spent); c != nil {
		body["ConsumedCapacity"] = c
	}
	m.set(m.id(wr.item), it)
	return prediction{body: body}
}

// spent returns the ConsumedCapacity of a table, or nil if the request does not ask for it.
func (m *model) spent(units map[string]float64, how string) map[string]any {
	if how == "" || how == "NONE" {
		return nil
	}
	var local, global map[string]any
	total, table := 0.0, map[string]any{"CapacityUnits": 0.0}
	for name, n := range units {
		total += n
		part := map[string]any{"CapacityUnits": n}
		at := slices.IndexFunc(m.indexes, func(ix *index) bool { return ix.name == name })
		switch {
		case name == "":
			table = part
		case m.indexes[at].local:
			local = with(local, name, part)
		default:
			global = with(global, name, part)
		}
	}
	out := map[string]any{"TableName": m.name, "CapacityUnits": total}
	if how == "INDEXES" {
		out["Table"], out["LocalSecondaryIndexes"], out["GlobalSecondaryIndexes"] = table, local, global
	}
	return out
}

func with(m map[string]any, name string, v any) map[string]any {
	if m == nil {
		m = map[string]any{}
	}
	m[name] = v
	return m
}

// A bill adds up the units of a request, by table and index.
type bill map[string]map[string]float64

func (b bill) add(table string, units map[string]float64) {
	if b[table] == nil {
		b[table] = map[string]float64{}
	}
	for part, n := range units {
		b[table][part] += n
	}
}

// spent adds the ConsumedCapacity to an answer. In answers to transactions, also names the member that repeats the
// units as read or write units.
func (s *service) spent(b bill, how, also string, body map[string]any) {
	var all []any
	for _, name := range sortedNames(b) {
		c := s.tables[name].spent(b[name], how)
		if c == nil {
			return
		}
		if also != "" {
			c[also] = c["CapacityUnits"]
			for _, group := range []string{"LocalSecondaryIndexes", "GlobalSecondaryIndexes"} {
				if parts, ok := c[group].(map[string]any); ok {
					for _, part := range parts {
						part.(map[string]any)[also] = part.(map[string]any)["CapacityUnits"]
					}
				}
			}
			if table, ok := c["Table"].(map[string]any); ok {
				table[also] = table["CapacityUnits"]
			}
		}
		all = append(all, c)
	}
	body["ConsumedCapacity"] = all
}

// twice reports whether two writes are to the same item.
func (s *service) twice(writes []*write) bool {
	seen := map[string]bool{}
	for _, wr := range writes {
		seen[wr.table+"\n"+s.tables[wr.table].id(wr.item)] = true
	}
	return len(seen) < len(writes)
}

func (s *service) lacks(writes []*write) bool {
	return slices.ContainsFunc(writes, func(wr *write) bool { return s.tables[wr.table] == nil })
}

// tooLarge reports whether a write puts an item that is too large even without its entries in local indexes.
func (wr *write) tooLarge() bool { return wr.verb == "Put" && wr.item.size() > maxItem }

// batch predicts the answer to a BatchWriteItem.
func (s *service) batch(writes []*write, spent string) prediction {
	if s.lacks(writes) {
		return refusal(noSuchTable)
	}
	if s.twice(writes) || s.misfit(writes) >= 0 {
		return refusal(invalid)
	}
	b := bill{}
	for _, wr := range writes {
		m := s.tables[wr.table]
		old, it, _ := m.try(wr)
		b.add(wr.table, m.writes(old, it))
		m.set(m.id(wr.item), it)
	}
	body := map[string]any{"UnprocessedItems": map[string]any{}}
	s.spent(b, spent, "", body)
	return prediction{body: body}
}

// transact predicts the answer to a TransactWriteItems.
func (s *service) transact(writes []*write, token, sent, spent string) prediction {
	switch {
	case s.lacks(writes):
		return refusal(noSuchTable)
	case s.twice(writes), slices.ContainsFunc(writes, (*write).tooLarge):
		return refusal(invalid)
	}
	if was, known := s.tokens[token]; known {
		if was.body != sent {
			return refusal("IdempotentParameterMismatchException")
		}
		body := map[string]any{}
		s.spent(was.reads, spent, "ReadCapacityUnits", body)
		return prediction{body: body}
	}
	var reasons, after []any
	if first := s.misfit(writes); first >= 0 { // DynamoDB checks nothing else then
		for range writes {
			reasons = append(reasons, map[string]any{"Code": "None"})
		}
		reasons[first] = map[string]any{"Code": "ValidationError"}
		return prediction{fault: "TransactionCanceledException", body: map[string]any{"CancellationReasons": reasons}}
	}
	b, reads, failed, wrong := bill{}, bill{}, false, false
	for _, wr := range writes {
		m := s.tables[wr.table]
		old, it, fault := m.try(wr)
		after = append(after, it)
		switch fault {
		case "":
			reasons = append(reasons, map[string]any{"Code": "None"})
			units := m.writes(old, it)
			units[""] *= 2
			b.add(wr.table, units)
			reads.add(wr.table, map[string]float64{"": 2 * readUnits(max(old.size(), it.size()), true)})
		case conditionFail:
			r := map[string]any{"Code": "ConditionalCheckFailed", "Message": "The conditional request failed"}
			if wr.shows && old != nil {
				r["Item"] = old.wire()
			}
			reasons, failed = append(reasons, r), true
		default: // DynamoDB reports only the first of these errors
			code := "ValidationError"
			if wrong {
				code = "None"
			}
			reasons, failed, wrong = append(reasons, map[string]any{"Code": code}), true, true
		}
	}
	if failed {
		return prediction{fault: "TransactionCanceledException", body: map[string]any{"CancellationReasons": reasons}}
	}
	for i, wr := range writes {
		m := s.tables[wr.table]
		m.set(m.id(wr.item), after[i].(item))
	}
	if token != "" {
		s.tokens[token] = used{sent, reads}
	}
	body := map[string]any{}
	s.spent(b, spent, "WriteCapacityUnits", body)
	return prediction{body: body}
}

// A lookup is a read of one item by its key, alone or in a batch or transaction.
type lookup struct {
	table      string
	key        item
	projection []path
	consistent bool
}

// find returns the attributes of the item that the request asks for, and the full size of the item. It returns nil if
// the item does not exist.
func (s *service) find(l *lookup) (it item, size int) {
	m := s.tables[l.table]
	it = m.items[m.id(l.key)]
	size = it.size()
	if it != nil && l.projection != nil {
		it = it.project(l.projection)
	}
	return it, size
}

// get answers a GetItem.
func (s *service) get(l *lookup, spent string) prediction {
	m := s.tables[l.table]
	if m == nil {
		return refusal(noSuchTable)
	}
	body := map[string]any{}
	it, size := s.find(l)
	if it != nil {
		body["Item"] = it.wire()
	}
	if c := m.spent(map[string]float64{"": readUnits(size, l.consistent)}, spent); c != nil {
		body["ConsumedCapacity"] = c
	}
	return prediction{body: body}
}

// gets predicts the answer to a BatchGetItem or, if transaction is true, a TransactGetItems.
func (s *service) gets(all []*lookup, spent string, transaction bool) prediction {
	seen := map[string]bool{}
	for _, l := range all {
		m := s.tables[l.table]
		if m == nil {
			return refusal(noSuchTable)
		}
		id := l.table + "\n" + m.id(l.key)
		if seen[id] {
			return refusal(invalid)
		}
		seen[id] = true
	}
	b := bill{}
	byTable := map[string][]any{}
	var inOrder []any
	for _, l := range all {
		it, size := s.find(l)
		units := readUnits(size, l.consistent)
		if transaction {
			units = 2 * readUnits(size, true)
		}
		b.add(l.table, map[string]float64{"": units})
		if byTable[l.table] == nil {
			byTable[l.table] = []any{}
		}
		if len(it) == 0 { // the projection selects nothing
			inOrder = append(inOrder, map[string]any{})
		} else {
			inOrder = append(inOrder, map[string]any{"Item": it.wire()})
		}
		if it == nil {
			continue
		}
		byTable[l.table] = append(byTable[l.table], it.wire())
	}
	if transaction {
		body := map[string]any{"Responses": inOrder}
		s.spent(b, spent, "ReadCapacityUnits", body)
		return prediction{body: body}
	}
	body := map[string]any{"Responses": byTable, "UnprocessedKeys": map[string]any{}}
	s.spent(b, spent, "", body)
	return prediction{body: body}
}

// read predicts the answer to a Query or Scan. It also returns the start key of the next page.
func (s *service) read(r read, spent string) (prediction, item) {
	name := r.name()
	if r.m = s.tables[r.m.name]; r.m == nil {
		return refusal(noSuchTable), nil
	}
	if r.ix != nil {
		at := slices.IndexFunc(r.m.indexes, func(ix *index) bool { return ix.name == name })
		if at < 0 {
			return refusal(invalid), nil
		}
		r.ix = r.m.indexes[at]
	}
	p, ok := r.page()
	if !ok {
		return refusal(invalid), nil
	}
	unordered := r.clauses == nil && !r.scanOrderKnown()
	if unordered && p.last != nil { // the order is unknown, so it is unknown which items fit on the page
		return prediction{some: true, unordered: true}, p.last
	}
	body := map[string]any{"Count": p.count, "ScannedCount": p.examined}
	if !r.count {
		items := make([]any, len(p.items))
		for i, it := range p.items {
			items[i] = it.wire()
		}
		body["Items"] = items
	}
	if p.last != nil {
		body["LastEvaluatedKey"] = p.last.wire()
	}
	units := map[string]float64{name: p.units}
	if r.ix != nil {
		units[""] = p.fetched
	}
	if c := r.m.spent(units, spent); c != nil {
		body["ConsumedCapacity"] = c
	}
	return prediction{body: body, unordered: unordered}, p.last
}

// describe predicts some members of the answer to a DescribeTable.
func (s *service) describe(name string) prediction {
	m := s.tables[name]
	if m == nil {
		return refusal(noSuchTable)
	}
	local, global := []any{}, []any{}
	for _, ix := range m.indexes {
		d := map[string]any{"IndexName": ix.name, "KeySchema": keySchema(ix.hash, ix.sort)}
		if s.counts {
			d["ItemCount"], d["IndexSizeBytes"] = view{m, ix}.count()
		}
		if ix.local {
			local = append(local, d)
		} else {
			d["IndexStatus"] = "ACTIVE"
			global = append(global, d)
		}
	}
	d := map[string]any{
		"TableName": name, "TableStatus": "ACTIVE", "KeySchema": keySchema([]string{m.hash}, m.keyNames()[1:]),
	}
	if s.counts {
		d["ItemCount"], d["TableSizeBytes"] = view{m: m}.count()
	}
	// Set the lists even if they are empty: differ then requires that the answer has no indexes.
	d["LocalSecondaryIndexes"], d["GlobalSecondaryIndexes"] = local, global
	return prediction{body: map[string]any{"Table": d}, some: true}
}

// ttlStatus predicts the answer to a DescribeTimeToLive.
func (s *service) ttlStatus(name string) prediction {
	m := s.tables[name]
	if m == nil {
		return refusal(noSuchTable)
	}
	d := map[string]any{"TimeToLiveStatus": "DISABLED"}
	if m.ttl != "" {
		d = map[string]any{"TimeToLiveStatus": "ENABLED", "AttributeName": m.ttl}
	}
	return prediction{body: map[string]any{"TimeToLiveDescription": d}}
}

// expire deletes the items whose time to live is within the five years before now.
func (s *service) expire(now int64) {
	const fiveYears = 5 * 365 * 24 * 3600
	for _, m := range s.tables {
		for id, it := range m.items {
			at, ok := it[m.ttl]
			if !ok || m.ttl == "" || at.kind != 'N' {
				continue
			}
			if n, err := at.num.Int64(); err == nil && n < now && n >= now-fiveYears {
				delete(m.items, id)
			}
		}
	}
}
