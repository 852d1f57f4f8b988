package disk_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/disk"
)

// onSync returns a file system that calls fn before each sync of the log.
func onSync(fs vfs.FS, fn func()) vfs.FS {
	return errorfs.Wrap(fs, errorfs.InjectorFunc(func(o errorfs.Op) error {
		switch o.Kind {
		case errorfs.OpFileSync, errorfs.OpFileSyncData, errorfs.OpFileSyncTo:
			if strings.HasSuffix(o.Path, ".log") {
				fn()
			}
		default:
		}
		return nil
	}))
}

// TestGroupCommit checks that many writers share few syncs.
func TestGroupCommit(t *testing.T) {
	const writers, each = 32, 20
	synctest.Test(t, func(t *testing.T) { // in a bubble, a sync can end exactly when all writers wait
		var syncs atomic.Int64
		s := open(t, "db", disk.Options{}.On(onSync(vfs.NewMem(), func() {
			syncs.Add(1)
			time.Sleep(2 * time.Millisecond)
		})))
		syncs.Store(0)
		var wg sync.WaitGroup
		for i := range writers {
			wg.Go(func() {
				for n := range each {
					put(t, s, fmt.Sprint(i, "/", n), "v")
				}
			})
		}
		wg.Wait()
		t.Logf("%d updates, %d syncs", writers*each, syncs.Load())
		require.Less(t, syncs.Load(), int64(writers*each/4))
		require.NoError(t, s.Close())
	})
}

// TestSnapshots checks that soon after the last write no unread snapshots are left, that there are only few while
// writers write, and that a View keeps its own.
func TestSnapshots(t *testing.T) {
	const writers, each, most = 8, 200, (8 + 1) * 66 // each writer may be about to close 64
	s := open(t, "db", disk.Options{}.On(vfs.NewMem()))
	write := func() (most int) {
		var wg sync.WaitGroup
		var seen atomic.Int64
		for i := range writers {
			wg.Go(func() {
				for n := range each {
					put(t, s, fmt.Sprint(i), fmt.Sprint(n))
					seen.Store(max(seen.Load(), int64(s.Stats().Snapshots)))
				}
			})
		}
		wg.Wait()
		return int(seen.Load())
	}
	left := func(want int, which string) {
		require.Eventually(t, func() bool { return s.Stats().Snapshots == want }, time.Minute, time.Millisecond, which)
	}
	require.Less(t, write(), most)
	left(1, "the last")
	require.NoError(t, s.View(t.Context(), func(r store.Reader) error {
		require.Less(t, write(), most)
		left(2, "the last and this view's")
		v, _, err := r.Get(1, []byte("p"), []byte("0"))
		require.Equal(t, fmt.Sprint(each-1), string(v))
		return err
	}))
	put(t, s, "k", "v")
	left(1, "the last")
	require.NoError(t, s.Close())
}

// TestNothingBeforeItsSync blocks a sync. Meanwhile the next Update may run, but neither it nor an Update that only
// reads may return, and Views must see the previous state.
func TestNothingBeforeItsSync(t *testing.T) {
	gate := make(chan struct{})
	var held atomic.Bool
	synctest.Test(t, func(t *testing.T) {
		s := open(t, "db", disk.Options{}.On(onSync(vfs.NewMem(), func() {
			if held.Load() {
				<-gate
			}
		})))
		gate = make(chan struct{}) // created inside this synctest bubble
		put(t, s, "k", "old")
		held.Store(true)
		var returned atomic.Int64
		why := errors.New("condition failed")
		update := func(want error, fn func(w store.Writer) error) {
			go func() {
				require.Equal(t, want, s.Update(context.Background(), fn))
				returned.Add(1)
			}()
			synctest.Wait()
		}
		sees := func(w store.Writer, want string) {
			v, _, err := w.Get(1, []byte("p"), []byte("k"))
			require.NoError(t, err)
			require.Equal(t, want, string(v))
		}
		update(nil, func(w store.Writer) error { return w.Put(1, []byte("p"), []byte("k"), []byte("new")) })
		ran := 0
		update(nil, func(w store.Writer) error {
			ran++
			sees(w, "new")
			return w.Put(1, []byte("p"), []byte("l"), []byte("newer"))
		})
		update(nil, func(w store.Writer) error { ran++; sees(w, "new"); return nil })
		update(why, func(w store.Writer) error { ran++; sees(w, "new"); return why })
		require.Equal(t, 3, ran, "updates run while the sync is under way")
		require.Zero(t, returned.Load())
		require.Equal(t, "old", get(t, s, "k"))
		held.Store(false)
		close(gate)
		synctest.Wait()
		require.Equal(t, int64(4), returned.Load())
		require.Equal(t, "new", get(t, s, "k"))
		require.Equal(t, "newer", get(t, s, "l"))
		require.NoError(t, s.Close())
	})
}

// TestSyncEvery checks that with an interval, updates do not wait, and that writes older than the interval survive a
// crash. Close must keep all writes.
func TestSyncEvery(t *testing.T) {
	fs := newCrashFS()
	s := open(t, "db", disk.Options{SyncEvery: 10 * time.Millisecond}.On(fs))
	put(t, s, "k", "v")
	require.Eventually(t, func() bool {
		after, err := disk.Open("db", disk.Options{}.On(fs.CrashClone(vfs.CrashCloneCfg{})))
		require.NoError(t, err)
		defer after.Close()
		return get(t, after, "k") == "v"
	}, time.Minute, 10*time.Millisecond)
	put(t, s, "k", "last")
	require.NoError(t, s.Close())
	s = open(t, "db", disk.Options{}.On(fs.CrashClone(vfs.CrashCloneCfg{})))
	require.Equal(t, "last", get(t, s, "k"))
	require.NoError(t, s.Close())
}

// TestCloseWaits closes a store during a View and an Update, which finish.
func TestCloseWaits(t *testing.T) {
	s := open(t, "db", disk.Options{}.On(vfs.NewMem()))
	fill(t, s, 1, 3000)
	started, closing := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		require.NoError(t, s.View(context.Background(), func(r store.Reader) error {
			n := 0
			for range r.Scan(1, store.Everything()) {
				if n++; n == 1 {
					close(started)
					<-closing
					for s.View(context.Background(), func(store.Reader) error { return nil }) == nil {
						time.Sleep(time.Millisecond) // until Close has begun
					}
				}
			}
			require.Equal(t, 3000, n)
			_, ok, err := r.Get(1, partition(0), sortKey(7))
			require.True(t, ok)
			return err
		}))
	})
	<-started
	close(closing)
	require.NoError(t, s.Close())
	wg.Wait()
	require.ErrorIs(t, s.View(t.Context(), nil), store.ErrClosed)
}
