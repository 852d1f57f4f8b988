package disk_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/address"
	"github.com/sortkey/sortkey/internal/capability"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/disk"
)

// seeds runs fn for n random seeds, and says which one fails. SORTKEY_SEED sets the first seed, and SORTKEY_CHECKS
// multiplies their number.
func seeds(t *testing.T, n int, fn func(t *testing.T, seed uint64, rng *rand.Rand)) {
	t.Helper()
	for i := range proptest.Cases(n) {
		seed := uint64(proptest.Seed()) + uint64(i)
		fn(t, seed, rand.New(rand.NewPCG(seed, 99)))
		if t.Failed() {
			t.Fatalf("SORTKEY_SEED=%d", seed)
		}
	}
}

// small returns options that make the engine write files often.
func small(fs vfs.FS) disk.Options {
	return disk.Options{MemTableBytes: 1, CacheBytes: 1 << 20}.On(fs)
}

// TestCrash interrupts random histories at random points. After a crash, the store must have the state after some
// number of complete updates without gaps. That must include all updates that were acknowledged or seen by a View.
func TestCrash(t *testing.T) {
	t.Parallel()
	var updates, lost uint64
	seeds(t, 40, func(t *testing.T, seed uint64, rng *rand.Rand) {
		fs := newCrashFS()
		h := &history{ops: map[uint64][]op{}}
		for crash := range 1 + rng.IntN(4) {
			what := fmt.Sprintf("seed %d, crash %d", seed, crash)
			s, err := disk.Open("a/db", small(fs))
			require.NoError(t, err, what)
			h.check(t, s, h.acked.Load(), what)

			target := h.tried.Load() + int64(rng.IntN(150))
			var once sync.Once
			var after *crashFS
			var acked uint64
			cut := func() bool {
				if h.tried.Load() < target {
					return false
				}
				once.Do(func() {
					acked = max(h.acked.Load(), h.seen.Load())
					after = fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: rng.IntN(101), RNG: rng})
				})
				return true
			}
			require.Empty(t, h.run(s, rng.Uint64(), 4, cut), what)
			require.NoError(t, s.Close(), what)
			last := h.acked.Load()

			fs = after
			s, err = disk.Open("a/db", small(fs))
			require.NoError(t, err, what)
			count := h.check(t, s, acked, what)
			updates, lost = updates+acked, lost+last-min(last, count)
			require.NoError(t, s.Close(), what)
		}
	})
	t.Logf("%d acknowledged updates were there after crashes; %d acknowledged after the cut were not", updates, lost)
}

// TestCrashWhileOpening crashes at every write of the first Open.
func TestCrashWhileOpening(t *testing.T) {
	t.Parallel()
	seeds(t, 3, func(t *testing.T, seed uint64, rng *rand.Rand) {
		for cut := int64(0); ; cut++ {
			fs := newCrashFS()
			var after *crashFS
			var n atomic.Int64
			s, err := disk.Open("a/db", disk.Options{}.On(errorfs.Wrap(fs, errorfs.InjectorFunc(func(o errorfs.Op) error {
				if o.Kind.ReadOrWrite() == errorfs.OpIsWrite && n.Add(1)-1 == cut {
					after = fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: rng.IntN(101), RNG: rng})
				}
				return nil
			}))))
			require.NoError(t, err)
			require.NoError(t, s.Close())
			if after == nil {
				require.Greater(t, cut, int64(20))
				return
			}
			s, err = disk.Open("a/db", disk.Options{}.On(after))
			require.NoError(t, err, "seed %d, cut at write %d", seed, cut)
			h := &history{ops: map[uint64][]op{}}
			require.NoError(t, h.update(s, rng))
			require.NoError(t, s.Close())
		}
	})
}

// TestDiskErrors makes one write fail, or all writes from then on. Callers must get the error, and the store must
// stop. When the folder is opened again, at once or after a crash, all acknowledged updates must be present.
func TestDiskErrors(t *testing.T) {
	t.Parallel()
	var acknowledged uint64
	failures := map[string]int{}
	seeds(t, 12, func(t *testing.T, seed uint64, rng *rand.Rand) {
		what := fmt.Sprintf("seed %d", seed)
		fs := newCrashFS()
		h := &history{ops: map[uint64][]op{}}
		target, forever, only := int64(rng.IntN(400)), rng.IntN(2) == 0, rng.IntN(4)
		var n atomic.Int64
		s, err := disk.Open("db", small(errorfs.Wrap(fs, errorfs.InjectorFunc(func(o errorfs.Op) error {
			if o.Kind.ReadOrWrite() != errorfs.OpIsWrite || o.Kind == errorfs.OpFileClose ||
				only == 1 && !strings.HasSuffix(o.Path, ".sst") ||
				only == 2 && !strings.Contains(o.Path, "MANIFEST") {
				return nil
			}
			at := target
			if only == 1 || only == 2 {
				at /= 10 // smaller histories have fewer writes
			}
			if i := n.Add(1); i == at || forever && i > at {
				return syscall.EIO
			}
			return nil
		}))))
		if err == nil {
			errs := h.run(s, rng.Uint64(), 4, func() bool { return h.tried.Load() > 1200 })
			if len(errs) > 0 {
				require.ErrorIs(t, capability.Health(t.Context(), s), syscall.EIO, what)
			}
			closed := s.Close()
			for _, err := range append(errs, closed) {
				if err == nil {
					continue // the error hit something unimportant, such as removing a file
				}
				var f *disk.FailedError
				require.True(t, errors.As(err, &f), "%s: %v", what, err)
				require.ErrorIs(t, err, syscall.EIO, what)
				failures[f.Op]++
			}
			if len(errs) > 0 {
				require.Error(t, closed, what)
				require.Len(t, errs, 5, "%s: every later call fails", what)
			}
		}
		acked := max(h.acked.Load(), h.seen.Load())
		acknowledged += acked
		clone := fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: rng.IntN(101), RNG: rng})
		for i, fs := range []vfs.FS{clone, fs} {
			s, err := disk.Open("db", small(fs))
			require.NoError(t, err, "%s, state %d", what, i)
			if i == 1 {
				h.check(t, s, acked, what)
			} else {
				again := &history{ops: h.ops}
				again.ops = cloneOps(h)
				again.check(t, s, acked, what+" and a crash")
			}
			require.NoError(t, h.updateAny(s, rng), what)
			require.NoError(t, s.Close())
		}
	})
	t.Logf("%d acknowledged updates were there; failures by operation: %v", acknowledged, failures)
}

func cloneOps(h *history) map[uint64][]op {
	out := make(map[uint64][]op, len(h.ops))
	maps.Copy(out, h.ops)
	return out
}

// updateAny makes an update that h does not record.
func (h *history) updateAny(s *disk.Store, rng *rand.Rand) error {
	return (&history{ops: map[uint64][]op{}}).update(s, rng)
}

// TestFullDisk limits the space of the disk, so that a write is cut off in the middle, and frees space later.
// Meanwhile updates must wait or be refused, and Views must work. Afterwards updates must work without a restart.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	seeds(t, 8, func(t *testing.T, seed uint64, rng *rand.Rand) {
		what := fmt.Sprintf("seed %d", seed)
		mem := newCrashFS()
		full := &fullFS{FS: mem}
		full.freeSpace.Store(1 << 40)
		h := &history{ops: map[uint64][]op{}}
		s, err := disk.Open("db", small(full))
		require.NoError(t, err, what)

		for range 3 {
			full.freeSpace.Store(int64(rng.IntN(1 << 20)))
			var stop atomic.Bool
			done := make(chan []error)
			go func() { done <- h.run(s, rng.Uint64(), 3, stop.Load) }()
			require.Eventually(t, func() bool { return s.Health(t.Context()) != nil }, time.Minute, time.Millisecond, what)
			require.ErrorIs(t, s.Health(t.Context()), syscall.ENOSPC, what)
			err := s.Update(t.Context(), func(store.Writer) error { return nil })
			require.ErrorIs(t, err, syscall.ENOSPC, what)
			require.ErrorContains(t, err, "writes go on then, without a restart", what)
			require.NoError(t, h.look(s), what)

			full.freeSpace.Store(1 << 40)
			require.Eventually(t, func() bool { return s.Health(t.Context()) == nil }, time.Minute, time.Millisecond, what)
			stop.Store(true)
			for _, err := range <-done {
				require.ErrorIs(t, err, syscall.ENOSPC, what)
			}
			require.Empty(t, h.run(s, rng.Uint64(), 2, stopAfter(&h.tried, 50)), what)
		}
		require.NoError(t, s.Close(), what)

		crash := mem.CrashClone(vfs.CrashCloneCfg{}) // without what was not synced
		s, err = disk.Open("db", small(crash))
		require.NoError(t, err, what)
		h.check(t, s, max(h.acked.Load(), h.seen.Load()), what)
		require.NoError(t, s.Close(), what)
	})
}

// TestFullDiskClose closes a store, and opens it, while the disk is full. Nothing may be lost.
func TestFullDiskClose(t *testing.T) {
	proptest.NeedLong(t) // slow, because it waits in a process of its own
	t.Parallel()
	if inChild(t) {
		return
	}
	mem := newCrashFS()
	full := &fullFS{FS: mem}
	full.freeSpace.Store(1 << 20)
	h := &history{ops: map[uint64][]op{}}
	s, err := disk.Open("db", small(full).Timeout(time.Second))
	require.NoError(t, err)
	done := make(chan []error)
	go func() { done <- h.run(s, 1, 3, func() bool { return false }) }()
	require.Eventually(t, func() bool { return s.Health(t.Context()) != nil }, time.Minute, time.Millisecond)

	require.ErrorIs(t, s.Close(), syscall.ENOSPC)
	<-done
	require.ErrorIs(t, s.View(t.Context(), func(store.Reader) error { return nil }), store.ErrClosed)
	_, err = disk.Open("db", small(full).Timeout(time.Second))
	require.ErrorIs(t, err, syscall.ENOSPC)

	full.freeSpace.Store(1 << 40)
	s, err = disk.Open("db", small(full).Timeout(time.Second))
	require.NoError(t, err)
	h.check(t, s, max(h.acked.Load(), h.seen.Load()), "after closing")
	require.Empty(t, h.run(s, 2, 2, stopAfter(&h.tried, 50)))
	require.NoError(t, s.Close())
}

// TestFullDiskOpen opens a store whose log has rows, a Load between them, and more rows. Operations of one kind find
// the disk full, from the first of them or from a later one. Open must return even when the engine retries for ever:
// it cannot write the first rows, but needs them to place the file of the Load. Once there is space, another Open
// must have all rows.
func TestFullDiskOpen(t *testing.T) {
	proptest.NeedLong(t) // slow, because it waits in a process of its own
	t.Parallel()
	if inChild(t) {
		return
	}
	image := loggedLoad(t)
	failed := 0
	for _, kind := range []errorfs.OpKind{
		errorfs.OpCreate, errorfs.OpFileWrite, errorfs.OpFileSync, errorfs.OpRename, errorfs.OpLink, errorfs.OpReuseForWrite,
	} {
		for pass := range int64(6) {
			what := fmt.Sprintf("kind %d, after %d", kind, pass)
			var full atomic.Bool
			var calls atomic.Int64
			full.Store(true)
			disks := image.CrashClone(vfs.CrashCloneCfg{})
			fs := errorfs.Wrap(disks, errorfs.InjectorFunc(func(o errorfs.Op) error {
				if full.Load() && o.Kind == kind && calls.Add(1) > pass {
					return syscall.ENOSPC
				}
				return nil
			}))
			s, err := disk.Open("db", small(fs).Timeout(60*time.Millisecond))
			if err != nil {
				failed++
				require.ErrorIs(t, err, syscall.ENOSPC, what)
			} else if err := s.Close(); err != nil {
				require.ErrorIs(t, err, syscall.ENOSPC, what)
			}

			full.Store(false)
			s, err = disk.Open("db", small(fs))
			require.NoError(t, err, what)
			require.Equal(t, 202, count(t, s), what)
			require.NoError(t, s.Close(), what)
		}
	}
	require.Greater(t, failed, 10)
}

// loggedLoad returns the files after a crash. The log has 100 rows, a Load of two rows, and 100 more rows.
func loggedLoad(t *testing.T) *crashFS {
	mem := newCrashFS()
	held := make(chan struct{})
	hold := errorfs.InjectorFunc(func(o errorfs.Op) error { // keeps rows out of files, except those of the Load
		if o.Kind == errorfs.OpCreate && path.Dir(o.Path) == "db" && path.Ext(o.Path) == ".sst" {
			<-held
		}
		return nil
	})
	s, err := disk.Open("db", disk.Options{}.On(errorfs.Wrap(mem, hold)))
	require.NoError(t, err)
	put := func(from int, value []byte) {
		require.NoError(t, s.Update(t.Context(), func(w store.Writer) error {
			for i := range 100 {
				if err := w.Put(1, []byte("p"), fmt.Appendf(nil, "%04d", from+i), value); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	value := bytes.Repeat([]byte("v"), 4000)
	put(0, value[:10])
	require.NoError(t, s.Load(t.Context(), func(l store.Loading) error {
		return l.Add(func(yield func(address, value []byte) bool) {
			_ = yield(address.Append(nil, 1, []byte("p"), []byte("0050x")), value) &&
				yield(address.Append(nil, 1, []byte("p"), []byte("0051x")), value)
		})
	}))
	put(1000, value)
	image := mem.CrashClone(vfs.CrashCloneCfg{})
	close(held)
	require.NoError(t, s.Close())
	return image
}

// TestFullDiskLists closes a store that cannot write its list of logs. A log that is still in the list must remain,
// because otherwise the next Open would take it for lost.
func TestFullDiskLists(t *testing.T) {
	t.Parallel()
	mem := vfs.NewMem()
	var full, hit atomic.Bool
	fs := errorfs.Wrap(mem, errorfs.InjectorFunc(func(o errorfs.Op) error {
		if full.Load() && o.Kind == errorfs.OpCreate && strings.HasSuffix(o.Path, "SORTKEY.tmp") {
			hit.Store(true)
			return syscall.ENOSPC
		}
		return nil
	}))
	s, err := disk.Open("db", small(fs).Timeout(time.Second))
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			full.Store(i >= 20)
			if s.Update(context.Background(), func(w store.Writer) error {
				return w.Put(1, []byte("p"), fmt.Appendf(nil, "%06d", i), make([]byte, 10_000))
			}) != nil {
				return
			}
		}
	}()
	require.Eventually(t, hit.Load, time.Minute, time.Millisecond)
	require.ErrorIs(t, s.Close(), syscall.ENOSPC)
	<-done

	full.Store(false)
	s, err = disk.Open("db", small(mem))
	require.NoError(t, err)
	require.NoError(t, s.Close())
}

// TestSpace checks that updates that would leave too little space are refused before anything is written.
func TestSpace(t *testing.T) {
	t.Parallel()
	fs := &usedFS{FS: vfs.NewMem()}
	fs.free.Store(1 << 30)
	s := open(t, "db", small(fs))
	put := func(size int) error {
		return s.Update(t.Context(), func(w store.Writer) error { return w.Put(1, []byte("p"), []byte("s"), make([]byte, size)) })
	}
	require.NoError(t, put(10))
	require.NoError(t, s.Health(t.Context()))

	fs.free.Store(9 << 20)
	require.ErrorIs(t, put(2<<20), syscall.ENOSPC, "it would leave less than 8 MB")
	require.NoError(t, put(10))
	fs.free.Store(7 << 20)
	require.ErrorIs(t, put(2<<20), syscall.ENOSPC)
	require.ErrorIs(t, put(10), syscall.ENOSPC, "after a refusal, each looks")
	for what, remove := range map[string]func(store.Writer) error{
		"delete": func(w store.Writer) error { return w.Delete(1, []byte("p"), []byte("s")) },
		"clear":  func(w store.Writer) error { return w.Clear(1) },
	} {
		require.ErrorIs(t, s.Update(t.Context(), remove), syscall.ENOSPC, what)
	}
	require.ErrorIs(t, s.Health(t.Context()), syscall.ENOSPC)
	require.NoError(t, s.View(t.Context(), func(r store.Reader) error {
		v, _, err := r.Get(1, []byte("p"), []byte("s"))
		require.Len(t, v, 10)
		return err
	}))

	fs.free.Store(1 << 30)
	require.NoError(t, put(2<<20))
	require.NoError(t, s.Health(t.Context()))
	require.NoError(t, s.Close())
}

// A usedFS is a file system that reports a given amount of free space.
type usedFS struct {
	vfs.FS
	free atomic.Uint64
}

func (f *usedFS) GetDiskUsage(string) (vfs.DiskUsage, error) {
	return vfs.DiskUsage{AvailBytes: f.free.Load(), TotalBytes: 1 << 40}, nil
}

func stopAfter(tried *atomic.Int64, n int64) func() bool {
	end := tried.Load() + n
	return func() bool { return tried.Load() >= end }
}

// A fullFS is a file system with space for a limited number of bytes.
type fullFS struct {
	vfs.FS
	freeSpace atomic.Int64
}

type fullFile struct {
	vfs.File
	fs *fullFS
}

func (f *fullFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := f.FS.Create(name, c)
	return &fullFile{file, f}, err
}

func (f *fullFS) ReuseForWrite(from, to string, c vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := f.FS.ReuseForWrite(from, to, c)
	return &fullFile{file, f}, err
}

func (f *fullFile) Write(p []byte) (int, error) {
	left := f.fs.freeSpace.Add(-int64(len(p)))
	if left >= 0 {
		return f.File.Write(p)
	}
	n, err := f.File.Write(p[:max(0, int64(len(p))+left)])
	if err != nil {
		return n, err
	}
	return n, syscall.ENOSPC
}

// TestReadErrors checks that readers get the errors of a disk that fails to read.
func TestReadErrors(t *testing.T) {
	var bad atomic.Bool
	fs := errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(o errorfs.Op) error {
		if bad.Load() && o.Kind == errorfs.OpFileReadAt && strings.HasSuffix(o.Path, ".sst") {
			return syscall.EIO
		}
		return nil
	}))
	s := open(t, "db", small(fs))
	fill(t, s, 3, 2000)
	require.NoError(t, s.Close())
	s = open(t, "db", small(fs))
	bad.Store(true)
	err := s.View(t.Context(), func(r store.Reader) error {
		for _, err := range r.Scan(1, store.Everything()) {
			if err != nil {
				return err
			}
		}
		return nil
	})
	require.ErrorIs(t, err, syscall.EIO)
	err = s.View(t.Context(), func(r store.Reader) error {
		_, _, err := r.Get(1, partition(1), sortKey(1))
		return err
	})
	require.ErrorIs(t, err, syscall.EIO)
	_ = s.Close()
}
