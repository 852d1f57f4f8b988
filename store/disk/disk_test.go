package disk_test

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/disk"
	"github.com/sortkey/sortkey/store/storetest"
)

// open opens a store, and closes it when the test ends at the latest, so that a test that fails leaves no goroutines
// behind that other tests would find.
func open(t testing.TB, dir string, opts disk.Options) *disk.Store {
	t.Helper()
	s, err := disk.Open(dir, opts)
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestStore(t *testing.T) {
	t.Run("memory", func(t *testing.T) {
		storetest.Run(t, func(t *testing.T) store.Store { return open(t, "db", disk.Options{}.On(vfs.NewMem())) })
	})
	t.Run("interval", func(t *testing.T) {
		storetest.Run(t, func(t *testing.T) store.Store {
			return open(t, "db", disk.Options{SyncEvery: 1e6}.On(vfs.NewMem()))
		})
	})
	t.Run("folder", func(t *testing.T) {
		proptest.NeedLong(t) // slow, because it syncs files two thousand times
		storetest.Run(t, func(t *testing.T) store.Store { return open(t, t.TempDir(), disk.Options{}) })
	})
}
