package fuzz_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// Attributes with documents, and others that the oracle's items have beside those of a
// world. Updates and conditions lead into d and l.
var (
	documents = []string{"d", "l", "s", "n"}
	members   = []string{"a", "b", "cc", "é.x"}
)

// A generator makes the oracle's messages. What it makes depends on its seed and on the
// model alone, never on an answer.
type generator struct {
	*world
	service *service
	// plain leaves out what other implementations do not know.
	plain bool
	// expires lets items expire: the test decides when they are swept.
	expires bool
	now     int64
	next    *read // the page after one that was read
	names   []string
	tokens  []message // transactions with tokens
	token   int
}

func newGenerator(seed int64, s *service) *generator {
	w := &world{draw: draw{rand.New(rand.NewPCG(uint64(seed), 1))}, bulk: 3000, pools: map[string][]value{}}
	return &generator{world: w, service: s, now: 1_800_000_000}
}

// body returns the message with its body in JSON.
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
	r := g.newRead(g.view(m))
	g.refine(r)
	return g.read(r)
}

// refused makes a query that no table accepts.
func (g *generator) refused(v view) message {
	in := g.illegalQuery(v)
	if in == nil || g.often(20) {
		in = map[string]any{"TableName": v.m.name, "KeyConditionExpression": "attribute_exists(p)"}
	}
	return message{op: "Query", refused: true, step: func(*service) prediction { return refusal(invalid) }}.with(in)
}

// An administration is a message that changes tables.
func administration(op string, body map[string]any, step func(*service) prediction) message {
	return message{op: op, step: step}.with(body)
}

// create creates a table, sometimes with the name of one that was deleted or exists.
func (g *generator) create() message {
	m, in := g.newTable(4)
	for g.plain && slices.ContainsFunc(m.indexes, func(ix *index) bool { return len(ix.hash) > 1 || len(ix.sort) > 1 }) {
		m, in = g.newTable(4)
	}
	m.number = g.made
	if len(g.names) > 0 && g.often(40) {
		m.name = pick(g.draw, g.names)
		in["TableName"] = m.name
	} else {
		g.names = append(g.names, m.name)
	}
	if g.service.tables[m.name] == nil {
		for id := range g.pools { // the kinds of its keys may be others now
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

func (g *generator) drop(m *model) message {
	name := m.name
	g.next, g.tokens = nil, nil // the next table with the name may have other keys
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
	g.next, g.tokens = nil, nil // their items may not fit the index, and paths may lead into its key
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
			left := slices.DeleteFunc(slices.Clone(m.indexes), func(ix *index) bool { return !ix.local && ix.name == gone })
			if len(left) == len(m.indexes) {
				return refusal(noSuchTable)
			}
			m.indexes = left
			return prediction{some: true}
		})
	}
	ix := g.newIndex(m, false)
	for g.plain && (len(ix.hash) > 1 || len(ix.sort) > 1) {
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

// sweepNow is the pretended operation that deletes expired items.
const sweepNow = "Sweep"

func (g *generator) sweep() message {
	now := g.now
	return message{op: sweepNow, step: func(s *service) prediction {
		s.expire(now)
		return prediction{some: true}
	}}.with(map[string]any{})
}

// scalar returns any scalar value, often a small number.
func (g *generator) scalar() value {
	switch g.IntN(6) {
	case 0, 1:
		return number(fmt.Sprint(g.upTo(0, 30) - 10))
	case 2:
		return text(g.string(nil, 10))
	case 3:
		return pick(g.draw, []value{{kind: isBool, data: "true"}, {kind: isBool, data: "false"}, {kind: isNull}, text(""), blob("")})
	case 4:
		return g.key('B', 6, nil)
	}
	return g.number(nil)
}

// document returns any value, with at most depth levels of maps and lists.
func (g *generator) document(depth int) value {
	switch n := g.IntN(6); {
	case n == 0:
		return g.set(pick(g.draw, []kind{'s', 'n', 'b'}))
	case depth > 0 && n < 3:
		v := value{kind: isList, list: []value{}}
		for range g.IntN(4) {
			v.list = append(v.list, g.document(depth-1))
		}
		return v
	case depth > 0 && n < 5:
		v := value{kind: isMap, members: item{}}
		for range g.IntN(4) {
			v.members[pick(g.draw, members)] = g.document(depth - 1)
		}
		return v
	}
	return g.scalar()
}

// set returns a set of the kind.
func (g *generator) set(k kind) value {
	v := value{kind: k}
	for range g.upTo(1, 4) {
		e := g.key(k.element(), 6, nil)
		if k == 'n' && g.often(50) {
			e = number(fmt.Sprint(g.IntN(6)))
		} else if k == 's' && g.often(50) {
			e = text(pick(g.draw, members))
		}
		if !v.contains(e) {
			v.list = append(v.list, e)
		}
	}
	return v
}

// whole returns a value for an attribute that is not a key.
func (g *generator) whole(name string) value {
	switch {
	case g.often(15):
		return g.document(2)
	case name == "d":
		v := value{kind: isMap, members: item{}}
		for _, m := range members {
			if g.often(50) {
				v.members[m] = g.document(2)
			}
		}
		return v
	case name == "l":
		v := value{kind: isList, list: []value{}}
		for range g.IntN(5) {
			v.list = append(v.list, g.document(1))
		}
		return v
	case name == "s":
		return g.set(pick(g.draw, []kind{'s', 's', 'n', 'b'}))
	case name == "n":
		return number(fmt.Sprint(g.upTo(0, 30) - 10))
	case name == "ttl":
		times := []value{number("1"), number("9999999999"), text("1700000000"), {kind: isList}}
		if g.expires {
			times = append(times, number(fmt.Sprint(g.now-100)), number(fmt.Sprint(g.now+100)))
		}
		return pick(g.draw, times)
	}
	return g.payload(nil, g.bulk)
}

// item returns an item with documents.
func (g *generator) item(m *model) item {
	it := g.newItem(m)
	for _, name := range append(slices.Clone(documents), "ttl") {
		if name != "ttl" && g.often(50) || g.often(15) {
			it[name] = g.whole(name)
		}
	}
	if m.number%8 == 7 && g.often(30) { // a table with pages of 1 MB
		it["p"] = text(strings.Repeat("y", g.upTo(150_000, 300_000)))
	}
	return it
}

// base returns an item of the table, or an empty one.
func (g *generator) base(m *model) item {
	if len(m.items) == 0 {
		return item{}
	}
	return m.items[pick(g.draw, sortedNames(m.items))]
}

// path returns a path to one of the names or into it, and what is there in the item.
func (g *generator) path(m *model, it item, names []string) (p path, v value, ok bool) {
	p = attribute(pick(g.draw, names))
	if m.isKey(p[0].name) {
		v, ok = it.find(p)
		return p, v, ok
	}
	for {
		v, ok = it.find(p)
		switch {
		case ok && v.kind == isMap && g.often(70):
			name := pick(g.draw, members)
			if len(v.members) > 0 && g.often(75) {
				name = pick(g.draw, sortedNames(v.members))
			}
			p = p.then(step{name: name})
		case ok && v.kind == isList && g.often(70):
			p = p.then(step{at: g.IntN(len(v.list) + 2)})
		case g.often(4):
			p = p.then(pick(g.draw, []step{{name: "a"}, {at: 0}}))
			v, ok = it.find(p)
			return p, v, ok
		default:
			return p, v, ok
		}
	}
}

// paths returns up to n paths of which none leads into another.
func (g *generator) paths(m *model, it item, names []string, n int) (out []path) {
	for range g.upTo(1, n) {
		p, _, _ := g.path(m, it, names)
		if !slices.ContainsFunc(out, p.clashes) {
			out = append(out, p)
		}
	}
	return out
}

// attributeNames are all that an item may have.
var attributeNames = slices.Concat(keyAttributes, payloads, documents, documents)

// condition returns a condition on the names.
func (g *generator) condition(m *model, it item, names []string, depth int) *test {
	if depth > 0 {
		switch g.IntN(6) {
		case 0:
			return &test{op: "NOT", l: g.condition(m, it, names, depth-1)}
		case 1:
			return &test{op: "AND", l: g.condition(m, it, names, depth-1), r: g.condition(m, it, names, depth-1)}
		case 2:
			return &test{op: "OR", l: g.condition(m, it, names, depth-1), r: g.condition(m, it, names, depth-1)}
		}
	}
	p, v, ok := g.path(m, it, names)
	near := func() value {
		switch {
		case ok && g.often(60) && v.kind == 'N':
			return g.rewrite(v)
		case ok && g.often(60):
			return v
		case ok && v.kind.scalar() && v.data != "":
			return g.key(v.kind, 20, []value{v})
		}
		return g.document(1)
	}
	scalar := func() value {
		if v := near(); v.kind.scalar() {
			return v
		}
		return number("1")
	}
	t := &test{op: pick(g.draw, []string{
		"attribute_exists", "attribute_not_exists", "attribute_type", "begins_with", "contains", "IN", "BETWEEN", "size", "path",
		"=", "=", "<>", "<", "<=", ">", ">=",
	})}
	comparators := []string{"=", "<>", "<", "<=", ">", ">="}
	t.args = []operand{{path: p}}
	add := func(v value) { t.args = append(t.args, operand{arg: v}) }
	switch t.op {
	case "attribute_type":
		kind := "S"
		if ok && g.often(60) {
			kind = v.kind.String()
		}
		add(text(kind))
	case "begins_with":
		c := scalar()
		if c.kind == 'N' {
			c = text("a")
		}
		if c.kind == 'B' || !strings.ContainsFunc(c.data, func(r rune) bool { return r > 0x7f }) {
			c.data = c.data[:g.IntN(len(c.data)+1)]
		}
		add(c)
	case "contains":
		c := scalar()
		if len(v.list) > 0 && g.often(60) {
			if e := pick(g.draw, v.list); e.kind.scalar() {
				c = e
			}
		}
		add(c)
	case "IN":
		for range g.upTo(1, 4) {
			add(near())
		}
	case "BETWEEN":
		a := scalar()
		b := a
		if a.data != "" {
			b = g.key(a.kind, 20, []value{a})
		}
		if compare(a, b) > 0 {
			a, b = b, a
		}
		add(a)
		add(b)
	case "size":
		t.op, t.args[0].size = pick(g.draw, comparators), true
		add(number(fmt.Sprint(g.IntN(5))))
	case "path":
		q, _, _ := g.path(m, it, names)
		if t.op = pick(g.draw, comparators); slices.Equal(p, q) {
			t.op = "attribute_exists"
			break
		}
		t.args = append(t.args, operand{path: q})
	case "=", "<>":
		add(near())
	case "<", "<=", ">", ">=":
		add(scalar())
	}
	return t
}

// actions returns the actions of an update.
func (g *generator) actions(m *model, it item) (out []action) {
	names := slices.DeleteFunc(slices.Concat(documents, documents, payloads, keyAttributes), func(name string) bool {
		return slices.Contains(m.keyNames(), name) && !g.often(1)
	})
	for range g.upTo(1, 4) {
		p, v, ok := g.path(m, it, names)
		if slices.ContainsFunc(out, func(a action) bool { return a.path.clashes(p) }) {
			continue
		}
		a := action{verb: pick(g.draw, []string{"SET", "SET", "SET", "REMOVE", "ADD", "DELETE"}), path: p}
		constant := func(v value) *source { return &source{arg: v} }
		name := p[0].name
		switch {
		case len(p) == 1 && m.kinds[name] != 0 && m.isKey(name):
			if a.verb != "REMOVE" {
				a.verb = "SET"
			}
			if a.to = constant(g.keyValue(m, name)); g.often(3) {
				a.to.arg = g.scalar()
			}
		case a.verb == "SET":
			a.to = g.source(m, it, p, v, ok)
		case a.verb == "DELETE" && len(p) > 1 || a.verb == "ADD" && p[len(p)-1].name == "" && !ok:
			a.verb = "REMOVE"
		case a.verb == "ADD" && (v.kind == 'N' || !ok && g.often(50)):
			a.to = constant(g.addend())
		case a.verb == "ADD" || a.verb == "DELETE":
			k := v.kind
			if !k.set() || g.often(5) {
				k = pick(g.draw, []kind{'s', 'n', 'b'})
			}
			a.to = constant(g.set(k))
			if v.kind == k && g.often(50) {
				a.to.arg.list = v.list[:g.upTo(1, len(v.list))]
			}
		}
		out = append(out, a)
	}
	return out
}

func (g *generator) addend() value {
	if g.often(10) {
		return g.number(nil)
	}
	return number(fmt.Sprintf("%d.%d", g.IntN(20)-10, g.IntN(3)))
}

// source returns the right side of a SET of a path where v is now, if ok.
func (g *generator) source(m *model, it item, p path, v value, ok bool) *source {
	constant := func(v value) *source { return &source{arg: v} }
	here := &source{op: "path", path: p}
	switch {
	case v.kind == 'N' && g.often(70) || g.often(5):
		l, r := here, constant(g.addend())
		if !ok || g.often(30) {
			l = &source{op: "if_not_exists", path: p, r: constant(number("0"))}
		}
		if g.often(30) {
			l, r = r, l
		}
		return &source{op: pick(g.draw, []string{"+", "-"}), l: l, r: r}
	case v.kind == isList && g.often(70) || g.often(5):
		l, r := here, constant(value{kind: isList, list: []value{g.scalar()}})
		if !ok || g.often(30) {
			l = &source{op: "if_not_exists", path: p, r: constant(value{kind: isList, list: []value{}})}
		}
		if g.often(30) {
			l, r = r, l
		}
		return &source{op: "list_append", l: l, r: r}
	case g.often(10):
		return &source{op: "if_not_exists", path: p, r: constant(g.document(1))}
	case g.often(10): // the value of another attribute; not of one that may contain this
		from := attribute(pick(g.draw, []string{"q", "k2"}))
		if p[0] == from[0] {
			break
		}
		return &source{op: "path", path: from}
	}
	if len(p) == 1 {
		return constant(g.whole(p[0].name))
	}
	return constant(g.document(1))
}

// spending returns a value of ReturnConsumedCapacity.
func (g *generator) spending() string {
	return pick(g.draw, []string{"", "NONE", "TOTAL", "INDEXES", "INDEXES"})
}

// option adds a member to a request unless it is the empty text.
func option(in map[string]any, name, v string) {
	if v != "" {
		in[name] = v
	}
}

// write makes a write of a table and its parameters, for a request that has no other or for
// one of several. Most writes are not refused.
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

// one makes a write that is a request of its own.
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

// several makes up to n writes, of several tables. Now and then two are of one item.
func (g *generator) several(n int, verbs ...string) (out []*write, ins []map[string]any, keys map[string][]item) {
	keys = map[string][]item{}
	for range g.upTo(1, n) {
		m := pick(g.draw, g.tables)
		wr, in := g.write(m, pick(g.draw, verbs), false)
		same := func(o *write) bool { return o.table == wr.table && m.id(o.item) == m.id(wr.item) }
		if slices.ContainsFunc(out, same) && !g.often(2) {
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

// transaction makes a TransactWriteItems, or repeats a recent one with its token.
func (g *generator) transaction() message {
	if len(g.tokens) > 0 && g.often(15) {
		return pick(g.draw, g.tokens)
	}
	writes, ins, keys := g.several(6, "Put", "Put", "Delete", "Update", "Update", "Update", "ConditionCheck")
	var actions []any
	for i, wr := range writes {
		if wr.verb == "Update" && wr.actions == nil { // a transaction requires an expression
			e := &expression{draw: g.draw}
			wr.actions, wr.when = []action{{verb: "REMOVE", path: attribute("n")}}, nil
			ins[i] = map[string]any{"TableName": wr.table, "Key": ins[i]["Key"], "UpdateExpression": e.update(wr.actions)}
			e.add(ins[i])
		}
		actions = append(actions, map[string]any{wr.verb: ins[i]})
	}
	spent, token := g.spending(), ""
	// Which of two errors comes first is not known, so requests that are wrong have no token.
	if g.often(40) && !g.service.twice(writes) && g.service.misfit(writes) < 0 {
		g.token++
		token = fmt.Sprintf("token-%d", g.token)
		if len(g.tokens) > 0 && g.often(10) { // with another request
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

// lookup makes a read of one item and its parameters.
func (g *generator) lookup(m *model) (*lookup, map[string]any) {
	l := &lookup{table: m.name, key: g.newKey(m)}
	in := map[string]any{"TableName": m.name, "Key": l.key.wire()}
	e := &expression{draw: g.draw}
	l.projection = g.projection(e, in, m, m.items[m.id(l.key)])
	e.add(in)
	return l, in
}

// projection adds a projection to a request, in half of the cases.
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
	requests := map[string]map[string]any{}
	for range g.upTo(1, 12) {
		m := pick(g.draw, g.tables)
		l := &lookup{table: m.name, key: g.newKey(m)}
		same := func(o *lookup) bool { return o.table == m.name && m.id(o.key) == m.id(l.key) }
		if slices.ContainsFunc(all, same) && !g.often(2) {
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
	return message{op: "BatchGetItem", step: func(s *service) prediction { return s.gets(all, spent, false) }}.with(in)
}

func (g *generator) transactGet() message {
	var all []*lookup
	var gets []any
	for range g.upTo(1, 6) {
		m := pick(g.draw, g.tables)
		l, in := g.lookup(m)
		same := func(o *lookup) bool { return o.table == m.name && m.id(o.key) == m.id(l.key) }
		if slices.ContainsFunc(all, same) && !g.often(2) {
			continue
		}
		all, gets = append(all, l), append(gets, map[string]any{"Get": in})
	}
	spent := g.spending()
	in := map[string]any{"TransactItems": gets}
	option(in, "ReturnConsumedCapacity", spent)
	return message{op: "TransactGetItems", step: func(s *service) prediction { return s.gets(all, spent, true) }}.with(in)
}

// refine gives a read of a world a filter and projection that lead into documents, and a
// start. It takes away what makes the answer depend on an order that is not defined.
func (g *generator) refine(r *read) {
	at := item{}
	if len(r.entries()) > 0 {
		at = g.entry(r.view)
	}
	names := slices.DeleteFunc(slices.Clone(attributeNames), func(name string) bool {
		queried := slices.Contains(r.hash(), name) || slices.Contains(r.sort(), name)
		return r.clauses != nil && (queried || !r.projects(name))
	})
	if r.filter != nil && len(names) > 0 {
		r.filter = g.condition(r.m, at, names, 2)
	}
	if r.projection != nil {
		names := slices.DeleteFunc(slices.Clone(attributeNames), func(name string) bool {
			return r.global() && !r.projects(name)
		})
		r.projection = g.paths(r.m, at, names, 4)
	}
	if r.clauses == nil && !r.scanOrderKnown() {
		r.limit, r.segments = 0, 0
	} else if g.often(15) {
		r.start = g.newStart(r)
	}
}

func (g *generator) read(r *read) message {
	op, in := g.request(r)
	spent := g.spending()
	delete(in, "ReturnConsumedCapacity")
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
