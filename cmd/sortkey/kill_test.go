package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/tests/cmdtest"
	"github.com/sortkey/sortkey/internal/tests/proptest"
)

const writers = 6

// TestKill repeatedly kills a server at random moments while several clients write to it. The server always uses the
// same folder. TestKill tests that every acknowledged write is present and complete, that every transaction was
// applied as a whole or not at all, and that every index matches its items.
//
// There are 6 kills; SORTKEY_CHECKS multiplies them (scripts/crash.sh). SORTKEY_SEED determines the requests and the
// times of the kills, but not the state of the server at these times.
func TestKill(t *testing.T) {
	kills := proptest.Cases(6)
	seed := uint64(proptest.Seed())
	t.Logf("SORTKEY_SEED=%d", seed)
	rng := rand.New(rand.NewPCG(seed, 1<<32))
	dir := filepath.Join(t.TempDir(), "db")

	p := serve(t, "--data", dir)
	create(t, p.client(t))
	var all []*writer
	for i := range writers {
		all = append(all, newWriter(i, seed))
	}
	unanswered, done, starting := 0, 0, 0
	for range kills {
		if rng.IntN(5) == 0 { // while it starts
			p.Kill(t)
			delay := time.Duration(rng.Int64N(int64(30 * time.Millisecond)))
			p = &process{cmdtest.Start(t, serveCommand(t, "--data", dir))}
			time.Sleep(delay)
			p.Kill(t)
			p = serve(t, "--data", dir)
			starting++
		}
		load(t, p, all, time.Duration(rng.Int64N(int64(200*time.Millisecond))))
		p = serve(t, "--data", dir)
		u, d := checkWriters(t, p.client(t), all)
		unanswered, done = unanswered+u, done+d
		if t.Failed() {
			return
		}
	}
	acked, transactions, refused, items := 0, 0, 0, 0
	for _, w := range all {
		acked, transactions, refused = acked+w.acked, transactions+w.transactions, refused+w.refused
		for _, n := range w.items {
			if n != 0 {
				items++
			}
		}
	}
	require.NotZero(t, acked)
	t.Logf("%d kills under load and %d while starting: %d acknowledged writes checked, among them %d transactions; "+
		"%d requests refused by conditions; of %d requests not answered %d were done, all whole; %d items in the end",
		kills, starting, acked, transactions, refused, unanswered, done, items)
}

// create creates the tables, the accounts and the counter.
func create(t *testing.T, db *dynamodb.Client) {
	t.Helper()
	for _, in := range tables() {
		_, err := db.CreateTable(context.Background(), in)
		require.NoError(t, err)
	}
	put := func(it item) {
		_, err := db.PutItem(context.Background(), &dynamodb.PutItemInput{TableName: aws.String(bank), Item: it})
		require.NoError(t, err)
	}
	for i := range accounts {
		put(item{"PK": str(accountName(i)), "balance": num(deposit)})
	}
	put(item{"PK": str("counter"), "hits": num(0)})
}

// load lets the writers write. It kills the server after the delay, which begins with the first response.
func load(t *testing.T, p *process, all []*writer, delay time.Duration) {
	t.Helper()
	var killed atomic.Bool
	first := make(chan struct{})
	var answered sync.Once
	var wait sync.WaitGroup
	for _, w := range all {
		w.db = p.client(t, cmdtest.Once)
		wait.Go(func() {
			for {
				err := w.step(context.Background())
				if err != nil {
					if !killed.Load() || errors.Is(err, errWrong) {
						t.Errorf("client %d, with %v: %v", w.id, w.pending, err)
					}
					answered.Do(func() { close(first) })
					return
				}
				answered.Do(func() { close(first) })
			}
		})
	}
	<-first
	time.Sleep(delay)
	killed.Store(true)
	p.Kill(t)
	wait.Wait()
}

// TestKillNewServer kills servers in their first tenth of a second with a new folder, during the first writes to
// them. It tests that the next server has what was acknowledged.
func TestKillNewServer(t *testing.T) {
	kills := proptest.Cases(2)
	seed := uint64(proptest.Seed())
	t.Logf("SORTKEY_SEED=%d", seed)
	rng := rand.New(rand.NewPCG(seed, 7<<32))
	ready, created, acked := 0, 0, 0
	for range kills {
		dir := filepath.Join(t.TempDir(), "db")
		delay := time.Duration(rng.Int64N(int64(100 * time.Millisecond)))
		p := &process{cmdtest.Start(t, serveCommand(t, "--data", dir))}
		var tables, items int
		var wait sync.WaitGroup
		wait.Go(func() {
			if !p.Ready() {
				return
			}
			ready++
			tables, items = createUntilKilled(p.client(t, cmdtest.Once))
		})
		p.KillAfter(t, delay)
		wait.Wait()
		created, acked = created+tables, acked+items

		p = serve(t, "--data", dir)
		db := p.client(t)
		out, err := db.ListTables(t.Context(), &dynamodb.ListTablesInput{})
		require.NoError(t, err)
		require.GreaterOrEqual(t, len(out.TableNames), tables, "after %v", delay)
		require.LessOrEqual(t, len(out.TableNames), tables+1)
		if tables > 0 {
			found := len(scan(t, db, "Table0", ""))
			require.GreaterOrEqual(t, found, items, "after %v", delay)
			require.LessOrEqual(t, found, items+1)
		}
		p.Kill(t)
	}
	t.Logf("%d kills of servers with a new folder, %d of them ready: %d tables and %d items acknowledged, none lost", kills, ready, created, acked)
}

// createUntilKilled creates tables, and writes an item into the first table after each. It counts the acknowledged
// tables and items.
func createUntilKilled(db *dynamodb.Client) (tables, items int) {
	ctx := context.Background()
	for {
		_, err := db.CreateTable(ctx, &dynamodb.CreateTableInput{
			TableName: aws.String(fmt.Sprint("Table", tables)), BillingMode: types.BillingModePayPerRequest,
			AttributeDefinitions: []types.AttributeDefinition{attribute("PK", "S")}, KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("PK"), KeyType: types.KeyTypeHash}},
		})
		if err != nil {
			return tables, items
		}
		tables++
		_, err = db.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("Table0"), Item: item{"PK": str(fmt.Sprint(items))}})
		if err != nil {
			return tables, items
		}
		items++
	}
}
