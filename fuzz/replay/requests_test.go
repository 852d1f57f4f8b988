package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	count = flag.Int("requests", 2000, "number of requests")
	seed  = flag.Uint64("seed", 1, "seed of the requests")
	to    = flag.String("to", "", "file to write the requests to, as scripts/replay.sh does")
)

// TestRequests answers a sequence of random requests twice, each time in a new database: the answers are the same,
// byte for byte, and none is a failure of ours.
func TestRequests(t *testing.T) {
	g := &generator{r: rand.New(rand.NewPCG(*seed, *seed))}
	var requests bytes.Buffer
	sent := map[string]int{}
	for range *count {
		req := g.next()
		body, err := json.Marshal(req.body)
		require.NoError(t, err)
		fmt.Fprintf(&requests, "%s %s\n", req.op, body)
		sent[req.op]++
	}
	if *to != "" {
		require.NoError(t, os.WriteFile(*to, requests.Bytes(), 0o600))
		return
	}

	require.Len(t, sent, 15, "operations")
	var first, second bytes.Buffer
	require.NoError(t, run(bytes.NewReader(requests.Bytes()), &first))
	require.NoError(t, run(bytes.NewReader(requests.Bytes()), &second))
	require.Equal(t, first.String(), second.String())
	require.Equal(t, *count, strings.Count(first.String(), "\n"))
	for line := range strings.Lines(first.String()) {
		require.Regexp(t, "^(200|400) ", line)
	}
}

// request is one request of the sequence.
type request struct {
	op   string
	body object
}

// schema is a table as the generator knows it.
type schema struct {
	name    string
	hash    key
	sort    *key
	indexes []index
}

type key struct{ name, kind string }

type index struct {
	name       string
	local      bool
	hash       key
	sort       *key
	projection object
}

// generator makes requests over its tables.
type generator struct {
	r      *rand.Rand
	tables []*schema
	made   int
}

// kinds returns the kind of a key.
func (g *generator) kinds() string { return pick(g.r, []string{"S", "S", "N", "B"}) }

const maxTables = 6

// next returns the next request; most are valid, some have a mistake.
func (g *generator) next() request {
	if len(g.tables) == 0 || len(g.tables) < maxTables && chance(g.r, 1) {
		return g.createTable()
	}

	t := pick(g.r, g.tables)
	var req request
	n := g.r.IntN(136)
	switch {
	case n >= 115:
		req = g.statement(t)
	case n >= 100:
		req = g.legacy(t)
	case n < 24:
		req = g.put(t)
	case n < 32:
		req = g.get(t)
	case n < 38:
		req = g.delete(t)
	case n < 54:
		req = g.update(t)
	case n < 74:
		req = g.query(t)
	case n < 84:
		req = g.scan(t)
	case n < 90:
		req = g.batchWrite()
	case n < 95:
		req = g.batchGet()
	case n < 98:
		req = g.transact()
	default:
		req = request{op: pick(g.r, []string{"DescribeTable", "ListTables"}), body: object{}}
		if req.op == "DescribeTable" {
			req.body["TableName"] = t.name
		}
	}

	if chance(g.r, 12) {
		req.body = g.spoil(req.body)
	}
	return req
}

func (g *generator) createTable() request {
	g.made++
	t := &schema{name: fmt.Sprintf("table-%d", g.made), hash: key{"pk", g.kinds()}}
	if chance(g.r, 75) {
		t.sort = &key{"sk", g.kinds()}
	}

	defs := []key{t.hash}
	if t.sort != nil {
		defs = append(defs, *t.sort)
	}
	define := func(k key) key {
		if !slices.ContainsFunc(defs, func(d key) bool { return d.name == k.name }) {
			defs = append(defs, k)
			return k
		}
		return defs[slices.IndexFunc(defs, func(d key) bool { return d.name == k.name })]
	}

	projection := func() object {
		switch g.r.IntN(3) {
		case 0:
			return object{"ProjectionType": "KEYS_ONLY"}
		case 1:
			return object{"ProjectionType": "INCLUDE", "NonKeyAttributes": list{"v"}}
		}
		return object{"ProjectionType": "ALL"}
	}
	if t.sort != nil && chance(g.r, 40) {
		k := define(key{"l1", g.kinds()})
		t.indexes = append(
			t.indexes, index{name: "local-1", local: true, hash: t.hash, sort: &k, projection: projection()},
		)
	}

	for i := range g.r.IntN(3) {
		ix := index{name: fmt.Sprintf("global-%d", i), hash: define(key{"g1", "S"}), projection: projection()}
		if chance(g.r, 60) {
			k := define(key{fmt.Sprintf("g%d", 2+i), g.kinds()})
			ix.sort = &k
		}
		t.indexes = append(t.indexes, ix)
	}

	body := object{"TableName": t.name, "BillingMode": "PAY_PER_REQUEST", "KeySchema": keySchema(t.hash, t.sort)}
	var attributes, locals, globals list
	for _, d := range defs {
		attributes = append(attributes, object{"AttributeName": d.name, "AttributeType": d.kind})
	}

	for _, ix := range t.indexes {
		x := object{"IndexName": ix.name, "KeySchema": keySchema(ix.hash, ix.sort), "Projection": ix.projection}
		if ix.local {
			locals = append(locals, x)
		} else {
			globals = append(globals, x)
		}
	}

	body["AttributeDefinitions"] = attributes
	if locals != nil {
		body["LocalSecondaryIndexes"] = locals
	}
	if globals != nil {
		body["GlobalSecondaryIndexes"] = globals
	}
	if chance(g.r, 50) {
		body["StreamSpecification"] = object{"StreamEnabled": true, "StreamViewType": "NEW_AND_OLD_IMAGES"}
	}

	g.tables = append(g.tables, t)
	return request{op: "CreateTable", body: body}
}

func keySchema(hash key, sort *key) list {
	out := list{object{"AttributeName": hash.name, "KeyType": "HASH"}}
	if sort != nil {
		out = append(out, object{"AttributeName": sort.name, "KeyType": "RANGE"})
	}
	return out
}

func (g *generator) key(t *schema) object {
	k := object{t.hash.name: scalar(g.r, t.hash.kind)}
	if t.sort != nil {
		k[t.sort.name] = scalar(g.r, t.sort.kind)
	}
	return k
}

func (g *generator) item(t *schema) object {
	it := g.key(t)
	for _, ix := range t.indexes {
		for _, k := range []*key{&ix.hash, ix.sort} {
			if k != nil && chance(g.r, 80) && it[k.name] == nil {
				it[k.name] = scalar(g.r, k.kind)
			}
		}
	}
	for range g.r.IntN(4) {
		it[pick(g.r, names)] = anyValue(g.r, 2)
	}
	return it
}

// options adds what reads and writes may ask to be told.
func (g *generator) options(body object) object {
	if chance(g.r, 20) {
		body["ReturnConsumedCapacity"] = pick(g.r, []string{"TOTAL", "INDEXES", "NONE"})
	}
	return body
}

func (g *generator) writeOptions(body object, values ...string) object {
	if chance(g.r, 30) {
		body["ReturnValues"] = pick(g.r, values)
	}
	return g.options(body)
}

// conditional adds a condition to a write, in a third of them.
func (g *generator) conditional(e *expression, body object) {
	if chance(g.r, 30) {
		body["ConditionExpression"] = e.condition(2)
	}
	e.into(body)
}

func (g *generator) put(t *schema) request {
	body := g.writeOptions(object{"TableName": t.name, "Item": g.item(t)}, "NONE", "ALL_OLD")
	g.conditional(newExpression(g.r), body)
	return request{op: "PutItem", body: body}
}

func (g *generator) delete(t *schema) request {
	body := g.writeOptions(object{"TableName": t.name, "Key": g.key(t)}, "NONE", "ALL_OLD")
	g.conditional(newExpression(g.r), body)
	return request{op: "DeleteItem", body: body}
}

func (g *generator) update(t *schema) request {
	body := g.writeOptions(
		object{"TableName": t.name, "Key": g.key(t)}, "NONE", "ALL_OLD", "ALL_NEW", "UPDATED_OLD", "UPDATED_NEW",
	)
	e := newExpression(g.r)
	body["UpdateExpression"] = e.update()
	g.conditional(e, body)
	return request{op: "UpdateItem", body: body}
}

func (g *generator) get(t *schema) request {
	body := g.options(object{"TableName": t.name, "Key": g.key(t)})
	e := newExpression(g.r)
	if chance(g.r, 30) {
		body["ProjectionExpression"] = g.inside(t, e)
	}
	e.into(body)
	return request{op: "GetItem", body: body}
}

func (g *generator) query(t *schema) request {
	body := g.options(object{"TableName": t.name})
	e := newExpression(g.r)
	hash, sort := g.queried(t, body)
	partition := scalar(g.r, hash.kind)
	cond := e.name(hash.name) + " = " + e.value(partition)
	if sort != nil && chance(g.r, 60) {
		n := e.name(sort.name)
		switch g.r.IntN(4) {
		case 0:
			cond += " AND " + n + " BETWEEN " + e.value(scalar(g.r, sort.kind)) + " AND " + e.value(
				scalar(g.r, sort.kind),
			)
		case 1:
			cond += " AND begins_with(" + n + ", " + e.value(scalar(g.r, sort.kind)) + ")"
		default:
			cond += " AND " + n + pick(g.r, []string{" = ", " < ", " <= ", " > ", " >= "}) + e.value(
				scalar(g.r, sort.kind),
			)
		}
	}

	body["KeyConditionExpression"] = cond
	if chance(g.r, 40) {
		body["ScanIndexForward"] = chance(g.r, 30)
	}
	g.reading(t, e, body)
	if start, ok := body["ExclusiveStartKey"].(object); ok && chance(g.r, 85) && start[hash.name] != nil {
		start[hash.name] = partition
	}
	return request{op: "Query", body: body}
}

// queried chooses the table or an index of it, and returns its key.
func (g *generator) queried(t *schema, body object) (hash key, sort *key) {
	if len(t.indexes) == 0 || chance(g.r, 50) {
		return t.hash, t.sort
	}
	ix := pick(g.r, t.indexes)
	body["IndexName"] = ix.name
	return ix.hash, ix.sort
}

func (g *generator) scan(t *schema) request {
	body := g.options(object{"TableName": t.name})
	if len(t.indexes) > 0 && chance(g.r, 30) {
		body["IndexName"] = pick(g.r, t.indexes).name
	}
	g.reading(t, newExpression(g.r), body)
	if chance(g.r, 15) {
		body["TotalSegments"] = 1 + g.r.IntN(4)
		body["Segment"] = g.r.IntN(4)
	}
	return request{op: "Scan", body: body}
}

// start returns a place to go on from in the table or index that body names,
// now and then an invalid one.
func (g *generator) start(t *schema, body object) object {
	start := g.key(t)
	for _, ix := range t.indexes {
		if ix.name == body["IndexName"] {
			start[ix.hash.name] = scalar(g.r, ix.hash.kind)
			if ix.sort != nil {
				start[ix.sort.name] = scalar(g.r, ix.sort.kind)
			}
		}
	}
	switch {
	case chance(g.r, 6):
		start[pick(g.r, names)] = scalar(g.r, "S")
	case chance(g.r, 6):
		delete(start, t.hash.name)
	case chance(g.r, 6):
		start[t.hash.name] = scalar(g.r, g.kinds())
	case chance(g.r, 6) && t.sort != nil:
		start[t.sort.name] = scalar(g.r, g.kinds())
	}
	return start
}

// inside returns a path into an attribute, a key attribute now and then.
func (g *generator) inside(t *schema, e *expression) string {
	if chance(g.r, 92) {
		return e.path()
	}
	names := []string{t.hash.name}
	for _, ix := range t.indexes {
		names = append(names, ix.hash.name)
	}
	return e.name(pick(g.r, names)) + pick(g.r, []string{"[1]", "." + e.name("v"), ""})
}

func (g *generator) reading(t *schema, e *expression, body object) {
	if chance(g.r, 25) {
		body["FilterExpression"] = e.condition(2)
	} else if chance(g.r, 5) {
		body["FilterExpression"] = "attribute_exists(" + g.inside(t, e) + ")"
	}
	if chance(g.r, 15) {
		body["ExclusiveStartKey"] = g.start(t, body)
	}
	if chance(g.r, 20) {
		body["ProjectionExpression"] = g.inside(t, e)
		if chance(g.r, 30) {
			body["ProjectionExpression"] = body["ProjectionExpression"].(string) + ", " + e.path()
		}
	} else if chance(g.r, 15) {
		body["Select"] = pick(g.r, []string{"ALL_ATTRIBUTES", "COUNT", "ALL_PROJECTED_ATTRIBUTES"})
	}
	if chance(g.r, 20) {
		body["Limit"] = 1 + g.r.IntN(5)
	}
	e.into(body)
}

func (g *generator) batchWrite() request {
	items := object{}
	for range 1 + g.r.IntN(2) {
		t := pick(g.r, g.tables)
		var writes list
		for range 1 + g.r.IntN(4) {
			if chance(g.r, 60) {
				writes = append(writes, object{"PutRequest": object{"Item": g.item(t)}})
			} else {
				writes = append(writes, object{"DeleteRequest": object{"Key": g.key(t)}})
			}
		}
		items[t.name] = writes
	}
	return request{op: "BatchWriteItem", body: g.options(object{"RequestItems": items})}
}

func (g *generator) batchGet() request {
	items := object{}
	for range 1 + g.r.IntN(2) {
		t := pick(g.r, g.tables)
		var keys list
		for range 1 + g.r.IntN(4) {
			keys = append(keys, g.key(t))
		}
		items[t.name] = object{"Keys": keys}
	}
	return request{op: "BatchGetItem", body: g.options(object{"RequestItems": items})}
}

func (g *generator) transact() request {
	var actions list
	for range 1 + g.r.IntN(4) {
		t := pick(g.r, g.tables)
		e := newExpression(g.r)
		switch g.r.IntN(4) {
		case 0:
			a := object{"TableName": t.name, "Item": g.item(t)}
			g.conditional(e, a)
			actions = append(actions, object{"Put": a})
		case 1:
			a := object{"TableName": t.name, "Key": g.key(t)}
			g.conditional(e, a)
			actions = append(actions, object{"Delete": a})
		case 2:
			a := object{"TableName": t.name, "Key": g.key(t), "UpdateExpression": e.update()}
			g.conditional(e, a)
			actions = append(actions, object{"Update": a})
		default:
			a := object{"TableName": t.name, "Key": g.key(t), "ConditionExpression": e.condition(1)}
			e.into(a)
			actions = append(actions, object{"ConditionCheck": a})
		}
	}
	return request{op: "TransactWriteItems", body: g.options(object{"TransactItems": actions})}
}

// spoil returns a copy of a request with one mistake: a member missing, one of
// another type, a word of an expression changed, or one that is not known.
func (g *generator) spoil(body object) object {
	text, err := json.Marshal(body)
	if err != nil {
		return body
	}

	var c object
	if err := json.Unmarshal(text, &c); err != nil {
		return body
	}
	at := any(c)
	for {
		o, ok := at.(object)
		if !ok || len(o) == 0 {
			return c
		}

		names := make([]string, 0, len(o))
		for n := range o {
			names = append(names, n)
		}
		slices.Sort(names)
		name := pick(g.r, names)
		switch child := o[name].(type) {
		case object:
			if chance(g.r, 60) {
				at = child
				continue
			}
		case string:
			if chance(g.r, 60) {
				o[name] = g.spoilText(child)
				return c
			}
		case []any:
			if len(child) > 0 && chance(g.r, 60) {
				at = child[g.r.IntN(len(child))]
				continue
			}
		}

		switch g.r.IntN(3) {
		case 0:
			delete(o, name)
		case 1:
			o[name] = pick(g.r, []any{"x", 7, true, list{}, object{}, ""})
		default:
			o[name+"x"] = o[name]
			delete(o, name)
		}
		return c
	}
}

func (g *generator) spoilText(s string) string {
	extra := []string{"", " ", "AND", "(", ")", ":nope", "#nope", "=", "size", "2", "x", "NONE", "<>", ","}
	i := g.r.IntN(len(s) + 1)
	for i > 0 && i < len(s) && s[i]&0xC0 == 0x80 {
		i--
	}
	switch g.r.IntN(3) {
	case 0:
		return s[:i]
	case 1:
		return s[:i] + pick(g.r, extra) + s[i:]
	}
	return pick(g.r, extra)
}
