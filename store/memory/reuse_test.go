package memory_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/memory"
)

// heap is the bytes of objects that are in use.
func heap() uint64 {
	runtime.GC()
	runtime.GC() // pools
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

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

// TestViewOfFirstVersion: while a View reads the first version of a store or of a fork, the nodes that Views of later
// versions read are not used again.
func TestViewOfFirstVersion(t *testing.T) {
	const rows = 250
	origin := memory.Open()
	require.NoError(t, writeAll(origin, rows, "origin"))
	for name, s := range map[string]store.Store{"new": memory.Open(), "fork": fork(t, origin)} {
		require.NoError(t, s.View(t.Context(), func(store.Reader) error {
			require.NoError(t, writeAll(s, rows, "one"))
			return s.View(t.Context(), func(r store.Reader) error {
				for i := range 5 {
					require.NoError(t, writeAll(s, rows, fmt.Sprint("later ", i)))
					value, err := onlyOne(r, rows, func(int) {})
					require.NoError(t, err, name)
					require.Equal(t, "one", value, name)
				}
				return nil
			})
		}), name)
	}
}

// TestReadThatOutlivesItsUpdate pauses a loop of an Update inside a leaf and at the end of one, and goes on with it
// after later Updates.
func TestReadThatOutlivesItsUpdate(t *testing.T) {
	const rows = 300
	for _, reverse := range []bool{false, true} {
		for stop := 50; stop < 60; stop++ {
			s := memory.Open()
			require.NoError(t, writeAll(s, rows, "old"))
			require.NoError(t, writeAll(s, rows, "older"))
			var next func() (store.Row, error, bool)
			var end func()
			require.NoError(t, s.Update(t.Context(), func(w store.Writer) error {
				next, end = iter.Pull2(w.Query(1, []byte("p"), store.Range{}, reverse))
				for range stop {
					if _, err, ok := next(); err != nil || !ok {
						return fmt.Errorf("%w, %v", err, ok)
					}
				}
				return nil
			}))
			for i := range 5 {
				require.NoError(t, writeAll(s, rows, fmt.Sprint("new ", i)))
			}
			_, err, _ := next()
			require.ErrorIs(t, err, store.ErrClosed, "reverse %v, after %d rows", reverse, stop)
			end()
		}
	}
}

// TestReadBesideItsUpdate is the same in another goroutine, which goes on while others write.
func TestReadBesideItsUpdate(t *testing.T) {
	const rows = 120
	for stop := 1; stop < rows; stop += 7 {
		s := memory.Open()
		require.NoError(t, writeAll(s, rows, "old"))
		begun, goOn, result := make(chan struct{}), make(chan struct{}), make(chan error, 1)
		require.NoError(t, s.Update(t.Context(), func(w store.Writer) error {
			go func() {
				_, err := onlyOne(w, rows, func(row int) {
					if row == stop {
						close(begun)
						<-goOn
					}
				})
				result <- err
			}()
			<-begun
			return nil
		}))
		close(goOn)
		for i := range 4 {
			require.NoError(t, writeAll(s, rows, fmt.Sprint("new ", i)))
		}
		require.ErrorIs(t, <-result, store.ErrClosed)
	}
}

// TestIdleGroups: the memory that Updates of all groups keep for a View is bounded, and free once it has ended and
// one group is written.
func TestIdleGroups(t *testing.T) {
	const updates, most = 40_000, 12 << 20
	s := memory.Open()
	put := func(space store.Space, i int) {
		require.NoError(t, s.Update(context.Background(), func(w store.Writer) error {
			return w.Put(space, []byte("p"), fmt.Appendf(nil, "%05d", i), make([]byte, 1000))
		}))
	}
	for i := range 100 * store.Groups {
		put(store.Space(i%store.Groups), i/store.Groups)
	}

	before := heap()
	require.NoError(t, s.View(t.Context(), func(store.Reader) error {
		for i := range updates {
			put(store.Space(i%store.Groups), i/store.Groups%100)
			require.NoError(t, s.Update(context.Background(), func(w store.Writer) error {
				return w.Clear(store.Groups) // of nothing
			}))
		}
		require.Less(t, heap(), before+most)
		return nil
	}))
	for i := range 10 {
		put(1, i)
	}
	require.Less(t, heap(), before+most/4)
	runtime.KeepAlive(s)
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
