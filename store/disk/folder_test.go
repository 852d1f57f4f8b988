package disk_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/disk"
)

// rows returns all rows of the first spaces as text.
func rows(t testing.TB, s store.Store) (all []string) {
	t.Helper()
	require.NoError(t, s.View(t.Context(), func(r store.Reader) error {
		for space := range store.Space(10) {
			for row, err := range r.Scan(space, store.Everything()) {
				if err != nil {
					return err
				}
				all = append(all, fmt.Sprintf("%d %q %q %q", space, row.Partition, row.Sort, row.Value))
			}
		}
		return nil
	}))
	return all
}

func TestCopy(t *testing.T) {
	for _, tt := range []struct {
		name string
		fs   vfs.FS
		root string
	}{
		{"memory", vfs.NewMem(), ""},
		{"folder", vfs.Default, t.TempDir()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			opts := disk.Options{}.On(tt.fs)
			from, kept := filepath.Join(tt.root, "deep", "db"), filepath.Join(tt.root, "more", "kept")
			s := open(t, from, opts)
			fill(t, s, 5, 500)
			put(t, s, "k", "before")
			want := rows(t, s)
			require.Greater(t, len(want), 500)
			require.ErrorIs(t, disk.Copy(t.Context(), from, kept, opts), disk.ErrLocked)
			require.NoError(t, s.Close())

			require.False(t, disk.Exists(kept, opts))
			require.NoError(t, disk.Copy(t.Context(), from, kept, opts))
			require.True(t, disk.Exists(kept, opts))
			require.ErrorContains(t, disk.Copy(t.Context(), from, kept, opts), "is not empty")
			s = open(t, kept, opts)
			require.Equal(t, want, rows(t, s))
			put(t, s, "k", "kept")
			require.NoError(t, s.Close())
			s = open(t, from, opts)
			require.Equal(t, "before", get(t, s, "k"))
			require.NoError(t, s.Close())

			other := filepath.Join(tt.root, "x")
			require.ErrorContains(t, disk.Copy(t.Context(), filepath.Dir(from), other, opts), "not a Sortkey store")
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			require.ErrorIs(t, disk.Copy(ctx, from, other, opts), context.Canceled)
			_, err := disk.Open(other, disk.Options{ReadOnly: true}.On(tt.fs))
			require.Error(t, err)
		})
	}
}

// TestCopyFull checks that a copy to a disk without space, or a copy that fails at any write, leaves either no store
// or a complete one.
func TestCopyFull(t *testing.T) {
	mem := vfs.NewMem()
	s := open(t, "db", disk.Options{}.On(mem))
	put(t, s, "k", "v")
	require.NoError(t, s.Close())
	full := &usedFS{FS: mem}
	full.free.Store(10_000)
	err := disk.Copy(t.Context(), "db", "small", disk.Options{}.On(full))
	require.ErrorContains(t, err, "not enough space for small: need ")
	require.False(t, disk.Exists("small", disk.Options{}.On(mem)))

	failed := 0
	for n := range int32(200) {
		dir := fmt.Sprint("copy", n)
		fs := errorfs.Wrap(mem, errorfs.ErrInjected.If(errorfs.And(errorfs.Writes, errorfs.OnIndex(n))))
		err := disk.Copy(t.Context(), "db", dir, disk.Options{}.On(fs))
		if err == nil {
			break
		}
		failed++
		require.ErrorContains(t, err, "injected error")
		if !disk.Exists(dir, disk.Options{}.On(mem)) {
			continue
		}
		if s, err := disk.Open(dir, disk.Options{}.On(mem)); err == nil { // only the very last sync failed
			require.Equal(t, "v", get(t, s, "k"))
			require.NoError(t, s.Close())
		}
	}
	require.Greater(t, failed, 10)
}
