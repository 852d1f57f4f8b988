package postgres_test

import (
	"context"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/tests/pgtest"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/store/postgres"
)

// TestFailover stops a primary under load and promotes its synchronous standby. Two Stores, which know both servers,
// continue there. No acknowledged update may be lost, and no update may be applied in part or twice.
func TestFailover(t *testing.T) {
	proptest.NeedLong(t)
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

// TestStandby checks that no Store connects to a standby, whatever the URL says, because the rows of a standby may be
// old.
func TestStandby(t *testing.T) {
	proptest.NeedLong(t)
	primary := pgtest.New(t)
	at := primary.Database(t)
	require.NoError(t, postgres.Init(t.Context(), at))
	standby := primary.Standby(t)
	u, err := url.Parse(primary.Failover(at, standby))
	require.NoError(t, err)
	q := u.Query()
	hosts := strings.Split(q.Get("host"), ",")
	q.Del("target_session_attrs")
	with := func(host ...string) string {
		q.Set("host", strings.Join(host, ","))
		u.RawQuery = q.Encode()
		return u.String()
	}
	s := open(t, with(hosts[1], hosts[0]), postgres.Options{Timeout: 5 * time.Second})
	for i := range 20 {
		set(t, s, "a", strconv.Itoa(i))
		require.Equal(t, strconv.Itoa(i), value(t, s, "a"))
	}
	for _, attrs := range []string{"any", "standby"} {
		q.Set("target_session_attrs", attrs)
		_, err = postgres.Open(t.Context(), with(hosts[1]), postgres.Options{})
		require.ErrorIs(t, err, pgconn.ErrReadOnlyConnection)
	}
	primary.Crash(t)
	_, _, err = s.Get(t.Context(), 1, []byte("a"), nil)
	require.ErrorIs(t, err, pgconn.ErrReadOnlyConnection)
	standby.Promote(t)
	require.Eventually(t, func() bool {
		v, _, err := s.Get(t.Context(), 1, []byte("a"), nil)
		return err == nil && string(v) == "19"
	}, time.Minute, 10*time.Millisecond)
	set(t, s, "a", "20")
}
