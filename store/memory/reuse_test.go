package memory_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/memory"
)

// heap returns the bytes of objects in the heap that are in use.
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

// onlyOne returns the value that all rows have. It returns an error if their values differ.
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

// TestNodesAreReusedBehindReaders writes all rows again and again while Views of all ages run, some of them slow.
// Meanwhile it also forks the store and writes to the forks.
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

// TestViewOfFirstVersion checks that while a View reads the first version of a store or of a fork, Updates do not
// reuse the nodes that Views of later versions read.
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

// TestReadThatOutlivesItsUpdate pauses a loop of an Update inside a leaf and at the end of one, and continues it
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

// TestReadBesideOthers continues a loop of a View or an Update that has ended, in another goroutine and while other
// goroutines write.
func TestReadBesideOthers(t *testing.T) {
	const rows = 120
	for stop := 1; stop < rows; stop += 7 {
		for _, updates := range []bool{false, true} {
			s := memory.Open()
			require.NoError(t, writeAll(s, rows, "old"))
			begun, goOn, result := make(chan struct{}), make(chan struct{}), make(chan error, 1)
			read := func(r store.Reader) error {
				go func() {
					_, err := onlyOne(r, rows, func(row int) {
						if row == stop {
							close(begun)
							<-goOn
						}
					})
					result <- err
				}()
				<-begun
				return nil
			}
			if updates {
				require.NoError(t, s.Update(t.Context(), func(w store.Writer) error { return read(w) }))
			} else {
				require.NoError(t, s.View(t.Context(), read))
			}
			for i := range 8 {
				if i == 4 {
					close(goOn)
				}
				require.NoError(t, writeAll(s, rows, fmt.Sprint("new ", i)))
			}
			require.ErrorIs(t, <-result, store.ErrClosed)
		}
	}
}

// TestGarbageOfPuts checks that Updates of long values and of short ones, as of an item and its index entry, leave
// little to the garbage collector: copies of leaves reuse the memory for values that lie outside of their pages.
func TestGarbageOfPuts(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector, which runs with -short, allocates memory too")
	}
	s := memory.Open()
	put := func(round int) {
		err := s.Update(t.Context(), func(w store.Writer) error {
			sort := fmt.Appendf(nil, "%05d", round%500)
			return errors.Join(
				w.Put(1, []byte("p"), sort, make([]byte, 200)), w.Put(2, []byte("p"), sort, []byte("short")),
			)
		})
		require.NoError(t, err)
	}
	for i := range 1000 {
		put(i)
	}

	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const rounds = 1000
	for i := range rounds {
		put(i)
	}
	runtime.ReadMemStats(&after)
	require.Less(t, (after.TotalAlloc-before.TotalAlloc)/rounds, uint64(1500))
}

// TestLongView puts one item again and again while a View runs. The heap must keep what the View can read and no
// more, and free that as soon as the View ends.
func TestLongView(t *testing.T) {
	const puts, slack = 400, 2 << 20
	for _, size := range []int{100, 100_000, 400_000} {
		s := memory.Open()
		put := func(i int) {
			value := make([]byte, size)
			value[0] = byte(i)
			require.NoError(t, s.Update(context.Background(), func(w store.Writer) error {
				return w.Put(1, []byte("p"), []byte("k"), value)
			}))
		}
		put(0)
		require.NoError(t, s.View(t.Context(), func(r store.Reader) error {
			before := heap()
			for i := range puts {
				put(i)
			}
			require.Less(t, heap(), before+uint64(size)+slack, "beside a View, items of %d bytes", size)
			value, _, err := r.Get(1, []byte("p"), []byte("k"))
			require.Zero(t, value[0])
			return err
		}))
		runtime.KeepAlive(s)
	}

	s := memory.Open()
	fill := func(rows int) {
		require.NoError(t, s.Update(context.Background(), func(w store.Writer) error {
			require.NoError(t, w.Clear(1))
			for i := range rows {
				require.NoError(t, w.Put(1, []byte("p"), fmt.Append(nil, i), make([]byte, 10_000)))
			}
			return nil
		}))
	}
	fill(1000)
	full := heap()
	require.NoError(t, s.View(t.Context(), func(store.Reader) error {
		fill(0)
		require.Greater(t, heap(), full-slack)
		return nil
	}))
	require.Less(t, heap(), full-5<<20, "after the View, without another Update")
	runtime.KeepAlive(s)
}

// TestChainOfViews checks that each of several Views that overlap sees its own version, while Views before and after
// it begin and end.
func TestChainOfViews(t *testing.T) {
	const rows, rounds, views = 120, 300, 6
	s := memory.Open()
	rng := rand.New(rand.NewPCG(3, 5))
	require.NoError(t, writeAll(s, rows, "start"))
	type held struct {
		want   string
		again  chan chan error
		result chan error
	}
	begin := func(want string) held {
		h := held{want: want, again: make(chan chan error), result: make(chan error, 1)}
		begun := make(chan struct{})
		go func() {
			h.result <- s.View(context.Background(), func(r store.Reader) error {
				close(begun)
				for answer := range h.again {
					got, err := onlyOne(r, rows, func(int) {})
					if err == nil && got != h.want {
						err = fmt.Errorf("a View of %q sees %q", h.want, got)
					}
					answer <- err
				}
				return nil
			})
		}()
		<-begun
		return h
	}
	var open []held
	now := "start"
	for i := range rounds {
		switch n := rng.IntN(3); {
		case n == 0 && len(open) < views:
			open = append(open, begin(now))
		case n == 1 && len(open) > 0:
			at := rng.IntN(len(open))
			close(open[at].again)
			require.NoError(t, <-open[at].result)
			open = slices.Delete(open, at, at+1)
		default:
			now = fmt.Sprint("version ", i)
			require.NoError(t, writeAll(s, rows, now))
		}
		for _, h := range open {
			answer := make(chan error)
			h.again <- answer
			require.NoError(t, <-answer)
		}
	}
	for _, h := range open {
		close(h.again)
		require.NoError(t, <-h.result)
	}
}

// TestLock checks that Updates get the write lock one at a time, in the order in which they asked, and that the wait
// ends with the context and with Close.
func TestLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.Open()
		release := make(chan struct{})
		result := make(chan error, 10)
		update := func(ctx context.Context, fn func()) {
			go func() {
				result <- s.Update(ctx, func(store.Writer) error {
					fn()
					return nil
				})
			}()
			synctest.Wait()
		}
		var order []int
		update(t.Context(), func() { <-release })
		cancelled, cancel := context.WithCancelCause(t.Context())
		for i := range 3 {
			update(t.Context(), func() { order = append(order, i) })
			update(cancelled, func() { order = append(order, -1) })
		}
		stop := errors.New("enough")
		cancel(stop)
		for range 3 {
			require.ErrorIs(t, <-result, stop)
		}
		close(release)
		for range 4 {
			require.NoError(t, <-result)
		}
		require.Equal(t, []int{0, 1, 2}, order)

		release = make(chan struct{})
		update(t.Context(), func() { <-release })
		update(t.Context(), func() { t.Error("an Update ran in a closed store") })
		require.NoError(t, s.Close())
		require.ErrorIs(t, <-result, store.ErrClosed) // while the other one still runs
		close(release)
		require.NoError(t, <-result) // it has changed nothing
	})
}
