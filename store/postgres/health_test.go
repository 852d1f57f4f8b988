package postgres_test

import (
	"context"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/sortkey/sortkey/server"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/internal/tests/pgtest"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/postgres"
)

// TestHealth checks that /healthz notices when the database is gone and when it is back.
func TestHealth(t *testing.T) {
	proptest.NeedLong(t)
	cluster := pgtest.New(t)
	at := cluster.Database(t)
	require.NoError(t, postgres.Init(t.Context(), at))
	st, err := postgres.Open(t.Context(), at, postgres.Options{})
	require.NoError(t, err)
	db, err := sortkey.Open(sortkey.Options{Store: st})
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	get := func() (int, string) {
		res, err := server.New(db, server.Options{}).Client().Get("http://localhost/healthz")
		require.NoError(t, err)
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		return res.StatusCode, string(body)
	}
	status, body := get()
	require.Equal(t, http.StatusOK, status, body)
	cluster.Crash(t)
	status, body = get()
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Contains(t, body, "unhealthy: ")
	cluster.Start(t)
	require.Eventually(t, func() bool {
		status, body = get()
		return status == http.StatusOK
	}, time.Minute, 10*time.Millisecond, "%s", body)
}

// occupy keeps connections of a store in use until the test calls free.
func occupy(t *testing.T, s *postgres.Store, n int) (free func()) {
	t.Helper()
	stop := make(chan struct{})
	begun, ended := make(chan error), make(chan error)
	for range n {
		go func() {
			ended <- s.View(context.Background(), func(r store.Reader) error {
				_, _, err := r.Get(1, []byte("a"), nil)
				begun <- err
				<-stop
				return err
			})
		}()
		require.NoError(t, <-begun)
	}
	return func() {
		close(stop)
		for range n {
			require.NoError(t, <-ended)
		}
	}
}

// TestHealthWhileBusy checks that a store is healthy while all of its connections are in
// use.
func TestHealthWhileBusy(t *testing.T) {
	s := open(t, database(t), postgres.Options{MaxConns: 4})
	free := occupy(t, s, 4)
	defer free()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	require.NoError(t, s.Health(ctx))
}

// TestNoConnection uses all connections that the database allows. A server that has a connection continues with it. A
// server that has none answers 503, and does not mention the database.
func TestNoConnection(t *testing.T) {
	proptest.NeedLong(t)
	cluster := pgtest.New(t, "max_connections=12", "max_wal_senders=0")
	url := cluster.Database(t)
	require.NoError(t, postgres.Init(t.Context(), url))
	db := opened(t, url, postgres.Options{Timeout: time.Second})
	list := func() (int, string) { return ask(t, db, "ListTables", "{}") }
	status, text := list()
	require.Equal(t, http.StatusOK, status, text)

	var taken []*pgx.Conn
	take := func() {
		for {
			conn, err := pgx.Connect(t.Context(), url)
			if err != nil {
				require.ErrorContains(t, err, "53300")
				return
			}
			taken = append(taken, conn)
		}
	}
	take()
	var running sync.WaitGroup
	for range 8 { // they need one after the other
		running.Go(func() {
			if status, text := list(); status != http.StatusOK {
				t.Errorf("ListTables: %d %s", status, text)
			}
		})
	}
	running.Wait()

	_, err := taken[0].Exec(t.Context(), "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'sortkey'")
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		take()
		status, text = list()
		return status != http.StatusOK
	}, time.Minute, 10*time.Millisecond)
	require.Equal(t, http.StatusServiceUnavailable, status, text)
	require.Contains(t, text, "ServiceUnavailable")
	require.Contains(t, text, "The store is not available. Try again later.")

	for _, conn := range taken {
		require.NoError(t, conn.Close(t.Context()))
	}
	require.Eventually(t, func() bool {
		status, text = list()
		return status == http.StatusOK
	}, time.Minute, 10*time.Millisecond, "%s", text)
}
