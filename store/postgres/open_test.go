package postgres_test

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/tests/pgtest"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/postgres"
)

func TestSchema(t *testing.T) {
	c := pgtest.Shared(t)
	url := c.Database(t)
	_, err := postgres.Open(t.Context(), url, postgres.Options{})
	require.ErrorIs(t, err, postgres.ErrSchema)
	require.NoError(t, postgres.Init(t.Context(), url))
	s := open(t, url, postgres.Options{})
	set(t, s, "a", "1")
	require.NoError(t, postgres.Init(t.Context(), url), "again")
	require.Equal(t, "1", value(t, s, "a"))
	require.NoError(t, s.Close())

	exec(t, url, "drop table sortkey_leases")
	for _, other := range []int{2, 4} {
		exec(t, url, fmt.Sprintf("update sortkey_schema set version = %d", other))
		for _, err := range []error{
			second(postgres.Open(t.Context(), url, postgres.Options{})),
			postgres.Init(t.Context(), url),
		} {
			require.ErrorIs(t, err, postgres.ErrSchema)
			require.ErrorContains(t, err, fmt.Sprintf("the database has version %d, this program uses 3; export", other))
		}
	}
	exec(t, url, "create table sortkey_leases ()") // which Init did not create
}

// TestForeignTable refuses a database where another program's table has the name of one
// of Sortkey's.
func TestForeignTable(t *testing.T) {
	url := pgtest.Shared(t).Database(t)
	exec(t, url, "create table sortkey_rows (id int8 primary key)")
	for _, err := range []error{
		postgres.Init(t.Context(), url),
		second(postgres.Open(t.Context(), url, postgres.Options{})),
	} {
		require.ErrorIs(t, err, postgres.ErrSchema)
		require.ErrorContains(t, err, "another schema with search_path")
	}
}

// TestSmallPool commits an update while a View needs a connection for its snapshot, with a URL that makes the pool
// too small.
func TestSmallPool(t *testing.T) {
	s := open(t, database(t)+"&pool_max_conns=1", postgres.Options{Timeout: 5 * time.Second})
	set(t, s, "a", "1")
	require.NoError(t, s.View(t.Context(), func(r store.Reader) error {
		require.NoError(t, s.Update(t.Context(), func(w store.Writer) error {
			if _, _, err := w.Get(1, []byte("a"), nil); err != nil {
				return err
			}
			return w.Put(1, []byte("a"), nil, []byte("2"))
		}))
		was, _, err := r.Get(1, []byte("a"), nil)
		require.Equal(t, "1", string(was))
		return err
	}))
}

// TestInitAtOnce creates the tables from several programs at the same time.
func TestInitAtOnce(t *testing.T) {
	c := pgtest.Shared(t)
	for range 5 {
		url := c.Schema(t)
		errs := make(chan error)
		for range 8 {
			go func() { errs <- postgres.Init(t.Context(), url) }()
		}
		for range 8 {
			require.NoError(t, <-errs)
		}
		require.NoError(t, open(t, url, postgres.Options{}).Close())
	}
}

func second(_ *postgres.Store, err error) error { return err }

// exec runs a statement in a database, without the store.
func exec(t testing.TB, url, sql string) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer c.Close(context.Background())
	_, err = c.Exec(t.Context(), sql)
	require.NoError(t, err)
}

func set(t testing.TB, s store.Store, key, value string) {
	t.Helper()
	require.NoError(t, s.Update(t.Context(), func(w store.Writer) error {
		return w.Put(1, []byte(key), nil, []byte(value))
	}))
}

// value returns the value of a row, or "-".
func value(t testing.TB, s store.Store, key string) (found string) {
	t.Helper()
	require.NoError(t, s.View(t.Context(), func(r store.Reader) error {
		v, ok, err := r.Get(1, []byte(key), nil)
		if found = string(v); !ok {
			found = "-"
		}
		return err
	}))
	return found
}

// TestSearchPath keeps two sets of tables in one database.
func TestSearchPath(t *testing.T) {
	base := pgtest.Shared(t).Database(t)
	exec(t, base, "create schema one")
	exec(t, base, "create schema two")
	at := func(schema string) *postgres.Store {
		u, err := url.Parse(base)
		require.NoError(t, err)
		q := u.Query()
		q.Set("search_path", schema)
		u.RawQuery = q.Encode()
		require.NoError(t, postgres.Init(t.Context(), u.String()))
		return open(t, u.String(), postgres.Options{})
	}
	one, two := at("one"), at("two")
	set(t, one, "a", "1")
	require.Equal(t, "1", value(t, one, "a"))
	require.Equal(t, "-", value(t, two, "a"))
}

// TestLargeUpdate commits an update that is too large for one round trip.
func TestLargeUpdate(t *testing.T) {
	s := open(t, database(t), postgres.Options{})
	const rows = 5000
	require.NoError(t, s.Update(t.Context(), func(w store.Writer) error {
		for i := range rows {
			if err := w.Put(1, fmt.Append(nil, i%50), fmt.Appendf(nil, "%05d", i), make([]byte, 2000)); err != nil {
				return err
			}
		}
		return nil
	}))
	n := 0
	require.NoError(t, s.View(t.Context(), func(r store.Reader) error {
		for _, err := range r.Scan(1, store.Everything()) {
			if err != nil {
				return err
			}
			n++
		}
		return nil
	}))
	require.Equal(t, rows, n)
}

// TestPlans checks that every read and write of rows uses the primary key, even on a small table, and never sorts.
func TestPlans(t *testing.T) {
	url := database(t)
	s := open(t, url, postgres.Options{})
	set(t, s, "a", "1")
	c, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer c.Close(context.Background())
	settings, sql := postgres.PlannedStatements()
	_, err = c.Exec(t.Context(), settings)
	require.NoError(t, err)
	require.Len(t, sql, 6)
	for i, text := range sql {
		_, err := c.Prepare(t.Context(), fmt.Sprint("s", i), text)
		require.NoError(t, err)
		args := "('a', 'b', 3)"
		if n := strings.Count(text, "$"); n < 3 {
			args = []string{"('a')", "('a', 'b')"}[n-1]
		}
		rows, err := c.Query(t.Context(), fmt.Sprintf("explain execute s%d%s", i, args), pgx.QueryExecModeSimpleProtocol)
		require.NoError(t, err)
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		plan := strings.Join(lines, "\n")
		require.Contains(t, plan, "Index Cond:", plan)
		require.NotContains(t, plan, "Sort", plan)
		require.NotContains(t, plan, "Filter", plan)
	}
}

// TestIdleUpdate checks that the database ends an Update whose server is gone, but not a View, whose reader may be
// slow.
func TestIdleUpdate(t *testing.T) {
	url := database(t)
	proxy, at := newStandin(t, url)
	s := open(t, at, postgres.Options{})
	var sent []string
	proxy.on(func(statement string) action { sent = append(sent, statement); return pass })
	require.Equal(t, "-", value(t, s, "a"))
	proxy.mu.Lock() // statements are sent from a goroutine of the stand-in
	reads := strings.Join(sent, "; ")
	proxy.mu.Unlock()
	require.NotContains(t, reads, "idle")
	set(t, s, "a", "1") // without a read
	require.NoError(t, s.Update(t.Context(), func(w store.Writer) error {
		_, _, err := w.Get(1, []byte("a"), nil)
		return err
	}))
	proxy.on(nil)
	c, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer c.Close(context.Background())
	limits := 0
	for i, statement := range sent {
		if !strings.Contains(statement, "serializable") {
			continue
		}
		var limit string
		_, err := c.Exec(t.Context(), statement+"; "+sent[i+1])
		require.NoError(t, err)
		require.NoError(t, c.QueryRow(t.Context(), "show idle_in_transaction_session_timeout").Scan(&limit))
		require.Equal(t, "10s", limit)
		_, err = c.Exec(t.Context(), "commit")
		require.NoError(t, err)
		limits++
	}
	require.Equal(t, 2, limits)
}
