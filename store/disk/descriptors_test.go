package disk_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/disk"
)

// TestDescriptors takes away all descriptors for a while, three times, while writers fill memory tables. Writes must
// wait or be refused, and work again when there are descriptors. No acknowledged write may be lost.
func TestDescriptors(t *testing.T) {
	t.Parallel()
	mem := newCrashFS()
	var none atomic.Bool
	s, err := disk.Open("db", small(errorfs.Wrap(mem, errorfs.InjectorFunc(func(o errorfs.Op) error {
		switch o.Kind {
		case errorfs.OpCreate, errorfs.OpReuseForWrite, errorfs.OpOpen, errorfs.OpOpenDir:
			if none.Load() {
				return syscall.EMFILE
			}
		default:
		}
		return nil
	}))))
	require.NoError(t, err)

	var acked sync.Map
	var refused, written atomic.Int64
	var writers sync.WaitGroup
	stop := make(chan struct{})
	write := func(sort string) bool {
		err := s.Update(t.Context(), func(w store.Writer) error {
			return w.Put(1, []byte("p"), []byte(sort), []byte(strings.Repeat("x", 8<<10)))
		})
		switch {
		case err == nil:
			acked.Store(sort, true)
			written.Add(1)
		case errors.Is(err, syscall.EMFILE):
			refused.Add(1)
			time.Sleep(time.Millisecond)
		default:
			t.Error(err)
			return false
		}
		return true
	}
	for g := range 3 {
		writers.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
					if !write(fmt.Sprintf("%d-%06d", g, i)) {
						return
					}
				}
			}
		})
	}

	more := 0
	for range 3 {
		before, had := written.Load(), refused.Load()
		require.Eventually(t, func() bool { return written.Load() > before+50 }, time.Minute, time.Millisecond)
		none.Store(true)
		require.Eventually(t, func() bool { // all running updates may be waiting for the log
			more++
			sort := fmt.Sprintf("more-%06d", more)
			writers.Go(func() { write(sort) })
			return refused.Load() > had
		}, time.Minute, 5*time.Millisecond)
		none.Store(false)
	}
	before := written.Load()
	require.Eventually(t, func() bool { return written.Load() > before+50 }, time.Minute, time.Millisecond, "writes go on")
	close(stop)
	writers.Wait()
	require.NoError(t, s.Close())

	s, err = disk.Open("db", small(mem))
	require.NoError(t, err)
	acked.Range(func(sort, _ any) bool {
		require.NotEqual(t, "-", get(t, s, sort.(string)))
		return true
	})
	require.NoError(t, s.Close())
}

// TestDescriptorsOfFolders opens a store while there are no descriptors for folders. They come back after the store
// has retried several times.
func TestDescriptorsOfFolders(t *testing.T) {
	t.Parallel()
	mem := vfs.NewMem()
	first := open(t, "db", disk.Options{}.On(mem))
	put(t, first, "key", "value")
	require.NoError(t, first.Close())
	for _, kind := range []errorfs.OpKind{errorfs.OpOpenDir, errorfs.OpList} {
		var left atomic.Int64
		left.Store(3)
		fs := errorfs.Wrap(mem, errorfs.InjectorFunc(func(o errorfs.Op) error {
			if o.Kind == kind && left.Add(-1) >= 0 {
				return syscall.EMFILE
			}
			return nil
		}))
		s, err := disk.Open("db", disk.Options{}.On(fs))
		require.NoError(t, err)
		require.Negative(t, left.Load())
		require.Equal(t, 1, count(t, s))
		require.NoError(t, s.Close())
	}
}
