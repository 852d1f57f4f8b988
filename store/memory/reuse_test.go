package memory_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/memory"
)

// writeAll gives every row the same value, in one Update.
func writeAll(s store.Store, rows int, value string) error {
	return s.Update(context.Background(), func(w store.Writer) error {
		for i := range rows {
			if err := w.Put(1, []byte("p"), fmt.Appendf(nil, "%05d", i), []byte(value)); err != nil {
				return err
			}
		}
		return nil
	})
}

// onlyOne returns the one value that all rows have; different values are an
// error.
func onlyOne(r store.Reader, rows int, pause func(row int)) (string, error) {
	first, n := "", 0
	for row, err := range r.Scan(1, store.Everything()) {
		if err != nil {
			return "", err
		}
		pause(n)
		if n == 0 {
			first = string(row.Value)
		} else if string(row.Value) != first || string(row.Sort) != fmt.Sprintf("%05d", n) {
			return "", fmt.Errorf("row %d is %q at %q in a version of %q", n, row.Value, row.Sort, first)
		}
		n++
	}
	if n != rows {
		return "", fmt.Errorf("%d rows, want %d", n, rows)
	}
	return first, nil
}

// TestNodesAreReusedBehindReaders writes all rows again and again during Views
// of all ages, some of them slow, and takes and writes to forks meanwhile.
func TestNodesAreReusedBehindReaders(t *testing.T) {
	const rows, rounds = 250, 80
	s := memory.Open()
	require.NoError(t, writeAll(s, rows, "start"))
	var wg sync.WaitGroup
	done := make(chan struct{})
	for reader := range 3 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(reader), 7))
			for {
				select {
				case <-done:
					return
				default:
				}
				err := s.View(context.Background(), func(r store.Reader) error {
					slow := rng.IntN(rows)
					first, err := onlyOne(r, rows, func(row int) {
						if row == slow && reader == 0 {
							_ = writeAll(s, rows, fmt.Sprint("by a reader ", slow))
						}
					})
					if err != nil {
						return err
					}
					again, err := onlyOne(r, rows, func(int) {})
					if err == nil && again != first {
						err = fmt.Errorf("a View saw %q and then %q", first, again)
					}
					return err
				})
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	var forks []store.Forker
	for i := range rounds {
		if err := writeAll(s, rows, fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
		if i%20 == 0 {
			f := fork(t, s)
			forks = append(forks, f)
			if i%40 == 0 {
				require.NoError(t, writeAll(f, rows, fmt.Sprint("fork ", i)))
			}
		}
	}
	close(done)
	wg.Wait()
	for i, f := range forks {
		require.NoError(t, f.View(t.Context(), func(r store.Reader) error {
			value, err := onlyOne(r, rows, func(int) {})
			if want := fmt.Sprint("fork ", i*20); i%2 == 0 && value != want {
				t.Errorf("a fork has %q, want %q", value, want)
			}
			return err
		}))
	}
}

// TestFailedUpdateLeavesNodes checks that the store keeps the nodes that an
// Update read and copied before it failed or panicked.
func TestFailedUpdateLeavesNodes(t *testing.T) {
	const rows = 300
	s := memory.Open()
	require.NoError(t, writeAll(s, rows, "good"))
	stop := errors.New("no more")
	for i := range 50 {
		err := s.Update(t.Context(), func(w store.Writer) error {
			for j := range rows {
				if err := w.Put(1, []byte("p"), fmt.Appendf(nil, "%05d", j), []byte("bad")); err != nil {
					return err
				}
			}
			return stop
		})
		require.ErrorIs(t, err, stop)
		require.Panics(t, func() {
			_ = s.Update(t.Context(), func(w store.Writer) error {
				_ = w.Delete(1, []byte("p"), fmt.Appendf(nil, "%05d", i))
				panic("on purpose")
			})
		})
		set(t, s, "elsewhere", fmt.Sprint(i), "x") // uses any free nodes
		require.NoError(t, s.Update(t.Context(), func(w store.Writer) error {
			return w.Delete(1, []byte("elsewhere"), fmt.Append(nil, i))
		}))
		require.NoError(t, s.View(t.Context(), func(r store.Reader) error {
			value, err := onlyOne(r, rows, func(int) {})
			require.Equal(t, "good", value)
			return err
		}))
	}
}

// TestReadThatOutlivesItsView checks that a loop that still runs in another
// goroutine when the View returns ends with an error and sees no row of a later
// version.
func TestReadThatOutlivesItsView(t *testing.T) {
	const rows = 300
	s := memory.Open()
	require.NoError(t, writeAll(s, rows, "old"))
	begun, ended, result := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	require.NoError(t, s.View(t.Context(), func(r store.Reader) error {
		go func() {
			_, err := onlyOne(r, rows, func(row int) {
				if row == 10 {
					close(begun)
					<-ended
				}
			})
			result <- err
		}()
		<-begun
		return nil
	}))
	for i := range 10 {
		require.NoError(t, writeAll(s, rows, fmt.Sprint("new ", i)))
	}
	close(ended)
	require.ErrorIs(t, <-result, store.ErrClosed)
}

// TestVersionsOfShortViewsAreFreed checks that during one long View, the
// versions read by short Views become garbage.
func TestVersionsOfShortViewsAreFreed(t *testing.T) {
	const rows, updates, most = 5000, 20_000, 24 << 20
	s := memory.Open()
	require.NoError(t, writeAll(s, rows, "start"))
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	short := func(i int) error {
		return s.View(context.Background(), func(store.Reader) error {
			return s.Update(context.Background(), func(w store.Writer) error {
				return w.Put(1, []byte("p"), fmt.Appendf(nil, "%05d", i%rows), []byte("later"))
			})
		})
	}
	require.NoError(t, s.View(t.Context(), func(store.Reader) error {
		before := heap()
		for i := range updates {
			if err := short(i); err != nil {
				return err
			}
		}
		if after := heap(); after > before+most {
			t.Errorf("%d updates leave %d bytes of garbage, want at most %d", updates, after-before, most)
		}
		runtime.KeepAlive(s)
		return nil
	}))
}

// TestPutAllocates limits the allocations of a put: the row, the version and
// their bookkeeping, but no nodes.
func TestPutAllocates(t *testing.T) {
	s := memory.Open()
	require.NoError(t, writeAll(s, 5000, "start"))
	p, k, v := []byte("p"), []byte("02500"), []byte("value")
	n := testing.AllocsPerRun(200, func() {
		if err := s.Update(context.Background(), func(w store.Writer) error { return w.Put(1, p, k, v) }); err != nil {
			t.Error(err)
		}
	})
	if n > 5 {
		t.Errorf("a put allocates %v times, want at most 5", n)
	}
}
