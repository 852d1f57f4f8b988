package disk_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/disk"
)

// TestCompact checks that Compact frees the disk space of rows that were deleted.
func TestCompact(t *testing.T) {
	mem := vfs.NewMem()
	s := open(t, "db", disk.Options{MemTableBytes: 1 << 20}.On(mem))
	rng := rand.New(rand.NewPCG(1, 2))
	for p := range 40 {
		require.NoError(t, s.Update(t.Context(), func(w store.Writer) error {
			for i := range 100 {
				value := make([]byte, 1000)
				for j := range value {
					value[j] = byte(rng.Uint32())
				}
				if err := w.Put(1, partition(p), sortKey(i), value); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	require.NoError(t, s.Compact(t.Context()))
	require.Greater(t, rowBytes(t, mem), int64(4_000_000))
	require.NoError(t, s.Update(t.Context(), func(w store.Writer) error { return w.Clear(1) }))
	put(t, s, "k", "v")
	require.NoError(t, s.Compact(t.Context()))
	require.Eventually(t, func() bool { return rowBytes(t, mem) < 100_000 }, time.Minute, time.Millisecond)
	require.Equal(t, "v", get(t, s, "k"))
	require.NoError(t, s.Close())

	s = open(t, "db", disk.Options{ReadOnly: true}.On(mem))
	require.ErrorIs(t, s.Compact(t.Context()), store.ErrReadOnly)
	require.Equal(t, "v", get(t, s, "k"))
}

// rowBytes returns the total size of the files that contain rows.
func rowBytes(t *testing.T, fs vfs.FS) (bytes int64) {
	names, err := fs.List("db")
	require.NoError(t, err)
	for _, name := range names {
		if !strings.HasSuffix(name, ".sst") && !strings.HasSuffix(name, ".blob") {
			continue
		}
		info, err := fs.Stat("db/" + name)
		if errors.Is(err, os.ErrNotExist) { // removed meanwhile
			continue
		}
		require.NoError(t, err)
		bytes += info.Size()
	}
	return bytes
}

// TestCompactEnds checks that a Compact that waits for the disk ends with its context, with Close, and when the store
// fails.
func TestCompactEnds(t *testing.T) {
	stop := errors.New("stop")
	for _, tt := range []struct {
		name string
		end  func(s *disk.Store, cancel context.CancelCauseFunc)
		want error
	}{
		{"context", func(_ *disk.Store, cancel context.CancelCauseFunc) { cancel(stop) }, stop},
		{"Close", func(s *disk.Store, _ context.CancelCauseFunc) { go s.Close() }, store.ErrClosed},
		{"failure", nil, errorfs.ErrInjected},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var on atomic.Bool
			began, release := make(chan struct{}, 100), make(chan struct{})
			s := open(t, "db", disk.Options{}.On(errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(o errorfs.Op) error {
				if !on.Load() || o.Kind != errorfs.OpCreate || !strings.HasSuffix(o.Path, ".sst") {
					return nil
				}
				if tt.end == nil {
					return errorfs.ErrInjected
				}
				began <- struct{}{}
				<-release
				return nil
			}))))
			put(t, s, "k", "v")
			on.Store(true)
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			ended := make(chan error)
			go func() { ended <- s.Compact(ctx) }()
			if tt.end != nil {
				<-began
				tt.end(s, cancel)
			}
			require.ErrorIs(t, <-ended, tt.want)
			on.Store(false)
			close(release)
			if tt.end != nil {
				require.NoError(t, s.Close())
			}
		})
	}
}
