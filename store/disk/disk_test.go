package disk_test

import (
	"context"
	"encoding/binary"
	"fmt"
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

func partition(i int) []byte { return fmt.Appendf(nil, "customer#%07d", i) }
func sortKey(i int) []byte   { return binary.BigEndian.AppendUint32([]byte("order#"), uint32(i)) }

// fill puts rows of 100 bytes into a number of partitions, the same number of rows into each.
func fill(t testing.TB, s store.Store, partitions, rows int) {
	t.Helper()
	for p := range partitions {
		require.NoError(t, s.Update(context.Background(), func(w store.Writer) error {
			for i := range rows {
				if err := w.Put(1, partition(p), sortKey(i), make([]byte, 100)); err != nil {
					return err
				}
			}
			return nil
		}))
	}
}

func TestStore(t *testing.T) {
	t.Run("memory", func(t *testing.T) {
		storetest.Run(t, func(t *testing.T) store.Store { return open(t, "db", disk.Options{}.On(vfs.NewMem())) })
	})
	t.Run("interval", func(t *testing.T) {
		proptest.NeedLong(t)
		storetest.Run(t, func(t *testing.T) store.Store {
			return open(t, "db", disk.Options{SyncEvery: 1e6}.On(vfs.NewMem()))
		})
	})
	t.Run("folder", func(t *testing.T) {
		proptest.NeedLong(t) // slow, because it syncs files two thousand times
		storetest.Run(t, func(t *testing.T) store.Store { return open(t, t.TempDir(), disk.Options{}) })
	})
}
