package memory_test

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/memory"
	"github.com/sortkey/sortkey/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestStore(t *testing.T) {
	storetest.Run(t, func(*testing.T) store.Store { return memory.Open() })
}

// TestForkedStore runs the suite on a fork that shares an emptied tree.
func TestForkedStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store {
		s := memory.Open()
		set(t, s, "p", "k", "v")
		f := fork(t, s)
		require.NoError(t, f.Update(t.Context(), func(w store.Writer) error { return w.Clear(1) }))
		return f
	})
}

func TestForkIsolation(t *testing.T) {
	a := memory.Open()
	for i := range 500 {
		set(t, a, "p", fmt.Sprintf("%03d", i), "a")
	}
	b := fork(t, a)
	c := fork(t, b)
	set(t, a, "p", "250", "a2")
	set(t, b, "p", "250", "b2")
	set(t, b, "p", "new", "b2")
	require.NoError(t, c.Update(t.Context(), func(w store.Writer) error { return w.Clear(1) }))
	require.Equal(t, "a2", value(t, a, "p", "250"))
	require.Equal(t, "b2", value(t, b, "p", "250"))
	require.Equal(t, []int{500, 501, 0}, []int{length(a), length(b), length(c)})
	require.NoError(t, a.Close())
	require.Equal(t, "a", value(t, b, "p", "499"), "a fork outlives its origin")
	_, err := a.Fork()
	require.ErrorIs(t, err, store.ErrClosed)
}

func TestForkInsideUpdate(t *testing.T) {
	s := memory.Open()
	set(t, s, "p", "k", "old")
	var f store.Forker
	require.NoError(t, s.Update(t.Context(), func(w store.Writer) error {
		if err := w.Put(1, []byte("p"), []byte("k"), []byte("new")); err != nil {
			return err
		}
		f = fork(t, s)
		return w.Put(1, []byte("p"), []byte("l"), []byte("new"))
	}))
	require.Equal(t, "old", value(t, f, "p", "k"))
	require.Equal(t, 1, length(f))
	require.Equal(t, 2, length(s))
}

// TestForkWhileWriting forks a store during writes and reads, and writes to the
// forks.
func TestForkWhileWriting(t *testing.T) {
	s := memory.Open()
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			for i := range 200 {
				err := s.Update(context.Background(), func(w store.Writer) error {
					for _, p := range []string{"a", "b"} {
						if err := w.Put(1, []byte(p), fmt.Appendf(nil, "%d/%d", worker, i), []byte("v")); err != nil {
							return err
						}
					}
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
		wg.Go(func() {
			for i := range 100 {
				f := fork(t, s)
				n := length(f)
				if n%2 != 0 {
					t.Errorf("a fork has half an update: %d rows", n)
				}
				err := f.Update(context.Background(), func(w store.Writer) error {
					return w.Put(1, []byte("fork"), fmt.Append(nil, i), nil)
				})
				if err != nil || length(f) != n+1 {
					t.Errorf("Update of a fork: %v, %d rows, want %d", err, length(f), n+1)
				}
			}
		})
	}
	wg.Wait()
	require.Equal(t, 4*200*2, length(s))
}

func TestCloseDuringUpdate(t *testing.T) {
	s := memory.Open()
	err := s.Update(t.Context(), func(w store.Writer) error {
		require.NoError(t, s.Close())
		return w.Put(1, []byte("p"), []byte("k"), nil)
	})
	require.ErrorIs(t, err, store.ErrClosed)
	require.Zero(t, length(s))
}

// TestLargeValuesAreShared checks that rows share one copy of a value that is too long for a page.
func TestLargeValuesAreShared(t *testing.T) {
	s, v := memory.Open(), bytes.Repeat([]byte("shared"), 100)
	require.NoError(t, s.Update(t.Context(), func(w store.Writer) error {
		if err := w.Put(1, []byte("p"), []byte("k"), v); err != nil {
			return err
		}
		return w.Put(2, []byte("p"), []byte("k"), v)
	}))
	require.NoError(t, s.View(t.Context(), func(r store.Reader) error {
		for space := store.Space(1); space <= 2; space++ {
			got, _, err := r.Get(space, []byte("p"), []byte("k"))
			require.NoError(t, err)
			require.Same(t, &v[0], &got[0])
		}
		return nil
	}))
}

func set(t *testing.T, s store.Store, partition, sort, v string) {
	t.Helper()
	require.NoError(t, s.Update(t.Context(), func(w store.Writer) error {
		return w.Put(1, []byte(partition), []byte(sort), []byte(v))
	}))
}

func value(t *testing.T, s store.Store, partition, sort string) (v string) {
	t.Helper()
	require.NoError(t, s.View(t.Context(), func(r store.Reader) error {
		got, _, err := r.Get(1, []byte(partition), []byte(sort))
		v = string(got)
		return err
	}))
	return v
}

func fork(t testing.TB, s store.Forker) store.Forker {
	t.Helper()
	f, err := s.Fork()
	require.NoError(t, err)
	return f.(store.Forker)
}

// length returns the number of rows of a store in memory, in all spaces.
func length(s store.Store) int { return s.(interface{ Len() int }).Len() }
