package fuzz_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// A generator makes the oracle's messages. They depend only on its seed and on the model, never on an answer of a
// database.
type generator struct {
	draw
	service *service
	tables  []*model           // those of the service
	pools   map[string][]value // values that attributes are often given
	made    int                // number of tables and indexes so far
	// plain leaves out features that other implementations lack.
	plain bool
	// small leaves out pages of 1 MB.
	small bool
	// expires makes items with a time to live in the past; the test decides when to sweep them.
	expires bool
	now     int64
	next    *read // the next page of an earlier read, or nil
	names   []string
	tokens  []message // transactions with tokens
	token   int
}

func newGenerator(seed int64, s *service) *generator {
	d := draw{rand.New(rand.NewPCG(uint64(seed), 1))}
	return &generator{draw: d, service: s, pools: map[string][]value{}, now: 1_800_000_000}
}

// with returns a copy of the message with this body.
func (m message) with(body map[string]any) message {
	m.body = marshal(body)
	return m
}

// message returns the next one.
func (g *generator) message() message {
	m := g.choose()
	m.numbers = map[string]int{}
	for _, t := range g.tables {
		m.numbers[t.name] = t.number
	}
	return m
}

// choose makes a message of a random kind.
func (g *generator) choose() message {
	g.tables = g.tables[:0]
	for _, name := range sortedNames(g.service.tables) {
		g.tables = append(g.tables, g.service.tables[name])
	}
	if len(g.tables) == 0 || len(g.tables) < 4 && g.often(2) {
		return g.create()
	}
	if g.next != nil && g.often(60) {
		r := *g.next
		g.next = nil
		return g.read(&r)
	}
	m := pick(g.draw, g.tables)
	n := g.IntN(1000)
	switch {
	case n < 6:
		return g.changeIndex(m)
	case n < 8 && len(g.tables) > 1:
		return g.drop(m)
	case n < 14:
		return g.changeTTL(m)
	case n < 24:
		return g.describe(m)
	case n < 28 && g.expires:
		return g.sweep()
	case n < 200:
		return g.put(m)
	case n < 260:
		return g.delete(m)
	case n < 480:
		return g.update(m)
	case n < 540:
		return g.get(m)
	case n < 600:
		return g.batchGet()
	case n < 660:
		return g.batchWrite()
	case n < 740:
		return g.transaction()
	case n < 770:
		return g.transactGet()
	}
	if g.often(4) {
		return g.refused(g.view(m))
	}
	return g.read(g.newRead(g.view(m)))
}

// refused returns a query that the view refuses.
func (g *generator) refused(v view) message {
	in := g.illegalQuery(v)
	if in == nil || g.often(20) {
		in = map[string]any{"TableName": v.m.name, "KeyConditionExpression": "attribute_exists(p)"}
	}
	return message{op: "Query", refused: true, step: func(*service) prediction { return refusal(invalid) }}.with(in)
}

// administration returns a message that changes tables.
func administration(op string, body map[string]any, step func(*service) prediction) message {
	return message{op: op, step: step}.with(body)
}

// create creates a table, sometimes with the name of a table that exists or was deleted.
func (g *generator) create() message {
	m, in := g.newTable(4)
	for g.plain && slices.ContainsFunc(m.indexes, (*index).multiple) {
		m, in = g.newTable(4)
	}
	m.number = g.made
	if m.number%4 == 1 && !g.plain {
		in["StreamSpecification"] = map[string]any{"StreamEnabled": true, "StreamViewType": "NEW_AND_OLD_IMAGES"}
	}
	if len(g.names) > 0 && g.often(40) {
		m.name = pick(g.draw, g.names)
		in["TableName"] = m.name
	} else {
		g.names = append(g.names, m.name)
	}
	if g.service.tables[m.name] == nil {
		for id := range g.pools { // the new table's keys may have other kinds
			if strings.HasPrefix(id, m.name+".") {
				delete(g.pools, id)
			}
		}
	}
	return administration("CreateTable", in, func(s *service) prediction {
		if s.tables[m.name] != nil {
			return refusal("ResourceInUseException")
		}
		c := *m
		c.items = map[string]item{}
		s.tables[m.name] = &c
		return prediction{some: true}
	})
}

// multiple reports whether the index has several partition key or several sort key attributes.
func (ix *index) multiple() bool { return len(ix.hash) > 1 || len(ix.sort) > 1 }

func (g *generator) drop(m *model) message {
	name := m.name
	g.next, g.tokens = nil, nil // a new table with this name may have other keys
	return administration("DeleteTable", map[string]any{"TableName": name}, func(s *service) prediction {
		if s.tables[name] == nil {
			return refusal(noSuchTable)
		}
		delete(s.tables, name)
		return prediction{some: true}
	})
}

// changeIndex creates or deletes a global index.
func (g *generator) changeIndex(m *model) message {
	name := m.name
	g.next, g.tokens = nil, nil // their items may not fit the new index, and their paths may lead into its key
	global := slices.DeleteFunc(slices.Clone(m.indexes), func(ix *index) bool { return ix.local })
	if len(global) > 3 || len(global) > 0 && g.often(40) {
		gone := pick(g.draw, global).name
		if g.often(5) {
			gone = "No_such_index"
		}
		update := map[string]any{"Delete": map[string]any{"IndexName": gone}}
		in := map[string]any{"TableName": name, "GlobalSecondaryIndexUpdates": []any{update}}
		return administration("UpdateTable", in, func(s *service) prediction {
			m := s.tables[name]
			if m == nil {
				return refusal(noSuchTable)
			}
			left := slices.DeleteFunc(slices.Clone(m.indexes), func(ix *index) bool {
				return !ix.local && ix.name == gone
			})
			if len(left) == len(m.indexes) {
				return refusal(noSuchTable)
			}
			m.indexes = left
			return prediction{some: true}
		})
	}
	ix := g.newIndex(m, false)
	for g.plain && ix.multiple() {
		ix = g.newIndex(m, false)
	}
	if ix.include != nil && g.often(50) {
		ix.include = append(ix.include, "d", "n")
	}
	c := *m
	return administration("UpdateTable", c.addIndex(ix), func(s *service) prediction {
		m := s.tables[name]
		if m == nil {
			return refusal(noSuchTable)
		}
		m.addIndex(ix)
		return prediction{some: true}
	})
}

func (g *generator) changeTTL(m *model) message {
	name, on := m.name, m.ttl == ""
	if g.often(30) {
		return message{op: "DescribeTimeToLive", step: func(s *service) prediction { return s.ttlStatus(name) }}.with(
			map[string]any{"TableName": name})
	}
	spec := map[string]any{"AttributeName": "ttl", "Enabled": on}
	in := map[string]any{"TableName": name, "TimeToLiveSpecification": spec}
	return administration("UpdateTimeToLive", in, func(s *service) prediction {
		m := s.tables[name]
		switch {
		case m == nil:
			return refusal(noSuchTable)
		case on == (m.ttl != ""):
			return refusal(invalid)
		}
		if m.ttl = ""; on {
			m.ttl = "ttl"
		}
		return prediction{body: map[string]any{"TimeToLiveSpecification": spec}}
	})
}

func (g *generator) describe(m *model) message {
	name := m.name
	if g.often(30) {
		return message{op: "ListTables", step: func(s *service) prediction {
			return prediction{body: map[string]any{"TableNames": sortedNames(s.tables)}}
		}}.with(map[string]any{})
	}
	if g.often(5) {
		name = "No-such-table"
	}
	return message{op: "DescribeTable", step: func(s *service) prediction { return s.describe(name) }}.with(
		map[string]any{"TableName": name})
}

// sweepNow is not an operation of DynamoDB: the engine deletes expired items when it gets it.
const sweepNow = "Sweep"

func (g *generator) sweep() message {
	now := g.now
	return message{op: sweepNow, step: func(s *service) prediction {
		s.expire(now)
		return prediction{some: true}
	}}.with(map[string]any{})
}

// spending returns a value of ReturnConsumedCapacity.
func (g *generator) spending() string {
	return pick(g.draw, []string{"", "NONE", "TOTAL", "INDEXES", "INDEXES"})
}

// option adds a member to a request unless v is "".
func option(in map[string]any, name, v string) {
	if v != "" {
		in[name] = v
	}
}

// write returns a random write to a table and its parameters. Alone says that the write is a request of its own and
// not one of several. Most writes are valid.
func (g *generator) write(m *model, verb string, alone bool) (wr *write, in map[string]any) {
	for range 4 {
		wr, in = g.attempt(m, verb, alone)
		if _, _, fault := m.try(wr); fault == "" || alone && g.often(50) || g.often(10) {
			break
		}
	}
	return wr, in
}

func (g *generator) attempt(m *model, verb string, alone bool) (*write, map[string]any) {
	wr := &write{verb: verb, table: m.name}
	in := map[string]any{"TableName": m.name}
	if verb == "Put" {
		wr.item = g.item(m)
		in["Item"] = wr.item.wire()
	} else {
		wr.item = g.newKey(m)
		in["Key"] = wr.item.wire()
	}
	now, has := m.items[m.id(wr.item)]
	e := &expression{draw: g.draw}
	if verb == "Update" && g.often(95) {
		it := now
		if !has || g.often(10) {
			it = g.base(m)
		}
		wr.actions = g.actions(m, it)
		in["UpdateExpression"] = e.update(wr.actions)
	}
	if verb == "ConditionCheck" || g.often(30) {
		wr.when = g.condition(m, now, attributeNames, 2)
		in["ConditionExpression"] = e.test(wr.when)
		if wr.shows = g.often(50); wr.shows {
			in["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
		}
	}
	e.add(in)
	return wr, in
}

// one returns the message for a write that is a request of its own.
func (g *generator) one(wr *write, in map[string]any, returns ...string) message {
	wr.returns = pick(g.draw, append(returns, "", "NONE"))
	option(in, "ReturnValues", wr.returns)
	spent := g.spending()
	option(in, "ReturnConsumedCapacity", spent)
	return message{
		op: wr.verb + "Item", keys: map[string][]item{wr.table: {wr.item}},
		step: func(s *service) prediction { return s.one(wr, spent) },
	}.with(in)
}

func (g *generator) put(m *model) message {
	wr, in := g.write(m, "Put", true)
	if bad := g.wrong(m, wr.item); bad != nil && g.often(8) {
		wr.item, in["Item"] = bad, bad.wire()
	}
	return g.one(wr, in, "ALL_OLD")
}

func (g *generator) delete(m *model) message {
	wr, in := g.write(m, "Delete", true)
	return g.one(wr, in, "ALL_OLD")
}

func (g *generator) update(m *model) message {
	wr, in := g.write(m, "Update", true)
	return g.one(wr, in, "ALL_OLD", "ALL_NEW", "UPDATED_OLD", "UPDATED_NEW", "UPDATED_OLD", "UPDATED_NEW")
}

// again reports whether to leave out a key that the request already has. Now and then it lets the request have a key
// twice.
func (g *generator) again(seen map[string]bool, m *model, key item) bool {
	id := m.name + "\n" + m.id(key)
	known := seen[id]
	seen[id] = true
	return known && !g.often(2)
}

// several returns up to n writes to several tables. Now and then two of them write the same item.
func (g *generator) several(n int, verbs ...string) (out []*write, ins []map[string]any, keys map[string][]item) {
	keys = map[string][]item{}
	seen := map[string]bool{}
	for range g.upTo(1, n) {
		m := pick(g.draw, g.tables)
		wr, in := g.write(m, pick(g.draw, verbs), false)
		if g.again(seen, m, wr.item) {
			continue
		}
		out, ins = append(out, wr), append(ins, in)
		keys[m.name] = append(keys[m.name], wr.item)
	}
	return out, ins, keys
}

func (g *generator) batchWrite() message {
	writes, ins, keys := g.several(pick(g.draw, []int{3, 10, 25}), "Put", "Put", "Delete")
	requests := map[string][]any{}
	for i, wr := range writes {
		wr.when = nil
		r := map[string]any{"DeleteRequest": map[string]any{"Key": ins[i]["Key"]}}
		if wr.verb == "Put" {
			if bad := g.wrong(g.service.tables[wr.table], wr.item); bad != nil && g.often(1) {
				wr.item, ins[i]["Item"] = bad, bad.wire()
			}
			r = map[string]any{"PutRequest": map[string]any{"Item": ins[i]["Item"]}}
		}
		requests[wr.table] = append(requests[wr.table], r)
	}
	spent := g.spending()
	in := map[string]any{"RequestItems": requests}
	option(in, "ReturnConsumedCapacity", spent)
	return message{
		op: "BatchWriteItem", keys: keys, separate: true,
		step: func(s *service) prediction { return s.batch(writes, spent) },
	}.with(in)
}

// transaction returns a TransactWriteItems, or a recent one again with the same token.
func (g *generator) transaction() message {
	if len(g.tokens) > 0 && g.often(15) {
		return pick(g.draw, g.tokens)
	}
	writes, ins, keys := g.several(6, "Put", "Put", "Delete", "Update", "Update", "Update", "ConditionCheck")
	var actions []any
	for i, wr := range writes {
		if wr.verb == "Update" && wr.actions == nil { // TransactWriteItems refuses an Update without an expression
			e := &expression{draw: g.draw}
			wr.actions, wr.when = []action{{verb: "REMOVE", path: attribute("n")}}, nil
			src := e.update(wr.actions)
			ins[i] = map[string]any{"TableName": wr.table, "Key": ins[i]["Key"], "UpdateExpression": src}
			e.add(ins[i])
		}
		actions = append(actions, map[string]any{wr.verb: ins[i]})
	}
	spent, token := g.spending(), ""
	// It is not known which of two errors DynamoDB returns, so invalid requests get no token.
	if g.often(40) && !g.service.twice(writes) && g.service.misfit(writes) < 0 {
		g.token++
		token = fmt.Sprintf("token-%d", g.token)
		if len(g.tokens) > 0 && g.often(10) { // reuse the token with another request
			var in struct{ ClientRequestToken string }
			if err := json.Unmarshal(pick(g.draw, g.tokens).body, &in); err != nil {
				panic(err)
			}
			token = in.ClientRequestToken
		}
	}
	in := map[string]any{"TransactItems": actions}
	option(in, "ReturnConsumedCapacity", spent)
	option(in, "ClientRequestToken", token)
	sent := string(marshal(in))
	m := message{
		op: "TransactWriteItems", keys: keys,
		step: func(s *service) prediction { return s.transact(writes, token, sent, spent) },
	}.with(in)
	if token != "" {
		g.tokens = append(g.tokens, m)
		g.tokens = g.tokens[max(0, len(g.tokens)-5):]
	}
	return m
}

// lookup returns a random read of one item, and its parameters.
func (g *generator) lookup(m *model) (*lookup, map[string]any) {
	l := &lookup{table: m.name, key: g.newKey(m)}
	in := map[string]any{"TableName": m.name, "Key": l.key.wire()}
	e := &expression{draw: g.draw}
	l.projection = g.projection(e, in, m, m.items[m.id(l.key)])
	e.add(in)
	return l, in
}

// projection adds a projection to half of the requests. It returns the paths, or nil without a projection.
func (g *generator) projection(e *expression, in map[string]any, m *model, it item) []path {
	if !g.often(50) {
		return nil
	}
	paths := g.paths(m, it, attributeNames, 4)
	parts := make([]string, len(paths))
	for i, p := range paths {
		parts[i] = e.path(p)
	}
	in["ProjectionExpression"] = strings.Join(parts, ", ")
	return paths
}

func (g *generator) get(m *model) message {
	l, in := g.lookup(m)
	if l.consistent = g.often(50); l.consistent {
		in["ConsistentRead"] = true
	}
	if g.often(2) {
		l.table = "No-such-table"
		in["TableName"] = l.table
	}
	spent := g.spending()
	option(in, "ReturnConsumedCapacity", spent)
	return message{op: "GetItem", step: func(s *service) prediction { return s.get(l, spent) }}.with(in)
}

func (g *generator) batchGet() message {
	var all []*lookup
	seen := map[string]bool{}
	requests := map[string]map[string]any{}
	for range g.upTo(1, 12) {
		m := pick(g.draw, g.tables)
		l := &lookup{table: m.name, key: g.newKey(m)}
		if g.again(seen, m, l.key) {
			continue
		}
		in := requests[m.name]
		if in == nil {
			e := &expression{draw: g.draw}
			in = map[string]any{"Keys": []any{}, "ConsistentRead": g.often(50)}
			in["paths"] = g.projection(e, in, m, m.items[m.id(l.key)])
			e.add(in)
			requests[m.name] = in
		}
		in["Keys"] = append(in["Keys"].([]any), l.key.wire())
		l.projection, l.consistent = in["paths"].([]path), in["ConsistentRead"].(bool)
		all = append(all, l)
	}
	for _, in := range requests {
		delete(in, "paths")
	}
	spent := g.spending()
	in := map[string]any{"RequestItems": requests}
	option(in, "ReturnConsumedCapacity", spent)
	return message{
		op:   "BatchGetItem",
		step: func(s *service) prediction { return s.gets(all, spent, false) },
	}.with(in)
}

func (g *generator) transactGet() message {
	var all []*lookup
	seen := map[string]bool{}
	var gets []any
	for range g.upTo(1, 6) {
		m := pick(g.draw, g.tables)
		l, in := g.lookup(m)
		if g.again(seen, m, l.key) {
			continue
		}
		all, gets = append(all, l), append(gets, map[string]any{"Get": in})
	}
	spent := g.spending()
	in := map[string]any{"TransactItems": gets}
	option(in, "ReturnConsumedCapacity", spent)
	return message{
		op:   "TransactGetItems",
		step: func(s *service) prediction { return s.gets(all, spent, true) },
	}.with(in)
}

func (g *generator) read(r *read) message {
	op, in := g.request(r)
	spent := g.spending()
	option(in, "ReturnConsumedCapacity", spent)
	switch {
	case r.count || r.all:
	case r.projection != nil && g.often(20):
		in["Select"] = "SPECIFIC_ATTRIBUTES"
	case r.projection == nil && r.ix != nil && g.often(20):
		in["Select"] = "ALL_PROJECTED_ATTRIBUTES"
	}
	if g.often(1) {
		ghost := *r
		ghost.m = &model{name: "No-such-table", hash: r.m.hash, sort: r.m.sort}
		r, in["TableName"] = &ghost, "No-such-table"
	}
	sent := *r
	return message{op: op, step: func(s *service) prediction {
		p, last := s.read(sent, spent)
		if s == g.service && last != nil && !p.unordered {
			next := sent
			next.m, next.start = s.tables[sent.m.name], last
			for _, name := range sortedNames(last) {
				if v := last[name]; v.kind == 'N' {
					last[name] = g.rewrite(v)
				}
			}
			g.next = &next
		}
		return p
	}}.with(in)
}
