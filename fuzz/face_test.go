package fuzz_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/tests/pgtest"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/disk"
	"github.com/sortkey/sortkey/store/postgres"
)

// A faceItem is an item of one of the tables.
type faceItem struct {
	P  string `dynamodbav:"p"`
	S  int    `dynamodbav:"s,omitempty"`
	G  string `dynamodbav:"g"`
	By int    `dynamodbav:"by"`
	N  int    `dynamodbav:"n"`
}

// faceKey returns the key of a cell; see cellKey.
func faceKey(i int) sortkey.Key {
	if tableOfCell(i) == 0 {
		return sortkey.Key{"item-" + strconv.Itoa(i)}
	}
	return sortkey.Key{"item", i}
}

// newFaceItem returns the item that transaction id writes to cell i.
func newFaceItem(i, id, n int) faceItem {
	it := faceItem{P: "item", S: i, G: "g" + strconv.Itoa(id%3), By: id, N: n}
	if tableOfCell(i) == 0 {
		it.P, it.S = "item-"+strconv.Itoa(i), 0
	}
	return it
}

// place returns the number of the item's cell.
func (it faceItem) place() (i int, err error) {
	if it.S != 0 {
		return it.S, nil
	}
	return strconv.Atoi(strings.TrimPrefix(it.P, "item-"))
}

// A faceClient is a client that calls the Go API of an open database.
type faceClient struct {
	db       *sortkey.DB
	tables   [2]*sortkey.TableOf[faceItem]
	requests requestClient // of the same database
	reopened chan struct{} // closed when the database is open again, with another client
}

func newFaceClient(db *sortkey.DB) *faceClient {
	c := &faceClient{db: db, requests: requestClient{inProcess(db)}, reopened: make(chan struct{})}
	for i, name := range transactTables {
		c.tables[i] = sortkey.Table[faceItem](db, name)
	}
	return c
}

// create creates one of the tables.
func (c *faceClient) create(ctx context.Context, table int) error {
	key := []string{"p", "p / s:N"}[table]
	return c.db.CreateTable(ctx, transactTables[table], key, sortkey.Global(transactIndex, "g / by:N").Only("n"))
}

// answered returns the outcome of a call that returned err.
func answered(err error) outcome {
	switch {
	case err == nil:
		return outcome{}
	case errors.Is(err, sortkey.ErrNoTable):
		return outcome{reasons: noTable}
	case errors.Is(err, errAbandoned):
		return outcome{reasons: abandoned}
	case errors.Is(err, store.ErrClosed):
		return outcome{unanswered: true}
	}
	return outcome{failure: fmt.Sprintf("%v (%v)", err, errors.Unwrap(err))}
}

// runOf runs a request of a client: by the Go API for clients that use it, and by a request for the others.
func (c *faceClient) runOf(ctx context.Context, client int, t *transact) outcome {
	if !inGo(client) {
		return c.requests.run(t)
	}
	return c.run(ctx, t)
}

func (c *faceClient) run(ctx context.Context, t *transact) outcome {
	switch t.kind {
	case transactWrite:
		return c.transaction(ctx, t)
	case writeOne:
		return c.one(ctx, t)
	case transactGet:
		return c.get(ctx, t)
	case scanTable, scanIndex:
		return c.scan(ctx, t)
	case deleteTable:
		for {
			err := c.db.DeleteTable(ctx, transactTables[t.table])
			if !isCode(err, "ResourceInUseException") { // another client is changing the table
				return answered(err)
			}
			time.Sleep(time.Millisecond)
		}
	case createTable:
		err := c.create(ctx, t.table)
		if isCode(err, "ResourceInUseException") {
			return outcome{reasons: hasTable}
		}
		return answered(err)
	}
	return c.administer(ctx, t)
}

func isCode(err error, code string) bool {
	e, ok := errors.AsType[*sortkey.Error](err)
	return ok && e.Code == code
}

var (
	errAbandoned = errors.New("fuzz: abandoned")
	errCancelled = errors.New("fuzz: an action is refused")
)

// transaction runs the actions in an Update. The Update fails if the condition of an action does not hold.
func (c *faceClient) transaction(ctx context.Context, t *transact) (out outcome) {
	var reasons []string
	run := func(ctx context.Context) error {
		reasons = reasons[:0] // fn may be called again
		cancelled := false
		for _, a := range t.actions {
			refused, err := c.act(ctx, t, a)
			if err != nil {
				return err
			}
			if refused == "" {
				refused = "None"
			} else {
				cancelled = true
			}
			reasons = append(reasons, refused)
		}
		switch {
		case cancelled:
			return errCancelled
		case t.abandoned && t.how%2 == 0:
			panic(errAbandoned)
		case t.abandoned:
			return errAbandoned
		}
		return nil
	}

	defer func() {
		if r := recover(); r != nil {
			if r != error(errAbandoned) {
				panic(r)
			}
			out = answered(errAbandoned)
		}
	}()
	err := c.db.Update(ctx, run)
	if errors.Is(err, errCancelled) {
		return outcome{reasons: reasons}
	}
	return answered(err)
}

// act executes an action, by one operation or by a read and a write, and checks the item that it has written. It
// returns why the action is refused, or "".
func (c *faceClient) act(ctx context.Context, t *transact, a cellAction) (refused string, err error) {
	if t.how%3 == 0 && a.verb != "check" {
		refused, err = c.write(ctx, t, a)
	} else {
		refused, err = c.readAndWrite(ctx, t, a)
	}
	if err != nil || refused != "" || a.verb == "check" {
		return refused, err
	}
	now, err := c.cell(ctx, a.cell)
	if want := a.apply(cell{}, t.id).by; err == nil && now.by != want {
		return "", fmt.Errorf("after %s by %d a transaction reads %s", a.verb, t.id, now)
	}
	return "", err
}

// write executes an action by one operation.
func (c *faceClient) write(ctx context.Context, t *transact, a cellAction) (refused string, err error) {
	table, key := c.tables[tableOfCell(a.cell)], faceKey(a.cell)
	var opts []sortkey.Option
	switch a.when {
	case "exists":
		opts = append(opts, sortkey.If("attribute_exists(p)"))
	case "absent":
		opts = append(opts, sortkey.If("attribute_not_exists(p)"))
	case "counter":
		opts = append(opts, sortkey.If("n = :n", a.n))
	}
	args := func(values ...any) []any {
		for _, o := range opts {
			values = append(values, o)
		}
		return values
	}
	switch a.verb {
	case "put":
		err = table.Put(ctx, newFaceItem(a.cell, t.id, 0), opts...)
	case "delete":
		err = table.Delete(ctx, args(key...)...)
	case "add":
		_, err = table.Update(ctx, key, "SET by = :by, g = :g ADD n :one", args(t.id, "g"+strconv.Itoa(t.id%3), 1)...)
	}
	if !errors.Is(err, sortkey.ErrConditionFailed) {
		return "", err
	}
	refused = "ConditionalCheckFailed"
	e, _ := errors.AsType[*sortkey.Error](err)
	if a.old && e.Item != nil {
		var it faceItem
		if err := attr.UnmarshalItem(e.Item, &it); err != nil {
			return "", err
		}
		refused += " " + cell{it.N, it.By}.String()
	}
	return refused, nil
}

// readAndWrite executes an action by reading the item and checking the condition in Go.
func (c *faceClient) readAndWrite(ctx context.Context, t *transact, a cellAction) (refused string, err error) {
	now, err := c.cell(ctx, a.cell)
	if err != nil {
		return "", err
	}
	if !a.holds(now) {
		refused = "ConditionalCheckFailed"
		if a.old && now.by != 0 {
			refused += " " + now.String()
		}
		return refused, nil
	}
	switch next := a.apply(now, t.id); a.verb {
	case "put", "add":
		err = c.tables[tableOfCell(a.cell)].Put(ctx, newFaceItem(a.cell, t.id, next.n))
	case "delete":
		err = c.tables[tableOfCell(a.cell)].Delete(ctx, faceKey(a.cell)...)
	}
	return "", err
}

func (c *faceClient) cell(ctx context.Context, i int) (cell, error) {
	it, err := c.tables[tableOfCell(i)].Get(ctx, faceKey(i)...)
	if errors.Is(err, sortkey.ErrNotFound) {
		return cell{}, nil
	}
	return cell{it.N, it.By}, err
}

// one executes the only action of a request, outside of a transaction.
func (c *faceClient) one(ctx context.Context, t *transact) outcome {
	refused, err := c.write(ctx, t, t.actions[0])
	if refused != "" {
		return outcome{reasons: []string{refused}}
	}
	return answered(err)
}

// get reads cells at one moment: in a View, an Update, a fork or a snapshot.
func (c *faceClient) get(ctx context.Context, t *transact) (out outcome) {
	read := func(ctx context.Context) error {
		out.cells = nil
		for range 2 {
			for _, i := range t.cells {
				now, err := c.cell(ctx, i)
				if err != nil {
					return err
				}
				out.cells = append(out.cells, now)
			}
		}
		half := len(t.cells)
		if !slices.Equal(out.cells[:half], out.cells[half:]) {
			return fmt.Errorf("a transaction reads %v and then %v", out.cells[:half], out.cells[half:])
		}
		out.cells = out.cells[:half]
		return nil
	}

	var err error
	switch t.how % 8 {
	case 0, 1:
		err = c.db.Update(ctx, read)
	case 2, 3:
		var fork *sortkey.DB
		if fork, err = c.db.Fork(); err == nil {
			c = newFaceClient(fork)
			err = errors.Join(read(ctx), fork.Close())
			break
		} else if !errors.Is(err, errors.ErrUnsupported) {
			break
		}
		fallthrough
	default:
		err = c.db.View(ctx, read)
	}
	if err != nil {
		return answered(err)
	}
	return out
}

// scan reads a table or its index, in one page or in several of one View.
func (c *faceClient) scan(ctx context.Context, t *transact) outcome {
	source := c.tables[t.table]
	if t.kind == scanIndex {
		source = source.Index(transactIndex)
	}
	var out outcome
	collect := func(sequences ...iter.Seq2[faceItem, error]) error {
		var all []faceItem
		for _, items := range sequences {
			for it, err := range items {
				if err != nil {
					return err
				}
				all = append(all, it)
			}
		}
		return out.gather(t, all)
	}
	parts := func(ctx context.Context) error {
		var all []faceItem
		for cursor, more := "", true; more; more = cursor != "" {
			page, err := source.ScanPage(ctx, sortkey.After(cursor), sortkey.Limit(1))
			if err != nil {
				return err
			}
			all, cursor = append(all, page.Items...), page.Cursor
		}
		return out.gather(t, all)
	}
	collections := func(ctx context.Context) error {
		var queries []iter.Seq2[faceItem, error]
		for _, key := range c.collections(t) {
			queries = append(queries, source.Query(ctx, key))
		}
		return collect(queries...)
	}

	var err error
	switch t.how % 4 {
	case 0:
		err = c.db.View(ctx, parts)
	case 1:
		err = c.db.View(ctx, collections)
	case 2:
		err = c.db.Update(ctx, parts)
	default:
		err = collect(source.Scan(ctx))
	}
	if err != nil {
		return answered(err)
	}
	return out
}

// collections returns the partition keys in the table or index that a request reads.
func (c *faceClient) collections(t *transact) (keys []any) {
	switch {
	case t.kind == scanIndex:
		return []any{"g0", "g1", "g2"}
	case t.table == 1:
		return []any{"item"}
	}
	for i := range cells / 2 {
		keys = append(keys, faceKey(i)[0])
	}
	return keys
}

// gather sets the outcome of a request that has read all these items from a table or its index.
func (o *outcome) gather(t *transact, all []faceItem) error {
	o.cells = make([]cell, cells/2)
	for _, it := range all {
		i, err := it.place()
		if err != nil {
			return err
		}
		at := &o.cells[i-t.table*cells/2]
		if at.by != 0 {
			return fmt.Errorf("item %d occurs twice", i)
		}
		if *at = (cell{it.N, it.By}); it.G != "g"+strconv.Itoa(it.By%3) {
			return fmt.Errorf("item %d was written by %d and is in %q", i, it.By, it.G)
		}
	}
	return nil
}

var extras atomic.Int64 // names tables and indexes that are not of the history

// administer changes things that the history does not read: another table, or an index, the stream or expired items
// of one of its tables.
func (c *faceClient) administer(ctx context.Context, t *transact) outcome {
	table, extra := transactTables[t.table], "Extra"+strconv.FormatInt(extras.Add(1), 10)
	update := func(changes string) (out outcome) {
		_, out = c.requests.ask("UpdateTable", json.RawMessage(fmt.Sprintf(`{"TableName": %q, %s}`, table, changes)))
		return out // an error is fine: others may have changed or deleted the table
	}
	switch t.how % 6 {
	case 0, 1:
		err := c.db.CreateTable(ctx, extra, "p")
		if err == nil {
			err = c.db.Update(ctx, func(ctx context.Context) error {
				return sortkey.Table[faceItem](c.db, extra).Put(ctx, newFaceItem(0, t.id, 0))
			})
		}
		if err == nil {
			err = c.db.DeleteTable(ctx, extra)
		}
		return answered(err)
	case 2, 3:
		out := update(fmt.Sprintf(`"AttributeDefinitions": [{"AttributeName": "n", "AttributeType": "N"}],
			"GlobalSecondaryIndexUpdates": [{"Create": {"IndexName": %q, "Projection": {"ProjectionType": "KEYS_ONLY"},
				"KeySchema": [{"AttributeName": "n", "KeyType": "HASH"}]}}]`, extra))
		if out.unanswered {
			return out
		}
		return update(fmt.Sprintf(`"GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": %q}}]`, extra))
	case 4:
		out := update(`"StreamSpecification": {"StreamEnabled": true, "StreamViewType": "KEYS_ONLY"}`)
		if out.unanswered {
			return out
		}
		return update(`"StreamSpecification": {"StreamEnabled": false}`)
	}
	_, err := c.db.Sweep(ctx)
	if errors.Is(err, sortkey.ErrNoTable) {
		return outcome{}
	}
	return answered(err)
}

// A faceServer is a database that may be closed and opened again while clients use it.
type faceServer struct {
	open     func() (*sortkey.DB, error)
	restarts bool // its rows outlive Close
	client   atomic.Pointer[faceClient]
	closing  sync.Mutex
}

func (s *faceServer) start() error {
	db, err := s.open()
	if err == nil {
		s.client.Store(newFaceClient(db))
	}
	return err
}

// run runs a request of a client. If the database is closed, run waits until it is open again, so that a client loses
// one request and not all.
func (s *faceServer) run(ctx context.Context, client int, t *transact) outcome {
	if t.kind == administer && t.restart && s.restarts {
		return s.restart()
	}
	c := s.client.Load()
	out := c.runOf(ctx, client, t)
	if out.unanswered {
		select {
		case <-c.reopened:
		case <-ctx.Done():
		}
	}
	return out
}

// restart closes the database while clients use it, and opens it again.
func (s *faceServer) restart() outcome {
	s.closing.Lock()
	defer s.closing.Unlock()
	old := s.client.Load()
	if err := old.db.Close(); err != nil {
		return outcome{failure: fmt.Sprint("Close: ", err)}
	}
	if err := s.start(); err != nil {
		return outcome{failure: fmt.Sprint("Open: ", err)}
	}
	close(old.reopened)
	return outcome{}
}

// stop closes the database while requests run. It fails unless each request is answered or finds the database closed.
func (s *faceServer) stop(ctx context.Context, program [][]*transact) error {
	c := s.client.Load()
	failed := make(chan error, len(program))
	for client, requests := range program {
		go func() {
			for i := 0; ; i++ {
				out := c.runOf(ctx, client, requests[i%len(requests)])
				if out.failure != "" {
					failed <- errors.New(out.failure)
					return
				}
				if out.unanswered {
					failed <- nil
					return
				}
			}
		}()
	}
	time.Sleep(time.Millisecond)
	err := c.db.Close()
	for range program {
		err = errors.Join(err, <-failed)
	}
	return err
}

// faceRound runs one program on servers that share their rows, and reports whether the history has a serial order. If
// a call hangs, go test times out and prints the stacks of all goroutines.
func faceRound(t *testing.T, seed int64, servers ...*faceServer) bool {
	t.Helper()
	ctx := t.Context()
	d := draw{rand.New(rand.NewPCG(uint64(seed), 3))}
	for _, s := range servers {
		if err := s.start(); err != nil {
			t.Fatal(err)
		}
	}
	for i := range transactTables {
		if err := servers[0].client.Load().create(ctx, i); err != nil {
			t.Fatal(err)
		}
	}

	program, last := d.program(2+d.IntN(5), 10+d.IntN(15), inGo), d.program(4, 2, inGo)
	for _, t := range slices.Concat(last...) {
		t.token = 0 // the database has seen the tokens of program
	}
	history := runProgram(program, func(client int, r *transact) outcome {
		return servers[client/2%len(servers)].run(ctx, client, r)
	})
	serial := checkSerial(t, history)
	for _, s := range servers {
		if err := s.stop(ctx, last); err != nil {
			t.Errorf("while the database is closed: %v", err)
			serial = false
		}
	}
	return serial
}

// faceRounds runs n random programs. It calls open for the servers of each.
func faceRounds(t *testing.T, n int, open func(round int) []*faceServer) {
	t.Helper()
	for round := range proptest.Cases(n) {
		seed := proptest.Seed() + int64(round)
		if !faceRound(t, seed, open(round)...) {
			t.Fatalf("to repeat this, set SORTKEY_SEED=%d", seed)
		}
	}
	t.Logf("%d histories have a serial order", proptest.Cases(n))
}

func TestPropertyTransactions(t *testing.T) {
	t.Parallel()
	faceRounds(t, 60, func(int) []*faceServer {
		return []*faceServer{{open: func() (*sortkey.DB, error) { return sortkey.Open(sortkey.Options{}) }}}
	})
}

// opens returns a function that opens a database on the store that open returns.
func opens[S store.Store](open func() (S, error)) func() (*sortkey.DB, error) {
	return func() (*sortkey.DB, error) {
		st, err := open()
		if err != nil {
			return nil, err
		}
		return sortkey.Open(sortkey.Options{Store: st})
	}
}

func TestPropertyTransactionsOnDisk(t *testing.T) {
	t.Parallel()
	faceRounds(t, 20, func(int) []*faceServer {
		dir := t.TempDir()
		return []*faceServer{{restarts: true, open: opens(func() (*disk.Store, error) {
			return disk.Open(dir, disk.Options{SyncEvery: time.Second})
		})}}
	})
}

// TestPropertyTransactionsOnPostgres runs on one server, and on three that share their tables. PostgreSQL's engine
// runs Updates concurrently and calls their functions again after conflicts.
func TestPropertyTransactionsOnPostgres(t *testing.T) {
	proptest.NeedLong(t) // it creates a cluster
	cluster := pgtest.New(t)
	faceRounds(t, 20, func(round int) []*faceServer {
		url := cluster.Schema(t)
		if err := postgres.Init(t.Context(), url); err != nil {
			t.Fatal(err)
		}
		servers := make([]*faceServer, 3-2*(round%2))
		for i := range servers {
			servers[i] = &faceServer{restarts: true, open: opens(func() (*postgres.Store, error) {
				return postgres.Open(t.Context(), url, postgres.Options{})
			})}
		}
		return servers
	})
}
