package postgres_test

import (
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/internal/pgtest"
	"github.com/sortkey/sortkey/store/postgres"
)

// TestHealth checks that /healthz knows when the database is gone and when it is
// back.
func TestHealth(t *testing.T) {
	cluster := pgtest.New(t)
	at := cluster.Database(t)
	require.NoError(t, postgres.Init(t.Context(), at))
	st, err := postgres.Open(t.Context(), at, postgres.Options{})
	require.NoError(t, err)
	db, err := sortkey.Open(sortkey.Options{Store: st})
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	get := func() (int, string) {
		res, err := db.HTTPClient().Get("http://localhost/healthz")
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
