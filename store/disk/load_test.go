package disk_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/address"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/disk"
)

// load loads one row.
func load(s *disk.Store, key, value string) error {
	return s.Load(context.Background(), func(l store.Loading) error {
		return l.Add(func(yield func(addr, value []byte) bool) {
			yield(address.Append(nil, 1, []byte(key), nil), []byte(value))
		})
	})
}

func valueOf(t *testing.T, s *disk.Store, key string) (value string) {
	t.Helper()
	require.NoError(t, s.View(t.Context(), func(r store.Reader) error {
		v, _, err := r.Get(1, []byte(key), nil)
		value = string(v)
		return err
	}))
	return value
}

// TestLoadAfterInterval checks that a Load does not become durable before the updates that came before it, which with
// an interval are durable only later. If a crash keeps the Load, it must keep these updates.
func TestLoadAfterInterval(t *testing.T) {
	t.Parallel()
	fs := newCrashFS()
	s := open(t, "db", disk.Options{SyncEvery: time.Hour}.On(fs))
	require.NoError(t, s.Update(t.Context(), func(w store.Writer) error {
		return w.Put(1, []byte("before"), nil, []byte("1"))
	}))
	require.NoError(t, load(s, "loaded", "2"))
	after := fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 0, RNG: rand.New(rand.NewPCG(1, 1))})
	require.NoError(t, s.Close())
	s = open(t, "db", disk.Options{}.On(after))
	require.Equal(t, "2", valueOf(t, s, "loaded"))
	require.Equal(t, "1", valueOf(t, s, "before"))
	require.NoError(t, s.Close())
}

// TestLoadRefused fills the disk while the files of a Load are written. Only that Load may fail, and it must leave
// nothing behind. The test also checks that wrong runs are refused.
func TestLoadRefused(t *testing.T) {
	t.Parallel()
	var full atomic.Bool
	mem := vfs.NewMem()
	s := open(t, "db", disk.Options{}.On(errorfs.Wrap(mem, errorfs.InjectorFunc(func(o errorfs.Op) error {
		if full.Load() && strings.Contains(o.Path, "forks") && o.Kind.ReadOrWrite() == errorfs.OpIsWrite && o.Kind != errorfs.OpRemove {
			return syscall.ENOSPC
		}
		return nil
	}))))
	require.NoError(t, load(s, "a", "1"))
	full.Store(true)
	require.ErrorIs(t, load(s, "a", "2"), syscall.ENOSPC)
	full.Store(false)
	require.Equal(t, "1", valueOf(t, s, "a"))

	rows := func(keys ...string) error {
		return s.Load(t.Context(), func(l store.Loading) error {
			return l.Add(func(yield func(addr, value []byte) bool) {
				for _, key := range keys {
					if !yield(address.Append(nil, 1, nil, []byte(key)), []byte("x")) {
						return
					}
				}
			})
		})
	}
	require.ErrorContains(t, rows("b", "a"), "order")
	require.ErrorContains(t, rows("a", "a"), "order")
	require.ErrorIs(t, rows(strings.Repeat("k", 2<<20)), disk.ErrTooLarge)
	err := s.Load(t.Context(), func(l store.Loading) error { // runs that overlap
		for _, keys := range [][]string{{"a", "c"}, {"b"}} {
			err := l.Add(func(yield func(addr, value []byte) bool) {
				for _, key := range keys {
					yield(address.Append(nil, 1, nil, []byte(key)), []byte("x"))
				}
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	require.ErrorContains(t, err, "overlap")
	require.NoError(t, load(s, "a", "3"))
	require.Equal(t, "3", valueOf(t, s, "a"))
	names, err := mem.List("db/forks")
	require.True(t, err != nil || len(names) == 0, "%v", names)
	require.NoError(t, s.Close())

	s = open(t, "db", disk.Options{ReadOnly: true}.On(mem))
	require.True(t, errors.Is(load(s, "a", "4"), disk.ErrReadOnly))
	require.Equal(t, "3", valueOf(t, s, "a"))
	require.NoError(t, s.Close())
}
