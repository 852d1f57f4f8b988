package postgres_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/internal/facetest"
	"github.com/sortkey/sortkey/internal/pgtest"
	"github.com/sortkey/sortkey/internal/proptest"
	"github.com/sortkey/sortkey/store/postgres"
)

// TestBehaviour runs the scripts of answers through the store in Go.
func TestBehaviour(t *testing.T) {
	proptest.NeedLong(t)
	pgtest.Shared(t)
	facetest.Run(t, "../../sdk/testdata/behaviour", func(t *testing.T, opts sortkey.Options) *sortkey.DB {
		var err error
		opts.Store, err = postgres.Open(t.Context(), database(t), postgres.Options{})
		require.NoError(t, err)
		db, err := sortkey.Open(opts)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, db.Close()) })
		return db
	})
}
