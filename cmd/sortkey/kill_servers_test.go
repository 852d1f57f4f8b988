package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/tests/cmdtest"
	"github.com/sortkey/sortkey/internal/tests/pgtest"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/store/postgres"
)

// TestKillServers runs three servers on one PostgreSQL database. Clients write through all of them, and one client
// creates and deletes an index, while the test kills a server or stops PostgreSQL as a crash does. It tests that
// every acknowledged write is there, that every transaction is applied as a whole or not at all, and that the index
// and the streams match their tables. Another server completes what a killed one began.
//
// There is one kill or crash; SORTKEY_CHECKS multiplies it (scripts/check-postgres.sh).
func TestKillServers(t *testing.T) {
	proptest.NeedLong(t)
	cluster := pgtest.New(t)
	url := cluster.Database(t)
	require.NoError(t, postgres.Init(t.Context(), url))
	rounds := proptest.Cases(1)
	seed := uint64(proptest.Seed())
	t.Logf("SORTKEY_SEED=%d", seed)
	rng := rand.New(rand.NewPCG(seed, 9<<32))
	servers := make([]*process, 3)
	for i := range servers {
		servers[i] = serve(t, "--store", url)
	}
	create(t, servers[0].client(t))
	var active []*writer
	for i := range writers {
		active = append(active, newWriter(i, seed))
	}
	all := append([]*writer{fill(t, servers[1].client(t), writers, 1000)}, active...)
	a := &alterer{have: none, to: none}
	kills, crashes, unfinished, unanswered, done := 0, 0, 0, 0, 0
	for round := range rounds {
		victim := rng.IntN(len(servers))
		crash := round%3 == 2
		var stop, broken, killed atomic.Bool
		var wait sync.WaitGroup
		for i, w := range active {
			at := i % len(servers)
			w.db = servers[at].client(t, cmdtest.Once)
			wait.Go(func() {
				for !stop.Load() {
					err := w.step(context.Background())
					excused := broken.Load() || at == victim && killed.Load()
					if errors.Is(err, errWrong) || err != nil && !excused {
						t.Errorf("client %d of server %d, with %v: %v", w.id, at, w.pending, err)
					}
					if err != nil {
						return
					}
				}
			})
		}
		// Kill the server of the client that creates and deletes the index.
		ctx, cancel := context.WithCancel(context.Background())
		wait.Go(func() { _ = a.run(ctx, servers[victim].client(t, cmdtest.Once)) })
		time.Sleep(time.Second + time.Duration(rng.Int64N(int64(time.Second))))
		if crash {
			broken.Store(true)
			cluster.Crash(t)
			cluster.Start(t)
			crashes++
		} else {
			killed.Store(true)
			_ = servers[victim].Cmd.Process.Kill()
			_ = servers[victim].Wait(t)
			kills++
			time.Sleep(500 * time.Millisecond) // the others continue
		}
		stop.Store(true)
		cancel()
		wait.Wait()
		if a.have != a.to {
			unfinished++
		}
		db := servers[(victim+1)%len(servers)].client(t)
		u, d := checkItems(t, db, all)
		unanswered, done = unanswered+u, done+d
		a.settle(t, db)
		checkLaterRows(t, servers[(victim+2)%len(servers)].client(t), a.have)
		for _, p := range servers { // a server may log errors after a crash of PostgreSQL, but must not panic
			if log := p.Stderr.String(); strings.Contains(log, "panic") || crashes == 0 && strings.Contains(log, "level=ERROR") {
				t.Errorf("a server reported: %s", log)
			}
		}
		if t.Failed() {
			return
		}
		if !crash {
			servers[victim] = serve(t, "--store", url)
		}
	}
	checkCounts(t, servers[0].client(t))
	acked, transactions := 0, 0
	for _, w := range all {
		acked, transactions = acked+w.acked, transactions+w.transactions
	}
	t.Logf("three servers, %d of them killed, and %d crashes of the database: acknowledged %d writes, among them %d transactions, none lost or half done; "+
		"of %d requests not answered %d were done; %d indexes created and %d deleted, and %d changes of the index interrupted",
		kills, crashes, acked, transactions, unanswered, done, a.created, a.deleted, unfinished)
}
