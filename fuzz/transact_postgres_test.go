package fuzz_test

import (
	"testing"

	"github.com/sortkey/sortkey/internal/tests/pgtest"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/postgres"
)

// TestPropertyTransactionsOnPostgres is TestPropertyTransactions on an engine that
// runs updates at the same time and calls their functions again after conflicts. It runs
// on one server, and on three that share their tables.
func TestPropertyTransactionsOnPostgres(t *testing.T) {
	proptest.NeedLong(t) // it creates a cluster
	cluster := pgtest.New(t)
	for round := range proptest.Cases(20) {
		seed := proptest.Seed() + int64(round)
		url := cluster.Schema(t)
		if err := postgres.Init(t.Context(), url); err != nil {
			t.Fatal(err)
		}
		servers := make([]store.Store, 3-2*(round%2))
		for i := range servers {
			st, err := postgres.Open(t.Context(), url, postgres.Options{})
			if err != nil {
				t.Fatal(err)
			}
			servers[i] = st
		}
		if !transactRound(t, seed, servers...) {
			t.Fatalf("to repeat this, set SORTKEY_SEED=%d", seed)
		}
	}
	t.Logf("%d histories, of one server and of three in turn, have a serial order", proptest.Cases(20))
}
