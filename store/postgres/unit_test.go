package postgres

import (
	"context"
	"fmt"
	"io"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/address"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/internal/remote"
)

func TestDialect(t *testing.T) {
	for _, tt := range []struct {
		server string
		want   dialect
	}{
		{"PostgreSQL 15.18 (Debian 15.18-0+deb12u1) on x86_64-pc-linux-gnu, compiled by gcc", onPostgres},
		{"CockroachDB CCL v24.3.1 (x86_64-pc-linux-gnu, built 2024/12/05, go1.22.8)", onCockroach},
		{"PostgreSQL 11.2-YB-2.20.1.3-b0 on x86_64-pc-linux-gnu, compiled by clang", onYugabyte},
	} {
		require.Equal(t, tt.want, dialectOf(tt.server), tt.server)
	}
}

func TestRefusals(t *testing.T) {
	pg := func(code, severity string) error { return wrap(&pgconn.PgError{Code: code, Severity: severity}) }
	for _, tt := range []struct {
		err  error
		want refusal
	}{
		{pg("40001", "ERROR"), conflict},
		{pg("40P01", "ERROR"), conflict},
		{pg("40003", "ERROR"), broken},
		{pg("57P01", "FATAL"), broken},
		{pg("57014", "ERROR"), broken},
		{pg("53300", "FATAL"), broken},
		{pg("08006", "ERROR"), broken},
		{pg("42601", "ERROR"), final},
		{pg("", "ERROR"), final},
		{wrap(io.ErrUnexpectedEOF), broken},
		{store.ErrClosed, final},
		{context.Canceled, final},
		{wrap(context.DeadlineExceeded), final},
	} {
		require.Equal(t, tt.want, refusalOf(tt.err), "%v", tt.err)
	}
}

// TestAborted checks which errors of the last round trip prove that nothing was committed. The commit is the
// statement with index 2.
func TestAborted(t *testing.T) {
	for _, tt := range []struct {
		err  error
		at   int
		want bool
	}{
		{&pgconn.PgError{Code: "40001"}, 2, true},
		{&pgconn.PgError{Code: "40001"}, 0, true},
		{&pgconn.PgError{Code: "40P01"}, 1, true},
		{&pgconn.PgError{Code: "22001"}, 0, true},
		{&pgconn.PgError{Code: "22001"}, 2, false},
		{&pgconn.PgError{Code: "40003"}, 2, false},
		{&pgconn.PgError{Code: "40003"}, 0, false},
		{&pgconn.PgError{Code: "57P01", Severity: "FATAL"}, 0, false},
		{io.ErrUnexpectedEOF, 0, false},
		{context.DeadlineExceeded, 2, false},
	} {
		require.Equal(t, tt.want, aborted(tt.err, tt.at, 3), "%v at %d", tt.err, tt.at)
	}
}

func TestAddress(t *testing.T) {
	for _, url := range []string{"", "db", "./postgres", "mysql://host/db"} {
		require.False(t, isURL(url), url)
		_, err := parse(url)
		require.Error(t, err)
	}
	_, err := parse("postgres://user:secret@host:port/db")
	require.Error(t, err)
	require.NotContains(t, err.Error(), "secret")
	c, err := parse("postgres://user:secret@one,two:5433/db?search_path=team&pool_max_conns=7")
	require.NoError(t, err)
	require.Equal(t, "team", c.ConnConfig.RuntimeParams["search_path"])
	require.Equal(t, "sortkey", c.ConnConfig.RuntimeParams["application_name"])
	require.Equal(t, int32(7), c.MaxConns)
	require.True(t, sets("postgres://host/db?pool_max_conns=7", "pool_max_conns"))
	require.False(t, sets("postgres://host/db", "pool_max_conns"))
}

// TestSteps checks that a commit locks rows in the order of addresses, and clears a space before it changes rows in
// it. Otherwise an Update that clears a space and a write could wait for each other.
func TestSteps(t *testing.T) {
	w := &writer{reader: reader{changes: remote.NewChanges()}}
	row := func(space store.Space) remote.Row {
		return remote.Row{Addr: address.Append(nil, space, []byte("p"), nil), Value: []byte("v")}
	}
	for space := range store.Space(4) {
		w.changes.Remember(row(space))
	}
	w.changes.Clear(5)
	w.changes.Clear(2)
	w.changes.Set(row(2))
	w.changes.Set(row(3))
	var got []string
	for one := range w.steps {
		got = append(got, fmt.Sprintf("%d %.6s", one.params[0][7], prepared[one.statement]))
	}
	require.Equal(t, []string{"0 select", "1 select", "2 delete", "2 insert", "3 insert", "5 delete"}, got)
}
