package disk_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/disk"
	"github.com/sortkey/sortkey/store/storetest"
)

func fork(t testing.TB, s store.Store) *disk.Store {
	t.Helper()
	f, err := s.(store.Forker).Fork()
	require.NoError(t, err)
	return f.(*disk.Store)
}

func TestFork(t *testing.T) {
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
			dir := filepath.Join(tt.root, "db")
			forks := filepath.Join(dir, "forks")
			listed := func() []string {
				names, err := tt.fs.List(forks)
				if err != nil && !errors.Is(err, os.ErrNotExist) {
					t.Fatal(err)
				}
				return names
			}
			s := open(t, dir, opts)
			fill(t, s, 5, 500)
			put(t, s, "k", "before")
			a := fork(t, s)
			put(t, s, "k", "after")
			put(t, a, "k", "a")
			b := fork(t, a)
			put(t, b, "k", "b")
			require.Equal(t, "after", get(t, s, "k"))
			require.Equal(t, "a", get(t, a, "k"))
			require.Equal(t, "b", get(t, b, "k"))
			require.Len(t, listed(), 2)

			require.NoError(t, a.Close())
			require.NoError(t, a.Close())
			require.Len(t, listed(), 1)
			_, err := a.Fork()
			require.ErrorIs(t, err, store.ErrClosed)

			// B outlives its original store, even when a program opens the original again.
			require.NoError(t, s.Close())
			require.Equal(t, "b", get(t, b, "k"))
			s = open(t, dir, opts)
			require.Equal(t, "b", get(t, b, "k"))
			require.Len(t, listed(), 1)
			require.NoError(t, b.Close())
			require.Empty(t, listed())
			_, err = tt.fs.Stat(forks)
			require.ErrorIs(t, err, os.ErrNotExist)
			require.Equal(t, "after", get(t, s, "k"))
			require.NoError(t, s.Close())

			s = open(t, dir, disk.Options{ReadOnly: true}.On(tt.fs))
			_, err = s.Fork()
			require.ErrorIs(t, err, store.ErrReadOnly)
			require.NoError(t, s.Close())
		})
	}
}

// TestForkIsAStore runs the store suite on forks.
func TestForkIsAStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store {
		s := open(t, "db", disk.Options{}.On(vfs.NewMem()))
		f := fork(t, s)
		require.NoError(t, s.Close())
		return f
	})
}

// TestForkLeft checks that opening a store removes the folders of forks left by
// a crash, unless it is opened for reading only.
func TestForkLeft(t *testing.T) {
	fs := newCrashFS()
	s := open(t, "db", disk.Options{}.On(fs))
	put(t, s, "k", "v")
	f := fork(t, s)
	require.NoError(t, fs.MkdirAll("db/forks/unfinished", 0o755))
	after := fs.CrashClone(vfs.CrashCloneCfg{})
	require.NoError(t, f.Close())
	require.NoError(t, s.Close())

	s = open(t, "db", disk.Options{ReadOnly: true}.On(after))
	require.NoError(t, s.Close())
	_, err := after.Stat("db/forks")
	require.NoError(t, err)
	s = open(t, "db", disk.Options{}.On(after))
	_, err = after.Stat("db/forks")
	require.ErrorIs(t, err, os.ErrNotExist)
	require.Equal(t, "v", get(t, s, "k"))
	require.NoError(t, s.Close())
}

// TestForkBeside forks during writes. A fork must have all updates that were acknowledged before it. It must have
// each update completely or not at all, and no later ones.
func TestForkBeside(t *testing.T) {
	s := open(t, "db", disk.Options{MemTableBytes: 1}.On(vfs.NewMem()))
	var stop, wg sync.WaitGroup
	quit := make(chan struct{})
	stop.Go(func() {
		for n := 1; ; n++ {
			select {
			case <-quit:
				return
			default:
			}
			value := fmt.Appendf(nil, "%06d", n)
			err := s.Update(t.Context(), func(w store.Writer) error {
				if err := w.Put(1, []byte("p"), []byte("k"), value); err != nil {
					return err
				}
				return w.Put(2, value, nil, value)
			})
			if err != nil {
				t.Error(err)
				return
			}
		}
	})
	for range 4 {
		wg.Go(func() {
			for range 5 {
				before := get(t, s, "k")
				f := fork(t, s)
				at := get(t, f, "k")
				if before != "-" && at < before {
					t.Errorf("the fork has %s, acknowledged before it: %s", at, before)
				}
				if at != "-" {
					n := 0
					if err := f.View(t.Context(), func(r store.Reader) error {
						for _, err := range r.Scan(2, store.Everything()) {
							if err != nil {
								return err
							}
							n++
						}
						return nil
					}); err != nil {
						t.Error(err)
					}
					if got := fmt.Sprintf("%06d", n); got != at {
						t.Errorf("%s rows by update %s", got, at)
					}
				}
				put(t, f, "k", "fork")
				if now := get(t, s, "k"); now == "fork" {
					t.Error("a write to the fork is in its origin")
				}
				if err := f.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	close(quit)
	stop.Wait()
	require.NoError(t, s.Close())
}

// TestCopyLeavesNothing checks that a copy that fails on a full disk leaves no
// folder, and that the store still works.
func TestCopyLeavesNothing(t *testing.T) {
	full := errors.New("no space left on device")
	var on atomic.Bool
	mem := vfs.NewMem()
	fsys := errorfs.Wrap(mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if on.Load() && op.Kind.ReadOrWrite() == errorfs.OpIsWrite && strings.Contains(op.Path, "forks/") {
			return full
		}
		return nil
	}))
	s := open(t, "db", disk.Options{}.On(fsys))
	put(t, s, "k", "v")
	on.Store(true)
	_, err := s.Fork()
	require.ErrorIs(t, err, full)
	require.ErrorIs(t, s.Snapshot(t.Context(), "copy"), full)
	on.Store(false)
	names, err := mem.List("db/forks")
	if err == nil {
		require.Empty(t, names)
	}
	require.Equal(t, "v", get(t, s, "k"))
	f := fork(t, s)
	require.NoError(t, f.Close())
	require.NoError(t, s.Snapshot(t.Context(), "copy"))
	_, err = mem.Stat("db/forks")
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, s.Close())
}
