package fuzz_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sortkey/sortkey/internal/inside"
	"github.com/sortkey/sortkey/internal/wire"

	"github.com/anishathalye/porcupine"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/api"
	"github.com/sortkey/sortkey/internal/proptest"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/disk"
	"github.com/sortkey/sortkey/store/memory"
)

// These tests prove from the answers alone that transactions are serialisable.
// Clients concurrently run random transactions on a few items of two tables.
// Every successful write stores the number of its transaction in the item, and
// increments or resets the item's counter, so almost no two orders produce the
// same answers. Porcupine then searches for an order such that
//
//   - a transaction that ended before another began comes before it, and
//   - running the transactions one after the other on a map of the items
//     produces exactly the answers that the clients received: success, or the
//     reason of every action with its item; the items of a TransactGetItems
//     over both tables; and those of a Scan of a table and of an index.
//
// No such order exists if a client ever saw half a transaction, if a cancelled
// transaction left a change, if one was applied twice under one token, or if an
// index and its table disagreed.

// cells is the number of possible items: three in each table.
const cells = 6

// A cell is the state of an item. If by is 0, the item does not exist.
type cell struct {
	n  int // counter
	by int // the transaction that wrote it last
}

// A transactState is the content of the database. It is comparable.
type transactState struct {
	cells  [cells]cell
	tokens uint64 // used tokens
}

type transactKind int

const (
	transactWrite transactKind = iota
	transactGet
	scanTable
	scanIndex
	writeOne
)

// A transact is one request of a client.
type transact struct {
	kind    transactKind
	id      int
	token   int // 1 … 63, 0 for none
	actions []cellAction
	cells   []int // read in this order
	table   int   // scanned
}

// A cellAction is one action of a write.
type cellAction struct {
	verb string // put, add, delete, check
	cell int
	when string // "", exists, absent, counter
	n    int    // for counter
	old  bool   // ALL_OLD on failure
}

// An outcome is the answer to a request.
type outcome struct {
	failure string // any other error
	reasons []string
	cells   []cell
}

func (a cellAction) holds(c cell) bool {
	switch a.when {
	case "exists":
		return c.by != 0
	case "absent":
		return c.by == 0
	case "counter":
		return c.by != 0 && c.n == a.n
	}
	return true
}

func (a cellAction) apply(c cell, id int) cell {
	switch a.verb {
	case "put":
		return cell{n: 0, by: id}
	case "add":
		return cell{n: c.n + 1, by: id}
	case "delete":
		return cell{}
	}
	return c
}

func (c cell) String() string {
	if c.by == 0 {
		return "-"
	}
	return fmt.Sprintf("%d by %d", c.n, c.by)
}

// step answers a request on a state as the service should.
func (t *transact) step(s transactState) (transactState, outcome) {
	switch t.kind {
	case transactGet:
		var out outcome
		for _, i := range t.cells {
			out.cells = append(out.cells, s.cells[i])
		}
		return s, out
	case scanTable, scanIndex:
		return s, outcome{cells: slices.Clone(s.cells[t.table*cells/2 : (t.table+1)*cells/2])}
	}
	if t.token != 0 && s.tokens&(1<<t.token) != 0 {
		return s, outcome{}
	}
	next, failed := s, false
	reasons := make([]string, len(t.actions))
	for i, a := range t.actions {
		c := s.cells[a.cell]
		if !a.holds(c) {
			reasons[i], failed = "ConditionalCheckFailed", true
			if a.old && c.by != 0 {
				reasons[i] += " " + c.String()
			}
			continue
		}
		reasons[i] = "None"
		next.cells[a.cell] = a.apply(c, t.id)
	}
	if failed {
		return s, outcome{reasons: reasons}
	}
	if t.token != 0 {
		next.tokens |= 1 << t.token
	}
	return next, outcome{}
}

var transactModel = porcupine.Model{
	Init: func() any { return transactState{} },
	Step: func(state, input, output any) (bool, any) {
		next, want := input.(*transact).step(state.(transactState))
		got := output.(outcome)
		ok := got.failure == "" && slices.Equal(got.reasons, want.reasons) && slices.Equal(got.cells, want.cells)
		return ok, next
	},
	Equal: func(a, b any) bool { return a.(transactState) == b.(transactState) },
	DescribeOperation: func(input, output any) string {
		t, got := input.(*transact), output.(outcome)
		return fmt.Sprintf("%d %s %v -> %s%v%v", t.kind, strings.TrimSpace(fmt.Sprint(t.id, " token ", t.token)), t.actions, got.failure, got.reasons, got.cells)
	},
	DescribeState: func(state any) string { return fmt.Sprint(state.(transactState).cells) },
}

// transactTables are the tables, each with the name of an index whose keys
// change with every write of an item.
var transactTables = [2]string{"Accounts", "Orders"}

const transactIndex = "ByWriter"

// cellKey returns the table and key of a cell. One of the tables has a sort
// key.
func cellKey(i int) (name string, key []attrField) {
	name = transactTables[i/(cells/2)]
	key = []attrField{{"p", attr.NewString("item-" + strconv.Itoa(i))}}
	if name == transactTables[1] {
		key = []attrField{{"p", attr.NewString("item")}, {"s", intValue(i)}}
	}
	return name, key
}

type attrField struct {
	name  string
	value attr.Value
}

func fieldsItem(fields ...attrField) attr.Item {
	var b attr.Builder
	for _, f := range fields {
		b.Add(f.name, f.value)
	}
	return b.Item()
}

func intValue(n int) attr.Value {
	v, err := attr.NewNumber(strconv.Itoa(n))
	if err != nil {
		panic(err)
	}
	return v
}

// A transactClient sends requests to a service.
type transactClient struct{ svc *api.Service }

func (c *transactClient) createTables(ctx context.Context) error {
	for i, name := range transactTables {
		in := &wire.CreateTableInput{
			TableName: new(name), BillingMode: new("PAY_PER_REQUEST"),
			AttributeDefinitions: []wire.AttributeDefinition{
				{AttributeName: new("p"), AttributeType: new("S")}, {AttributeName: new("g"), AttributeType: new("S")}, {AttributeName: new("by"), AttributeType: new("N")},
			},
			KeySchema: []wire.KeySchemaElement{{AttributeName: new("p"), KeyType: new("HASH")}},
			GlobalSecondaryIndexes: []wire.GlobalSecondaryIndex{{
				IndexName:  new(transactIndex),
				KeySchema:  []wire.KeySchemaElement{{AttributeName: new("g"), KeyType: new("HASH")}, {AttributeName: new("by"), KeyType: new("RANGE")}},
				Projection: &wire.Projection{ProjectionType: new("INCLUDE"), NonKeyAttributes: []string{"n"}},
			}},
		}
		if i == 1 {
			in.AttributeDefinitions = append(in.AttributeDefinitions, wire.AttributeDefinition{AttributeName: new("s"), AttributeType: new("N")})
			in.KeySchema = append(in.KeySchema, wire.KeySchemaElement{AttributeName: new("s"), KeyType: new("RANGE")})
		}
		if _, err := c.svc.CreateTable(ctx, in); err != nil {
			return err
		}
	}
	return nil
}

// condition returns a condition and its value.
func (a cellAction) condition() (src *string, values []attrField) {
	switch a.when {
	case "exists":
		return new("attribute_exists(p)"), nil
	case "absent":
		return new("attribute_not_exists(p)"), nil
	case "counter":
		return new("n = :n"), []attrField{{":n", intValue(a.n)}}
	}
	return nil, nil
}

func (a cellAction) onFailure() *string {
	if a.old {
		return new("ALL_OLD")
	}
	return nil
}

// valuesOf returns an item, or nil without any fields.
func valuesOf(fields []attrField) attr.Item {
	if len(fields) == 0 {
		return nil
	}
	return fieldsItem(fields...)
}

// write returns the action for one write of transaction id.
func (a cellAction) write(id int) wire.TransactWriteItem {
	name, key := cellKey(a.cell)
	cond, values := a.condition()
	group := attrField{"g", attr.NewString("g" + strconv.Itoa(id%3))}
	by := attrField{"by", intValue(id)}
	switch a.verb {
	case "put":
		item := fieldsItem(append(slices.Clone(key), group, by, attrField{"n", intValue(0)})...)
		return wire.TransactWriteItem{Put: &wire.Put{TableName: new(name), Item: item, ConditionExpression: cond, ExpressionAttributeValues: valuesOf(values), ReturnValuesOnConditionCheckFailure: a.onFailure()}}
	case "delete":
		return wire.TransactWriteItem{Delete: &wire.Delete{TableName: new(name), Key: fieldsItem(key...), ConditionExpression: cond, ExpressionAttributeValues: valuesOf(values), ReturnValuesOnConditionCheckFailure: a.onFailure()}}
	case "check":
		return wire.TransactWriteItem{ConditionCheck: &wire.ConditionCheck{TableName: new(name), Key: fieldsItem(key...), ConditionExpression: cond, ExpressionAttributeValues: valuesOf(values), ReturnValuesOnConditionCheckFailure: a.onFailure()}}
	}
	values = append(values, attrField{":one", intValue(1)}, attrField{":by", by.value}, attrField{":g", group.value})
	src := "SET #by = :by, g = :g ADD n :one"
	if id%2 == 0 {
		values = append(values, attrField{":zero", intValue(0)})
		src = "SET #by = :by, g = :g, n = if_not_exists(n, :zero) + :one"
		if a.when == "exists" || a.when == "counter" {
			values = values[:len(values)-1]
			src = "SET n = n + :one, #by = :by, g = :g"
		}
	}
	return wire.TransactWriteItem{Update: &wire.Update{
		TableName: new(name), Key: fieldsItem(key...), UpdateExpression: new(src), ConditionExpression: cond,
		ExpressionAttributeNames: map[string]string{"#by": "by"}, ExpressionAttributeValues: fieldsItem(values...), ReturnValuesOnConditionCheckFailure: a.onFailure(),
	}}
}

// run sends a request and returns the outcome.
func (c *transactClient) run(ctx context.Context, t *transact) outcome {
	switch t.kind {
	case transactGet:
		return c.get(ctx, t)
	case scanTable, scanIndex:
		return c.scan(ctx, t)
	case writeOne:
		return c.one(ctx, t)
	}
	in := new(wire.TransactWriteItemsInput)
	for _, a := range t.actions {
		in.TransactItems = append(in.TransactItems, a.write(t.id))
	}
	if t.token != 0 {
		in.ClientRequestToken = new("token-" + strconv.Itoa(t.token))
	}
	_, err := c.svc.TransactWriteItems(ctx, in)
	if err == nil {
		return outcome{}
	}
	e, ok := errors.AsType[*wire.Error](err)
	if !ok || e.Code != "TransactionCanceledException" {
		return outcome{failure: err.Error()}
	}
	var out outcome
	for _, r := range e.Reasons {
		text := *r.Code
		if r.Item != nil {
			text += " " + cellOf(r.Item).String()
		}
		out.reasons = append(out.reasons, text)
	}
	return out
}

// one sends the only action of a transaction as a request of its own.
func (c *transactClient) one(ctx context.Context, t *transact) outcome {
	w := t.actions[0].write(t.id)
	var err error
	switch {
	case w.Put != nil:
		p := w.Put
		_, err = c.svc.PutItem(ctx, &wire.PutItemInput{TableName: p.TableName, Item: p.Item, ConditionExpression: p.ConditionExpression, ExpressionAttributeValues: p.ExpressionAttributeValues, ReturnValuesOnConditionCheckFailure: p.ReturnValuesOnConditionCheckFailure})
	case w.Delete != nil:
		d := w.Delete
		_, err = c.svc.DeleteItem(ctx, &wire.DeleteItemInput{TableName: d.TableName, Key: d.Key, ConditionExpression: d.ConditionExpression, ExpressionAttributeValues: d.ExpressionAttributeValues, ReturnValuesOnConditionCheckFailure: d.ReturnValuesOnConditionCheckFailure})
	default:
		u := w.Update
		_, err = c.svc.UpdateItem(ctx, &wire.UpdateItemInput{
			TableName: u.TableName, Key: u.Key, UpdateExpression: u.UpdateExpression, ConditionExpression: u.ConditionExpression,
			ExpressionAttributeNames: u.ExpressionAttributeNames, ExpressionAttributeValues: u.ExpressionAttributeValues, ReturnValuesOnConditionCheckFailure: u.ReturnValuesOnConditionCheckFailure,
		})
	}
	if err == nil {
		return outcome{}
	}
	e, ok := errors.AsType[*wire.Error](err)
	if !ok || e.Code != "ConditionalCheckFailedException" {
		return outcome{failure: err.Error()}
	}
	reason := "ConditionalCheckFailed"
	if e.Item != nil {
		reason += " " + cellOf(e.Item).String()
	}
	return outcome{reasons: []string{reason}}
}

func (c *transactClient) get(ctx context.Context, t *transact) outcome {
	in := new(wire.TransactGetItemsInput)
	for _, i := range t.cells {
		name, key := cellKey(i)
		in.TransactItems = append(in.TransactItems, wire.TransactGetItem{Get: &wire.Get{TableName: new(name), Key: fieldsItem(key...)}})
	}
	got, err := c.svc.TransactGetItems(ctx, in)
	if err != nil {
		return outcome{failure: err.Error()}
	}
	var out outcome
	for _, r := range got.Responses {
		out.cells = append(out.cells, cellOf(r.Item))
	}
	return out
}

// scan reads a table or its index. The result includes cells without an item.
func (c *transactClient) scan(ctx context.Context, t *transact) outcome {
	in := &wire.ScanInput{TableName: new(transactTables[t.table])}
	if t.kind == scanIndex {
		in.IndexName = new(transactIndex)
	}
	var items []attr.Item
	_, err := c.svc.Scan(ctx, in, func(it attr.Item) error {
		items = append(items, bytes.Clone(it))
		return nil
	})
	if err != nil {
		return outcome{failure: err.Error()}
	}
	out := outcome{cells: make([]cell, cells/2)}
	for _, item := range items {
		id := intOf(item.Get("s"))
		if t.table == 0 {
			if id, err = strconv.Atoi(strings.TrimPrefix(string(item.Get("p").Raw()), "item-")); err != nil {
				return outcome{failure: err.Error()}
			}
		}
		at := &out.cells[id-t.table*cells/2]
		if at.by != 0 {
			return outcome{failure: fmt.Sprintf("item %d occurs twice", id)}
		}
		*at = cellOf(item)
		if want := "g" + strconv.Itoa(at.by%3); string(item.Get("g").Raw()) != want {
			return outcome{failure: fmt.Sprintf("item %d was written by %d and is in %s", id, at.by, item.Get("g"))}
		}
	}
	return out
}

func cellOf(item attr.Item) cell {
	if item == nil {
		return cell{}
	}
	return cell{n: intOf(item.Get("n")), by: intOf(item.Get("by"))}
}

func intOf(v attr.Value) int {
	if v.Kind() != attr.Number {
		return 0
	}
	n, err := strconv.Atoi(string(v.AppendNumber(nil)))
	if err != nil {
		return -1
	}
	return n
}

// program returns the requests of each client. A few writes are sent by two
// clients, under one token.
func (d draw) program(clients, requests int) [][]*transact {
	out := make([][]*transact, clients)
	id, token := 0, 0
	for range requests {
		for c := range out {
			id++
			t := &transact{id: id}
			switch n := d.IntN(100); {
			case n < 55:
				t.kind = transactWrite
				t.actions = d.cellActions(1 + d.IntN(4))
			case n < 75:
				t.kind = transactGet
				t.cells = d.someCells(1 + d.IntN(cells))
			case n < 80:
				t.kind, t.table = scanTable, d.IntN(2)
			case n < 88:
				t.kind, t.table = scanIndex, d.IntN(2)
			default:
				t.kind = writeOne
				for t.actions = d.cellActions(1); t.actions[0].verb == "check"; {
					t.actions = d.cellActions(1)
				}
			}
			out[c] = append(out[c], t)
			if t.kind == transactWrite && token < 63 && d.often(15) {
				token++
				t.token = token
				other := d.IntN(clients)
				out[other] = append(out[other], t)
			}
		}
	}
	return out
}

// someCells returns n cells in any order.
func (d draw) someCells(n int) []int {
	all := []int{0, 1, 2, 3, 4, 5}
	for i := range n {
		j := i + d.IntN(len(all)-i)
		all[i], all[j] = all[j], all[i]
	}
	return all[:n]
}

func (d draw) cellActions(n int) (out []cellAction) {
	for _, c := range d.someCells(n) {
		a := cellAction{cell: c, verb: pick(d, []string{"add", "add", "add", "put", "delete", "check"}), old: d.often(50)}
		a.when = pick(d, []string{"", "", "", "exists", "absent", "counter"})
		if a.verb == "check" && a.when == "" {
			a.when = "exists"
		}
		a.n = d.IntN(3)
		out = append(out, a)
	}
	return out
}

func TestPropertyTransactions(t *testing.T) {
	for round := range proptest.Cases(60) {
		seed := proptest.Seed() + int64(round)
		if !transactRound(t, seed, memory.Open()) {
			t.Fatalf("to repeat this, set SORTKEY_SEED=%d", seed)
		}
	}
}

func TestPropertyTransactionsOnDisk(t *testing.T) {
	for round := range proptest.Cases(5) {
		seed := proptest.Seed() + int64(round)
		st, err := disk.Open(t.TempDir(), disk.Options{SyncEvery: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		if !transactRound(t, seed, st) {
			t.Fatalf("to repeat this, set SORTKEY_SEED=%d", seed)
		}
	}
}

// transactRound runs one program on a store, closes the store, and reports
// whether the history is serial. Several stores are one store that servers share; each
// client uses one of them.
func transactRound(t *testing.T, seed int64, stores ...store.Store) bool {
	t.Helper()
	d := draw{rand.New(rand.NewPCG(uint64(seed), 1))}
	var servers []*transactClient
	for _, st := range stores {
		db, err := sortkey.Open(sortkey.Options{Store: st, Rand: seededReader()})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		servers = append(servers, &transactClient{svc: inside.Service(db)})
	}
	ctx := t.Context()
	c := servers[0]
	if err := c.createTables(ctx); err != nil {
		t.Fatal(err)
	}
	program := d.program(2+d.IntN(5), 10+d.IntN(20))
	events := make([][]porcupine.Operation, len(program))
	start := time.Now()
	var wg sync.WaitGroup
	for client, requests := range program {
		wg.Go(func() {
			for _, r := range requests {
				call := time.Since(start)
				got := servers[client%len(servers)].run(ctx, r)
				events[client] = append(events[client], porcupine.Operation{ClientId: client, Input: r, Call: int64(call), Output: got, Return: int64(time.Since(start))})
			}
		})
	}
	wg.Wait()
	history := slices.Concat(events...)
	// Finally, read everything.
	for _, last := range []*transact{
		{kind: transactGet, cells: []int{0, 1, 2, 3, 4, 5}}, {kind: scanTable, table: 0}, {kind: scanTable, table: 1}, {kind: scanIndex, table: 0}, {kind: scanIndex, table: 1},
	} {
		call := time.Since(start)
		history = append(history, porcupine.Operation{Input: last, Call: int64(call), Output: c.run(ctx, last), Return: int64(time.Since(start))})
	}
	return checkSerial(t, history)
}

// checkSerial searches for a serial order. It fails at once for unexpected
// errors and reused tokens.
func checkSerial(t *testing.T, history []porcupine.Operation) bool {
	t.Helper()
	for _, op := range history {
		if f := op.Output.(outcome).failure; f != "" {
			t.Errorf("%v answers %s", op.Input, f)
			return false
		}
	}
	result, info := porcupine.CheckOperationsVerbose(transactModel, history, time.Minute)
	if result == porcupine.Ok {
		return true
	}
	t.Errorf("no serial order explains these answers: %s", result)
	slices.SortFunc(history, func(a, b porcupine.Operation) int { return cmp.Compare(a.Call, b.Call) })
	for _, op := range history {
		t.Logf("%8d %8d client %d: %s", op.Call, op.Return, op.ClientId, transactModel.DescribeOperation(op.Input, op.Output))
	}
	path := filepath.Join(os.TempDir(), "sortkey-transactions.html")
	if err := porcupine.VisualizePath(transactModel, info, path); err == nil {
		t.Logf("drawn in %s", path)
	}
	return false
}

// TestTransactModel checks that checkSerial refuses histories without a serial
// order.
func TestTransactModel(t *testing.T) {
	add := func(id int, cells ...int) *transact {
		tr := &transact{kind: transactWrite, id: id}
		for _, c := range cells {
			tr.actions = append(tr.actions, cellAction{verb: "add", cell: c})
		}
		return tr
	}
	get := &transact{kind: transactGet, cells: []int{0, 3}}
	ok, none := outcome{}, cell{}
	twice := add(1, 0)
	twice.token = 1
	check := &transact{kind: transactWrite, id: 2, actions: []cellAction{{verb: "add", cell: 0}, {verb: "check", cell: 3, when: "exists"}}}
	cancelled := outcome{reasons: []string{"None", "ConditionalCheckFailed"}}
	for name, tt := range map[string]struct {
		want bool
		ops  []porcupine.Operation
	}{
		"one after the other": {true, []porcupine.Operation{{Input: add(1, 0, 3), Call: 1, Output: ok, Return: 2}, {Input: get, Call: 3, Output: outcome{cells: []cell{{1, 1}, {1, 1}}}, Return: 4}}},
		"half seen":           {false, []porcupine.Operation{{Input: add(1, 0, 3), Call: 1, Output: ok, Return: 4}, {ClientId: 1, Input: get, Call: 2, Output: outcome{cells: []cell{{1, 1}, none}}, Return: 3}}},
		"lost update":         {false, []porcupine.Operation{{Input: add(1, 0), Call: 1, Output: ok, Return: 4}, {ClientId: 1, Input: add(2, 0), Call: 2, Output: ok, Return: 3}, {Input: get, Call: 5, Output: outcome{cells: []cell{{1, 2}, none}}, Return: 6}}},
		"a leftover":          {false, []porcupine.Operation{{Input: check, Call: 1, Output: cancelled, Return: 2}, {Input: get, Call: 3, Output: outcome{cells: []cell{{1, 2}, none}}, Return: 4}}},
		"cancelled":           {true, []porcupine.Operation{{Input: check, Call: 1, Output: cancelled, Return: 2}, {Input: get, Call: 3, Output: outcome{cells: []cell{none, none}}, Return: 4}}},
		"token used twice":    {false, []porcupine.Operation{{Input: twice, Call: 1, Output: ok, Return: 2}, {Input: twice, Call: 3, Output: ok, Return: 4}, {Input: get, Call: 5, Output: outcome{cells: []cell{{2, 1}, none}}, Return: 6}}},
	} {
		if got := porcupine.CheckOperations(transactModel, tt.ops); got != tt.want {
			t.Errorf("%s: serial = %v, want %v", name, got, tt.want)
		}
	}
}
