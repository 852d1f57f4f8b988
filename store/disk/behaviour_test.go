package disk_test

import (
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/internal/tests/apitest"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/disk"
)

// TestBehaviour runs the scripts with expected answers on the store in Go.
func TestBehaviour(t *testing.T) {
	proptest.NeedLong(t)
	t.Parallel()
	apitest.Run(t, "../../sdk/testdata/behaviour", func(t *testing.T, opts sortkey.Options) *sortkey.DB {
		var err error
		opts.Store, err = disk.Open(t.TempDir(), disk.Options{})
		require.NoError(t, err)
		db, err := sortkey.Open(opts)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, db.Close()) })
		return db
	})
}

// TestMatrix and TestHazards run transactions while everything else runs, and call them in wrong ways.
func TestMatrix(t *testing.T) {
	proptest.NeedLong(t)
	t.Parallel()
	apitest.Matrix(t, 20*time.Millisecond, embedded)
}

func TestWaits(t *testing.T) { apitest.Waits(t, "disk", "../../docs/embedded.md", embedded) }

func TestEndings(t *testing.T) { apitest.Endings(t, embedded) }

func TestOpposite(t *testing.T) { apitest.Opposite(t, 200, embedded, nil) }

func TestHazards(t *testing.T) {
	proptest.NeedLong(t)
	t.Parallel()
	apitest.Hazards(t, embedded)
}

func TestUpkeep(t *testing.T) {
	t.Parallel()
	apitest.Upkeep(t, func() store.Store { return open(t, "db", disk.Options{}.On(vfs.NewMem())) })
}

// embedded opens a store that the test closes itself.
func embedded(t *testing.T) store.Store {
	st, err := disk.Open(t.TempDir(), disk.Options{})
	require.NoError(t, err)
	return st
}
