package fuzz_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/sortkey/sortkey/store"
)

// These tests prove from the answers alone that transactions are serialisable. Clients concurrently run random
// transactions on a few items of two tables. Some clients send requests; others use the Go API, with single
// operations, DB.Update and DB.View, forks and snapshots. Meanwhile tables and indexes are created and deleted, and
// databases are closed and opened again. Every successful write stores the number of its transaction in the item, and
// increments or resets the item's counter, so almost no two orders produce the same answers. Porcupine then searches
// for an order such that
//
//   - a transaction that ended before another began comes before it, and
//   - running the transactions one after the other on a map of the items
//     produces exactly the answers that the clients received: success, or the
//     reason of every action with its item; the items of a TransactGetItems
//     over both tables; and those of a Scan of a table and of an index.
//
// No such order exists if a client ever saw half a transaction, if a cancelled transaction left a change, if one was
// applied twice under one token, or if an index and its table disagreed.

// cells is the number of possible items: three in each table.
const cells = 6

// A cell is the state of an item. If by is 0, the item does not exist.
type cell struct {
	n  int // counter
	by int // number of the transaction that wrote it last
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
	administer // changes of no item of the history
)

// A transact is one request of a client.
type transact struct {
	kind    transactKind
	id      int
	token   int // 1 … 63, 0 for none
	actions []cellAction
	cells   []int // read in this order
	table   int   // scanned, deleted or created
	// how chooses one of the ways in which the Go API can make the request.
	how int
	// abandoned makes the function of an Update return an error at its end.
	abandoned bool
	restart   bool // administer restarts the database
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
	unanswered bool   // the request may have been executed, may be later, or never
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

// Answers to the whole request, in place of the reasons of its actions.
var (
	noTable   = []string{"no such table"}
	hasTable  = []string{"the table exists"}
	abandoned = []string{"abandoned"}
)

// lacks reports whether the request needs a table that does not exist.
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

// step applies a request to a state. It returns the new state and the answer that the service should give.
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
}

// transactTables are the tables. Each has an index whose keys change with every write of an item.
var transactTables = [2]string{"Accounts", "Orders"}

const transactIndex = "ByWriter"

// tableOfCell returns the number of the table that a cell is in.
func tableOfCell(i int) int { return i / (cells / 2) }

// cellKey returns the table and key of a cell. One of the tables has a sort
// key.
func cellKey(i int) (table string, key item) {
	if tableOfCell(i) == 0 {
		return transactTables[0], item{"p": text("item-" + strconv.Itoa(i))}
	}
	return transactTables[1], item{"p": text("item"), "s": integer(i)}
}

func integer(n int) value { return number(strconv.Itoa(n)) }

// A requestClient sends requests to a database in this process or to a server.
type requestClient struct {
	send func(op string, body []byte) (r reply, answered bool)
}

// write returns the verb and the parameters of a write of transaction id, as an action or as a request of its own.
func (a cellAction) write(id int) (verb string, in map[string]any) {
	table, key := cellKey(a.cell)
	in = map[string]any{"TableName": table}
	values, group := item{}, text("g"+strconv.Itoa(id%3))
	switch a.when {
	case "exists":
		in["ConditionExpression"] = "attribute_exists(p)"
	case "absent":
		in["ConditionExpression"] = "attribute_not_exists(p)"
	case "counter":
		in["ConditionExpression"] = "n = :n"
		values[":n"] = integer(a.n)
	}
	if a.old {
		in["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
	}
	if a.verb == "put" {
		key["g"], key["by"], key["n"] = group, integer(id), integer(0)
		in["Item"] = key.wire()
	} else {
		in["Key"] = key.wire()
	}
	if a.verb == "add" {
		values[":one"], values[":by"], values[":g"] = integer(1), integer(id), group
		src := "SET #by = :by, g = :g ADD n :one"
		switch {
		case id%2 == 0 && (a.when == "exists" || a.when == "counter"):
			src = "SET n = n + :one, #by = :by, g = :g"
		case id%2 == 0:
			values[":zero"] = integer(0)
			src = "SET #by = :by, g = :g, n = if_not_exists(n, :zero) + :one"
		}
		in["UpdateExpression"], in["ExpressionAttributeNames"] = src, map[string]string{"#by": "by"}
	}
	if len(values) > 0 {
		in["ExpressionAttributeValues"] = values.wire()
	}
	return map[string]string{"put": "Put", "add": "Update", "delete": "Delete", "check": "ConditionCheck"}[a.verb], in
}

// run sends a request and returns the outcome.
func (c requestClient) run(t *transact) outcome {
	op, in := "TransactWriteItems", map[string]any{}
	var actions []any
	switch t.kind {
	case transactGet:
		op = "TransactGetItems"
		for _, i := range t.cells {
			table, key := cellKey(i)
			actions = append(actions, map[string]any{"Get": map[string]any{"TableName": table, "Key": key.wire()}})
		}
	case scanTable, scanIndex:
		op, in["TableName"] = "Scan", transactTables[t.table]
		if t.kind == scanIndex {
			in["IndexName"] = transactIndex
		}
	case writeOne:
		op, in = t.actions[0].write(t.id)
		op += "Item"
	default:
		for _, a := range t.actions {
			verb, action := a.write(t.id)
			actions = append(actions, map[string]any{verb: action})
		}
		if t.token != 0 {
			in["ClientRequestToken"] = "token-" + strconv.Itoa(t.token)
		}
	}
	if actions != nil {
		in["TransactItems"] = actions
	}
	got, out := c.ask(op, in)
	for _, r := range got.CancellationReasons {
		out.reasons = append(out.reasons, reason(r.Code, r.Item))
	}
	for _, r := range got.Responses {
		out.cells = append(out.cells, cellOf(r.Item))
	}
	switch {
	case got.Type == "ConditionalCheckFailedException":
		out.reasons = []string{reason("ConditionalCheckFailed", got.Item)}
	case got.Type == "ResourceNotFoundException":
		out.reasons = noTable
	case got.Type != "" && got.CancellationReasons == nil:
		out.failure = got.Type
	case got.Type == "" && op == "Scan" && !out.unanswered:
		var all []faceItem
		for _, it := range got.Items {
			c := cellOf(it)
			all = append(all, faceItem{P: it["p"].data, S: intOf(it["s"]), G: it["g"].data, By: c.by, N: c.n})
		}
		if err := out.gather(t, all); err != nil {
			out.failure = err.Error()
		}
	}
	return out
}

// A transactAnswer has the members that answers to all kinds of requests may have.
type transactAnswer struct {
	Type                string `json:"__type"`
	Item                item
	Items               []item
	Responses           []struct{ Item item }
	CancellationReasons []struct {
		Code string
		Item item
	}
}

// ask sends a request. The outcome says whether it was answered; of errors, only those with a 4xx status count as
// answers.
func (c requestClient) ask(op string, in any) (got transactAnswer, out outcome) {
	r, answered := c.send(op, marshal(in))
	switch {
	case !answered:
		return got, outcome{failure: "no answer", unanswered: true}
	case bytes.Contains(r.body, []byte(store.ErrClosed.Error())):
		return got, outcome{unanswered: true}
	case r.status/100 == 5:
		return got, outcome{failure: string(r.body), unanswered: true}
	}
	if err := json.Unmarshal(r.body, &got); err != nil {
		return got, outcome{failure: fmt.Sprintf("%s: %v", r.body, err)}
	}
	_, got.Type, _ = strings.Cut(got.Type, "#")
	return got, out
}

// reason returns the code of a cancelled action, with the item in the answer.
func reason(code string, it item) string {
	if it == nil {
		return code
	}
	return code + " " + cellOf(it).String()
}

func cellOf(it item) cell { return cell{n: intOf(it["n"]), by: intOf(it["by"])} }

// intOf returns the number in v, 0 for no value, or -1 for any other value.
func intOf(v value) int {
	n, err := strconv.Atoi(cmp.Or(v.data, "0"))
	if err != nil {
		return -1
	}
	return n
}

// inGo reports whether a client uses the Go API.
func inGo(client int) bool { return client%2 == 0 }

// program returns random requests for each client. A few writes are sent by two clients, under one token. Clients for
// which goes returns true use the Go API: they abandon transactions, restart the database, and create and delete
// tables.
func (d draw) program(clients, requests int, goes func(client int) bool) [][]*transact {
	out := make([][]*transact, clients)
	id, token := 0, 0
	for range requests {
		for c := range out {
			id++
			t := &transact{id: id, how: d.IntN(24)}
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
			if !goes(c) {
				other := d.IntN(clients)
				if t.kind == transactWrite && token < 63 && !goes(other) && d.often(25) {
					token++
					t.token = token
					out[other] = append(out[other], t)
				}
				continue
			}
			t.abandoned = t.kind == transactWrite && d.often(10)
			switch n := d.IntN(100); {
			case n < 8:
				id++
				out[c] = append(out[c], &transact{
					kind: administer, id: id, table: d.IntN(2), how: d.IntN(24), restart: d.often(15),
				})
			case n < 12:
				out[c] = append(out[c], &transact{kind: deleteTable, table: 1})
			case n < 18:
				out[c] = append(out[c], &transact{kind: createTable, table: 1})
			}
		}
	}
	return out
}

// someCells returns n different cells in random order.
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

// runProgram sends the requests of all clients concurrently and finally reads everything. It repeats reads, and
// transactions with a token, until they are answered, because they are safe to repeat. It returns the history.
func runProgram(program [][]*transact, send func(client int, r *transact) outcome) []porcupine.Operation {
	start := time.Now()
	run := func(client int, requests []*transact) (ops []porcupine.Operation) {
		for _, r := range requests {
			for again := true; again; {
				call := time.Since(start)
				got := send(client, r)
				ops = append(ops, porcupine.Operation{
					ClientId: client, Input: r, Call: int64(call), Output: got, Return: int64(time.Since(start)),
				})
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
		{kind: transactGet, cells: []int{0, 1, 2, 3, 4, 5}},
		{kind: scanTable, table: 0}, {kind: scanTable, table: 1}, {kind: scanIndex, table: 0}, {kind: scanIndex, table: 1},
	})...)
}

// openEnded returns a history in which each write without an answer lasts until the end of the history. So the write
// may take effect at any time after its call, or never: as the last operation of an order it changes no answer. Reads
// without an answer are left out.
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

// checkSerial searches for a serial order of the history. It fails the test for unexpected errors and reused tokens.
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
	switch porcupine.CheckOperationsTimeout(transactModel, history, limit) {
	case porcupine.Ok:
		return true
	case porcupine.Unknown:
		t.Errorf("not decided in %v whether a serial order explains these answers", limit)
	default:
		t.Error("no serial order explains these answers")
	}
	slices.SortFunc(history, func(a, b porcupine.Operation) int { return cmp.Compare(a.Call, b.Call) })
	for _, op := range history {
		t.Logf("%8d %8d client %d: %+v -> %+v", op.Call, op.Return, op.ClientId, *op.Input.(*transact), op.Output)
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
	pair := &transact{kind: transactGet, cells: []int{3, 4}}
	ok, none := outcome{}, cell{}
	twice := add(1, 0)
	twice.token = 1
	check := add(2, 0)
	check.actions = append(check.actions, cellAction{verb: "check", cell: 3, when: "exists"})
	cancelled := outcome{reasons: []string{"None", "ConditionalCheckFailed"}}
	gone := outcome{reasons: noTable}
	lost, left := outcome{unanswered: true}, outcome{reasons: abandoned}
	drop, again := &transact{kind: deleteTable, table: 1}, &transact{kind: createTable, table: 1}
	leave := add(1, 0)
	leave.abandoned = true
	sees := func(cells ...cell) outcome { return outcome{cells: cells} }
	one, two := cell{1, 1}, cell{1, 2}

	type event struct {
		in  *transact
		out outcome
	}
	for _, tt := range []struct {
		name   string
		want   bool
		during int // index of an event that runs during the one before it, or 0
		events []event
	}{
		{"one after the other", true, 0, []event{{add(1, 0, 3), ok}, {get, sees(one, one)}}},
		{"half seen", false, 1, []event{{add(1, 0, 3), ok}, {get, sees(one, none)}}},
		{"lost update", false, 1, []event{{add(1, 0), ok}, {add(2, 0), ok}, {get, sees(two, none)}}},
		{"a leftover", false, 0, []event{{check, cancelled}, {get, sees(two, none)}}},
		{"cancelled", true, 0, []event{{check, cancelled}, {get, sees(none, none)}}},
		{"acknowledged, gone", false, 0, []event{{add(1, 0), ok}, {get, sees(none, none)}}},
		{"no answer, done", true, 0, []event{{add(1, 0), lost}, {get, sees(one, none)}}},
		{"no answer, late", true, 0, []event{{add(1, 0), lost}, {get, sees(none, none)}, {get, sees(one, none)}}},
		{"no answer, undone", false, 0, []event{{add(1, 0), lost}, {get, sees(one, none)}, {get, sees(none, none)}}},
		{"no answer, twice", false, 0, []event{{add(1, 0), lost}, {get, sees(cell{2, 1}, none)}}},
		{"no answer, early", false, 0, []event{{get, sees(one, none)}, {add(1, 0), lost}}},
		{"no answer to a read", true, 0, []event{{get, lost}}},
		{"no answer, one token", true, 0, []event{{twice, lost}, {twice, ok}, {get, sees(one, none)}}},
		{"token used twice", false, 0, []event{{twice, ok}, {twice, ok}, {get, sees(cell{2, 1}, none)}}},
		{"deleted table", true, 0, []event{
			{add(1, 0, 3), ok}, {drop, ok}, {get, gone}, {again, ok}, {get, sees(one, none)},
		}},
		{"half a deleted table", false, 2, []event{{add(1, 3, 4), ok}, {drop, ok}, {pair, sees(one, none)}}},
		{"items of a deleted table", false, 0, []event{{add(1, 3), ok}, {drop, ok}, {again, ok}, {get, sees(none, one)}}},
		{"abandoned", true, 0, []event{{leave, left}, {get, sees(none, none)}}},
		{"abandoned, a leftover", false, 0, []event{{leave, left}, {get, sees(one, none)}}},
	} {
		var ops []porcupine.Operation
		for i, e := range tt.events {
			call := int64(10 * i)
			ops = append(ops, porcupine.Operation{ClientId: i, Input: e.in, Call: call, Output: e.out, Return: call + 1})
		}
		if tt.during > 0 {
			ops[tt.during-1].Return = ops[tt.during].Return + 1
		}
		if got := porcupine.CheckOperations(transactModel, openEnded(ops)); got != tt.want {
			t.Errorf("%s: serial = %v, want %v", tt.name, got, tt.want)
		}
	}
}
