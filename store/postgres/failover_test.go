package postgres_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/pgtest"
	"github.com/sortkey/sortkey/store/postgres"
)

// TestFailover stops a primary under load and promotes its synchronous standby. Two
// Stores, which know both servers, continue there. Nothing acknowledged is lost, and no
// update is half done or done twice.
func TestFailover(t *testing.T) {
	primary := pgtest.New(t)
	at := primary.Database(t)
	require.NoError(t, postgres.Init(t.Context(), at))
	standby := primary.Standby(t)
	at = primary.Failover(at, standby)
	opts := postgres.Options{MaxConns: 8, Timeout: 30 * time.Second}
	stores := []*postgres.Store{open(t, at, opts), open(t, at, opts)}
	b := newBook()
	var stop atomic.Bool
	done := make(chan struct{}, len(stores))
	for _, s := range stores {
		go func() {
			b.write(context.Background(), s, 3, stop.Load)
			done <- struct{}{}
		}()
	}
	acked := func(more int) {
		t.Helper()
		b.mu.Lock()
		before := len(b.acked)
		b.mu.Unlock()
		require.Eventually(t, func() bool {
			b.mu.Lock()
			defer b.mu.Unlock()
			return len(b.acked) >= before+more
		}, time.Minute, time.Millisecond)
	}
	acked(200)
	primary.Crash(t)
	standby.Promote(t)
	acked(200)
	stop.Store(true)
	for range stores {
		<-done
	}
	b.check(t, stores[0])
	t.Logf("%+v and %+v", stores[0].Stats(), stores[1].Stats())
}
