package postgres_test

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sortkey/sortkey/internal/tests/pgtest"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/postgres"
	"github.com/sortkey/sortkey/store/storetest"
)

func TestMain(m *testing.M) {
	code := pgtest.Main(m)
	if code == 0 {
		if err := goleak.Find(); err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			code = 1
		}
	}
	os.Exit(code)
}

// database returns the URL of a new set of tables, in a schema of its own.
func database(t testing.TB) string {
	t.Helper()
	url := pgtest.Shared(t).Schema(t)
	require.NoError(t, postgres.Init(t.Context(), url))
	return url
}

func open(t testing.TB, url string, opts postgres.Options) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), url, opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func TestStore(t *testing.T) {
	pgtest.Shared(t) // so that a missing database fails once, and not in each subtest
	storetest.Run(t, func(t *testing.T) store.Store {
		return open(t, database(t), postgres.Options{Timeout: 10 * time.Second})
	})
}
