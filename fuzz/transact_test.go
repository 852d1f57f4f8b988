package fuzz_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/sdk"
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
	tokens uint64  // used tokens
	gone   [2]bool // tables that were deleted
}

type transactKind int

const (
	transactWrite transactKind = iota
	transactGet
	scanTable
	scanIndex
	writeOne
	deleteTable
	createTable
	administer // whatever changes no item
)

// A transact is one request of a client.
type transact struct {
	kind    transactKind
	id      int
	token   int // 1 … 63, 0 for none
	actions []cellAction
	cells   []int // read in this order
	table   int   // scanned, deleted or created
	// how chooses among the ways in which the store in Go can make the request.
	how int
	// abandoned says that a transaction of the store in Go fails at its end.
	abandoned bool
	restart   bool // the database, by administer
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
	failure    string // any other error
	unanswered bool   // the request may have been carried out, may be later, or never
	reasons    []string
	cells      []cell
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

func (t *transact) reads() bool {
	switch t.kind {
	case transactWrite, writeOne, deleteTable, createTable:
		return false
	}
	return true
}

// Answers that take the place of the reasons of actions.
var (
	noTable   = []string{"no such table"}
	hasTable  = []string{"the table exists"}
	abandoned = []string{"abandoned"}
)

// lacks reports whether the request needs a table that is gone.
func (t *transact) lacks(s transactState) bool {
	for _, a := range t.actions {
		if s.gone[tableOfCell(a.cell)] {
			return true
		}
	}
	for _, i := range t.cells {
		if s.gone[tableOfCell(i)] {
			return true
		}
	}
	switch t.kind {
	case scanTable, scanIndex, deleteTable:
		return s.gone[t.table]
	}
	return false
}

// step answers a request on a state as the service should.
func (t *transact) step(s transactState) (transactState, outcome) {
	if t.lacks(s) {
		return s, outcome{reasons: noTable}
	}
	switch t.kind {
	case administer:
		return s, outcome{}
	case createTable:
		if !s.gone[t.table] {
			return s, outcome{reasons: hasTable}
		}
		s.gone[t.table] = false
		return s, outcome{}
	case deleteTable:
		s.gone[t.table] = true
		clear(s.cells[t.table*cells/2 : (t.table+1)*cells/2])
		return s, outcome{}
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
	if t.abandoned {
		return s, outcome{reasons: abandoned}
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
		if got.unanswered {
			return true, next
		}
		ok := got.failure == "" && slices.Equal(got.reasons, want.reasons) && slices.Equal(got.cells, want.cells)
		return ok, next
	},
	Equal: func(a, b any) bool { return a.(transactState) == b.(transactState) },
	DescribeOperation: func(input, output any) string {
		t, got := input.(*transact), output.(outcome)
		if got.unanswered {
			got.failure = "no answer"
		}
		return fmt.Sprintf("%d %s %v -> %s%v%v", t.kind, strings.TrimSpace(fmt.Sprint(t.id, " token ", t.token)), t.actions, got.failure, got.reasons, got.cells)
	},
	DescribeState: func(state any) string { return fmt.Sprint(state.(transactState).cells) },
}

// transactTables are the tables, each with the name of an index whose keys
// change with every write of an item.
var transactTables = [2]string{"Accounts", "Orders"}

const transactIndex = "ByWriter"

// attributes are those of an item, a key or a list of placeholders.
type attributes = map[string]types.AttributeValue

// tableOfCell returns the number of the table that a cell is in.
func tableOfCell(i int) int { return i / (cells / 2) }

// cellKey returns the table and key of a cell. One of the tables has a sort
// key.
func cellKey(i int) (name *string, key attributes) {
	if tableOfCell(i) == 0 {
		return &transactTables[0], attributes{"p": &types.AttributeValueMemberS{Value: "item-" + strconv.Itoa(i)}}
	}
	return &transactTables[1], attributes{"p": &types.AttributeValueMemberS{Value: "item"}, "s": intValue(i)}
}

func intValue(n int) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.Itoa(n)}
}

// A transactClient sends requests to a database in this process or to a server.
type transactClient struct{ db *dynamodb.Client }

func (c *transactClient) createTables(ctx context.Context) error {
	for i, name := range transactTables {
		in := &dynamodb.CreateTableInput{
			TableName: &name, BillingMode: types.BillingModePayPerRequest,
			AttributeDefinitions: []types.AttributeDefinition{
				{AttributeName: new("p"), AttributeType: types.ScalarAttributeTypeS}, {AttributeName: new("g"), AttributeType: types.ScalarAttributeTypeS}, {AttributeName: new("by"), AttributeType: types.ScalarAttributeTypeN},
			},
			KeySchema: []types.KeySchemaElement{{AttributeName: new("p"), KeyType: types.KeyTypeHash}},
			GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
				IndexName:  new(transactIndex),
				KeySchema:  []types.KeySchemaElement{{AttributeName: new("g"), KeyType: types.KeyTypeHash}, {AttributeName: new("by"), KeyType: types.KeyTypeRange}},
				Projection: &types.Projection{ProjectionType: types.ProjectionTypeInclude, NonKeyAttributes: []string{"n"}},
			}},
		}
		if i == 1 {
			in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{AttributeName: new("s"), AttributeType: types.ScalarAttributeTypeN})
			in.KeySchema = append(in.KeySchema, types.KeySchemaElement{AttributeName: new("s"), KeyType: types.KeyTypeRange})
		}
		if _, err := c.db.CreateTable(ctx, in); err != nil {
			return err
		}
	}
	return nil
}

// condition returns a condition and its values, which are nil if there are none.
func (a cellAction) condition() (src *string, values attributes) {
	switch a.when {
	case "exists":
		return new("attribute_exists(p)"), nil
	case "absent":
		return new("attribute_not_exists(p)"), nil
	case "counter":
		return new("n = :n"), attributes{":n": intValue(a.n)}
	}
	return nil, nil
}

func (a cellAction) onFailure() types.ReturnValuesOnConditionCheckFailure {
	if a.old {
		return types.ReturnValuesOnConditionCheckFailureAllOld
	}
	return ""
}

// write returns the action for one write of transaction id.
func (a cellAction) write(id int) types.TransactWriteItem {
	name, key := cellKey(a.cell)
	cond, values := a.condition()
	group, by := &types.AttributeValueMemberS{Value: "g" + strconv.Itoa(id%3)}, intValue(id)
	switch a.verb {
	case "put":
		item := key
		item["g"], item["by"], item["n"] = group, by, intValue(0)
		return types.TransactWriteItem{Put: &types.Put{TableName: name, Item: item, ConditionExpression: cond, ExpressionAttributeValues: values, ReturnValuesOnConditionCheckFailure: a.onFailure()}}
	case "delete":
		return types.TransactWriteItem{Delete: &types.Delete{TableName: name, Key: key, ConditionExpression: cond, ExpressionAttributeValues: values, ReturnValuesOnConditionCheckFailure: a.onFailure()}}
	case "check":
		return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{TableName: name, Key: key, ConditionExpression: cond, ExpressionAttributeValues: values, ReturnValuesOnConditionCheckFailure: a.onFailure()}}
	}
	set := attributes{":one": intValue(1), ":by": by, ":g": group}
	maps.Copy(set, values)
	src := "SET #by = :by, g = :g ADD n :one"
	switch {
	case id%2 == 0 && (a.when == "exists" || a.when == "counter"):
		src = "SET n = n + :one, #by = :by, g = :g"
	case id%2 == 0:
		set[":zero"] = intValue(0)
		src = "SET #by = :by, g = :g, n = if_not_exists(n, :zero) + :one"
	}
	return types.TransactWriteItem{Update: &types.Update{
		TableName: name, Key: key, UpdateExpression: new(src), ConditionExpression: cond,
		ExpressionAttributeNames: map[string]string{"#by": "by"}, ExpressionAttributeValues: set, ReturnValuesOnConditionCheckFailure: a.onFailure(),
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
	in := new(dynamodb.TransactWriteItemsInput)
	for _, a := range t.actions {
		in.TransactItems = append(in.TransactItems, a.write(t.id))
	}
	if t.token != 0 {
		in.ClientRequestToken = new("token-" + strconv.Itoa(t.token))
	}
	// Without a provider, the SDK adds no token to a transaction that has none.
	_, err := c.db.TransactWriteItems(ctx, in, func(o *dynamodb.Options) { o.IdempotencyTokenProvider = nil })
	if err == nil {
		return outcome{}
	}
	e, ok := errors.AsType[*types.TransactionCanceledException](err)
	if !ok {
		return failed(err)
	}
	var out outcome
	for _, r := range e.CancellationReasons {
		out.reasons = append(out.reasons, reason(*r.Code, r.Item))
	}
	return out
}

// reason returns the code of a cancelled action, with the item that it returns.
func reason(code string, item attributes) string {
	if item == nil {
		return code
	}
	return code + " " + cellOf(item).String()
}

// failed returns the outcome of an unexpected error. Only an error that blames the client
// counts as an answer.
func failed(err error) outcome {
	e, ok := errors.AsType[*awshttp.ResponseError](err)
	return outcome{failure: err.Error(), unanswered: !ok || e.HTTPStatusCode()/100 != 4}
}

// one sends the only action of a transaction as a request of its own.
func (c *transactClient) one(ctx context.Context, t *transact) outcome {
	w := t.actions[0].write(t.id)
	var err error
	switch {
	case w.Put != nil:
		p := w.Put
		_, err = c.db.PutItem(ctx, &dynamodb.PutItemInput{TableName: p.TableName, Item: p.Item, ConditionExpression: p.ConditionExpression, ExpressionAttributeValues: p.ExpressionAttributeValues, ReturnValuesOnConditionCheckFailure: p.ReturnValuesOnConditionCheckFailure})
	case w.Delete != nil:
		d := w.Delete
		_, err = c.db.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: d.TableName, Key: d.Key, ConditionExpression: d.ConditionExpression, ExpressionAttributeValues: d.ExpressionAttributeValues, ReturnValuesOnConditionCheckFailure: d.ReturnValuesOnConditionCheckFailure})
	default:
		u := w.Update
		_, err = c.db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: u.TableName, Key: u.Key, UpdateExpression: u.UpdateExpression, ConditionExpression: u.ConditionExpression,
			ExpressionAttributeNames: u.ExpressionAttributeNames, ExpressionAttributeValues: u.ExpressionAttributeValues, ReturnValuesOnConditionCheckFailure: u.ReturnValuesOnConditionCheckFailure,
		})
	}
	if err == nil {
		return outcome{}
	}
	e, ok := errors.AsType[*types.ConditionalCheckFailedException](err)
	if !ok {
		return failed(err)
	}
	return outcome{reasons: []string{reason("ConditionalCheckFailed", e.Item)}}
}

func (c *transactClient) get(ctx context.Context, t *transact) outcome {
	in := new(dynamodb.TransactGetItemsInput)
	for _, i := range t.cells {
		name, key := cellKey(i)
		in.TransactItems = append(in.TransactItems, types.TransactGetItem{Get: &types.Get{TableName: name, Key: key}})
	}
	got, err := c.db.TransactGetItems(ctx, in)
	if err != nil {
		return failed(err)
	}
	var out outcome
	for _, r := range got.Responses {
		out.cells = append(out.cells, cellOf(r.Item))
	}
	return out
}

// scan reads a table or its index. The result includes cells without an item.
func (c *transactClient) scan(ctx context.Context, t *transact) outcome {
	in := &dynamodb.ScanInput{TableName: &transactTables[t.table]}
	if t.kind == scanIndex {
		in.IndexName = new(transactIndex)
	}
	got, err := c.db.Scan(ctx, in)
	if err != nil {
		return failed(err)
	}
	out := outcome{cells: make([]cell, cells/2)}
	for _, item := range got.Items {
		id := intOf(item["s"])
		if t.table == 0 {
			if id, err = strconv.Atoi(strings.TrimPrefix(stringOf(item["p"]), "item-")); err != nil {
				return outcome{failure: err.Error()}
			}
		}
		at := &out.cells[id-t.table*cells/2]
		if at.by != 0 {
			return outcome{failure: fmt.Sprintf("item %d occurs twice", id)}
		}
		*at = cellOf(item)
		if want, got := "g"+strconv.Itoa(at.by%3), stringOf(item["g"]); got != want {
			return outcome{failure: fmt.Sprintf("item %d was written by %d and is in %q", id, at.by, got)}
		}
	}
	return out
}

func cellOf(item attributes) cell {
	return cell{n: intOf(item["n"]), by: intOf(item["by"])}
}

// stringOf returns a string, or "" for another value.
func stringOf(v types.AttributeValue) string {
	s, _ := v.(*types.AttributeValueMemberS)
	if s == nil {
		return ""
	}
	return s.Value
}

// intOf returns a number, 0 for another value, and -1 for a number that is not an
// integer.
func intOf(v types.AttributeValue) int {
	text, _ := v.(*types.AttributeValueMemberN)
	if text == nil {
		return 0
	}
	n, err := strconv.Atoi(text.Value)
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
// whether the history is serial. Several stores share the same rows, as those of several
// servers do; each client uses one of them.
func transactRound(t *testing.T, seed int64, stores ...store.Store) bool {
	t.Helper()
	d := draw{rand.New(rand.NewPCG(uint64(seed), 1))}
	var servers []*transactClient
	for _, st := range stores {
		db, err := sortkey.Open(sortkey.Options{Store: st, Rand: rand.NewChaCha8([32]byte{})})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		servers = append(servers, &transactClient{sdk.Client(db)})
	}
	if err := servers[0].createTables(t.Context()); err != nil {
		t.Fatal(err)
	}
	program := d.program(2+d.IntN(5), 10+d.IntN(20))
	return checkSerial(t, runProgram(program, func(client int, r *transact) outcome {
		return servers[client%len(servers)].run(t.Context(), r)
	}))
}

// runProgram sends the requests of all clients concurrently and finally reads
// everything. Reads, and transactions with a token, are safe to send again, so it sends
// them until they are answered. It returns the history.
func runProgram(program [][]*transact, send func(client int, r *transact) outcome) []porcupine.Operation {
	start := time.Now()
	run := func(client int, requests []*transact) (ops []porcupine.Operation) {
		for _, r := range requests {
			for again := true; again; {
				call := time.Since(start)
				got := send(client, r)
				ops = append(ops, porcupine.Operation{ClientId: client, Input: r, Call: int64(call), Output: got, Return: int64(time.Since(start))})
				again = got.unanswered && got.failure == "" && (r.token != 0 || r.reads())
			}
		}
		return ops
	}
	events := make([][]porcupine.Operation, len(program))
	var wg sync.WaitGroup
	for client, requests := range program {
		wg.Go(func() { events[client] = run(client, requests) })
	}
	wg.Wait()
	return append(slices.Concat(events...), run(0, []*transact{
		{kind: transactGet, cells: []int{0, 1, 2, 3, 4, 5}}, {kind: scanTable, table: 0}, {kind: scanTable, table: 1}, {kind: scanIndex, table: 0}, {kind: scanIndex, table: 1},
	})...)
}

// openEnded returns a history in which each write without an answer lasts until the end of
// the history, so it may take effect at any time after its call, or never: as the last
// operation of an order it changes no answer. Reads without an answer are left out.
func openEnded(history []porcupine.Operation) []porcupine.Operation {
	var out []porcupine.Operation
	var end int64
	for _, op := range history {
		end = max(end, op.Return)
		if op.Output.(outcome).unanswered && op.Input.(*transact).reads() {
			continue
		}
		out = append(out, op)
	}
	for i := range out {
		if out[i].Output.(outcome).unanswered {
			out[i].Return = end + 1
		}
	}
	return out
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
	history = openEnded(history)
	const limit = time.Minute
	result, info := porcupine.CheckOperationsVerbose(transactModel, history, limit)
	switch result {
	case porcupine.Ok:
		return true
	case porcupine.Unknown:
		t.Errorf("not decided in %v whether a serial order explains these answers", limit)
	default:
		t.Error("no serial order explains these answers")
	}
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
	lost := outcome{unanswered: true}
	drop, again := &transact{kind: deleteTable, table: 1}, &transact{kind: createTable, table: 1}
	left := add(1, 0)
	left.abandoned = true
	read := func(call int64, c cell) porcupine.Operation {
		return porcupine.Operation{Input: get, Call: call, Output: outcome{cells: []cell{c, none}}, Return: call + 1}
	}
	for name, tt := range map[string]struct {
		want bool
		ops  []porcupine.Operation
	}{
		"one after the other":  {true, []porcupine.Operation{{Input: add(1, 0, 3), Call: 1, Output: ok, Return: 2}, {Input: get, Call: 3, Output: outcome{cells: []cell{{1, 1}, {1, 1}}}, Return: 4}}},
		"half seen":            {false, []porcupine.Operation{{Input: add(1, 0, 3), Call: 1, Output: ok, Return: 4}, {ClientId: 1, Input: get, Call: 2, Output: outcome{cells: []cell{{1, 1}, none}}, Return: 3}}},
		"lost update":          {false, []porcupine.Operation{{Input: add(1, 0), Call: 1, Output: ok, Return: 4}, {ClientId: 1, Input: add(2, 0), Call: 2, Output: ok, Return: 3}, {Input: get, Call: 5, Output: outcome{cells: []cell{{1, 2}, none}}, Return: 6}}},
		"a leftover":           {false, []porcupine.Operation{{Input: check, Call: 1, Output: cancelled, Return: 2}, {Input: get, Call: 3, Output: outcome{cells: []cell{{1, 2}, none}}, Return: 4}}},
		"cancelled":            {true, []porcupine.Operation{{Input: check, Call: 1, Output: cancelled, Return: 2}, {Input: get, Call: 3, Output: outcome{cells: []cell{none, none}}, Return: 4}}},
		"acknowledged, gone":   {false, []porcupine.Operation{{Input: add(1, 0), Call: 1, Output: ok, Return: 2}, read(3, none)}},
		"no answer, done":      {true, []porcupine.Operation{{Input: add(1, 0), Call: 1, Output: lost, Return: 2}, read(3, cell{1, 1})}},
		"no answer, done late": {true, []porcupine.Operation{{Input: add(1, 0), Call: 1, Output: lost, Return: 2}, read(3, none), read(5, cell{1, 1})}},
		"no answer, not done":  {true, []porcupine.Operation{{Input: add(1, 0), Call: 1, Output: lost, Return: 2}, read(3, none), {Input: add(2, 0), Call: 5, Output: ok, Return: 6}, read(7, cell{1, 2})}},
		"no answer, undone":    {false, []porcupine.Operation{{Input: add(1, 0), Call: 1, Output: lost, Return: 2}, read(3, cell{1, 1}), read(5, none)}},
		"no answer, twice":     {false, []porcupine.Operation{{Input: add(1, 0), Call: 1, Output: lost, Return: 2}, read(3, cell{2, 1})}},
		"no answer, early":     {false, []porcupine.Operation{read(1, cell{1, 1}), {Input: add(1, 0), Call: 3, Output: lost, Return: 4}}},
		"no answer to a read":  {true, []porcupine.Operation{{Input: get, Call: 1, Output: lost, Return: 2}}},
		"no answer, one token": {true, []porcupine.Operation{{Input: twice, Call: 1, Output: lost, Return: 2}, {Input: twice, Call: 3, Output: ok, Return: 4}, read(5, cell{1, 1})}},
		"deleted table": {true, []porcupine.Operation{
			{Input: add(1, 0, 3), Call: 1, Output: ok, Return: 2}, {Input: drop, Call: 3, Output: ok, Return: 4},
			{Input: get, Call: 5, Output: outcome{reasons: noTable}, Return: 6}, {Input: again, Call: 7, Output: ok, Return: 8},
			{Input: get, Call: 9, Output: outcome{cells: []cell{{1, 1}, none}}, Return: 10},
		}},
		"half a deleted table": {false, []porcupine.Operation{
			{Input: add(1, 3, 4), Call: 1, Output: ok, Return: 2}, {Input: drop, Call: 3, Output: ok, Return: 6},
			{ClientId: 1, Input: &transact{kind: transactGet, cells: []int{3, 4}}, Call: 4, Output: outcome{cells: []cell{{1, 1}, none}}, Return: 5},
		}},
		"items of a deleted table": {false, []porcupine.Operation{
			{Input: add(1, 3), Call: 1, Output: ok, Return: 2}, {Input: drop, Call: 3, Output: ok, Return: 4},
			{Input: again, Call: 5, Output: ok, Return: 6}, {Input: get, Call: 7, Output: outcome{cells: []cell{none, {1, 1}}}, Return: 8},
		}},
		"abandoned":             {true, []porcupine.Operation{{Input: left, Call: 1, Output: outcome{reasons: abandoned}, Return: 2}, read(3, none)}},
		"abandoned, a leftover": {false, []porcupine.Operation{{Input: left, Call: 1, Output: outcome{reasons: abandoned}, Return: 2}, read(3, cell{1, 1})}},
		"token used twice":      {false, []porcupine.Operation{{Input: twice, Call: 1, Output: ok, Return: 2}, {Input: twice, Call: 3, Output: ok, Return: 4}, {Input: get, Call: 5, Output: outcome{cells: []cell{{2, 1}, none}}, Return: 6}}},
	} {
		if got := porcupine.CheckOperations(transactModel, openEnded(tt.ops)); got != tt.want {
			t.Errorf("%s: serial = %v, want %v", name, got, tt.want)
		}
	}
}
