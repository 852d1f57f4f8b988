package storetest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/capability"
	"github.com/sortkey/sortkey/store"
)

func testSnapshotIsolation(t *testing.T, s store.Store) {
	rows := fill(t, s, 20, 10)
	view(t, s, func(r store.Reader) {
		n := 0
		for got, err := range r.Scan(1, store.Everything()) {
			require.NoError(t, err)
			require.Equal(t, rows[n], row{string(got.Partition), string(got.Sort), string(got.Value)})
			if n%20 == 0 { // change everything during the walk
				update(t, s, func(w store.Writer) {
					require.NoError(t, w.Clear(1))
					put(t, w, 1, row{"new", fmt.Sprint(n), "v"})
				})
			}
			n++
		}
		require.Equal(t, len(rows), n)
		require.Equal(t, rows, scan(t, r, 1, store.Everything()), "a later read of the same View")
		require.Equal(t, "-", get(t, r, 1, "new", "180"))
		require.Equal(t, rows[0].value, get(t, r, 1, rows[0].partition, rows[0].sort))
	})
	require.Equal(t, []row{{"new", "180", "v"}}, snapshot(t, s))
}

func testViewDoesNotBlockUpdate(t *testing.T, s store.Store) {
	done := make(chan error, 1)
	view(t, s, func(r store.Reader) {
		go func() {
			done <- s.Update(background(), func(w store.Writer) error {
				return w.Put(1, []byte("p"), []byte("k"), []byte("v"))
			})
		}()
		require.NoError(t, <-done) // blocks for ever if the View blocks the Update
		require.Equal(t, "-", get(t, r, 1, "p", "k"))
	})
}

func testChanges(t *testing.T, s store.Store) {
	rows := fill(t, s, 20, 10)
	gone, changed, added := rows[3], rows[77], row{"new", "k", "v"}
	view(t, s, func(before store.Reader) {
		update(t, s, func(w store.Writer) {
			del(t, w, 1, gone.partition, gone.sort)
			put(t, w, 1, row{changed.partition, changed.sort, "other"}, added, rows[5])
			put(t, w, 2, rows[9])
		})
		view(t, s, func(now store.Reader) {
			got := []string{}
			for c, err := range capability.Changes(before, now, 1) {
				require.NoError(t, err)
				for _, r := range []*store.Row{c.Before, c.Now} {
					if r != nil {
						got = append(got, fmt.Sprintf("%q %q %q", r.Partition, r.Sort, r.Value))
						continue
					}
					got = append(got, "none")
				}
			}

			want := []string{}
			for _, r := range ordered([]row{gone, changed, added}) {
				was, is := fmt.Sprintf("%q %q %q", r.partition, r.sort, r.value), "none"
				switch r {
				case changed:
					is = fmt.Sprintf("%q %q %q", r.partition, r.sort, "other")
				case added:
					was, is = is, was
				}
				want = append(want, was, is)
			}

			require.Equal(t, want, got)
		})
	})
}

func testUseAfterReturn(t *testing.T, s store.Store) {
	rows := fill(t, s, 2, 5)
	var r store.Reader
	var w store.Writer
	var held []iter.Seq2[store.Row, error]
	view(t, s, func(got store.Reader) {
		r = got
		held = append(held, r.Scan(1, store.Everything()), r.Query(1, []byte("p1"), store.Range{}, true))
	})
	update(t, s, func(got store.Writer) {
		w = got
		held = append(held, w.Scan(1, store.Everything()), w.Query(1, []byte("p1"), store.Range{}, false))
	})
	for _, reader := range []store.Reader{r, w} {
		_, ok, err := reader.Get(1, []byte("p1"), []byte("001"))
		require.False(t, ok)
		require.ErrorIs(t, err, store.ErrClosed)
		held = append(held, reader.Scan(1, store.Everything()), reader.Query(1, []byte("p1"), store.Range{}, false))
	}

	for _, seq := range held {
		got, err := collect(seq)
		require.ErrorIs(t, err, store.ErrClosed)
		require.Empty(t, got)
	}
	require.ErrorIs(t, w.Put(1, []byte("p"), []byte("k"), nil), store.ErrClosed)
	require.ErrorIs(t, w.Delete(1, []byte("p1"), []byte("001")), store.ErrClosed)
	require.ErrorIs(t, w.Clear(1), store.ErrClosed)
	require.Equal(t, rows, snapshot(t, s))
}

func testClose(t *testing.T, s store.Store) {
	fill(t, s, 2, 2)
	require.NoError(t, s.Close())
	require.NoError(t, s.Close(), "closing again does nothing")
	unreached := func() error { return errors.New("storetest: called on a closed store") }
	require.ErrorIs(t, s.View(t.Context(), func(store.Reader) error { return unreached() }), store.ErrClosed)
	require.ErrorIs(t, s.Update(t.Context(), func(store.Writer) error { return unreached() }), store.ErrClosed)
}

func testContext(t *testing.T, s store.Store) {
	fill(t, s, 1, 1)
	why := errors.New("storetest: the reason")
	ctx, cancel := context.WithCancelCause(t.Context())
	err := s.Update(ctx, func(w store.Writer) error {
		put(t, w, 1, row{"p", "k", "v"})
		cancel(why)
		_, err := collect(w.Scan(1, store.Everything()))
		return err
	})
	require.ErrorIs(t, err, why, "a walk begun after the context ended")
	called := false
	require.ErrorIs(t, s.View(ctx, func(store.Reader) error { called = true; return nil }), why)
	require.ErrorIs(t, s.Update(ctx, func(store.Writer) error { called = true; return nil }), why)
	require.False(t, called)
	require.Len(t, snapshot(t, s), 1)
}

func testContextWhileWalking(t *testing.T, s store.Store) {
	const rows = 3 * capability.ContextRows
	update(t, s, func(w store.Writer) {
		for i := range rows {
			require.NoError(t, w.Put(1, []byte("p"), binary.BigEndian.AppendUint32(nil, uint32(i)), nil))
		}
	})
	walks := map[string]func(store.Reader) iter.Seq2[store.Row, error]{
		"forward": func(r store.Reader) iter.Seq2[store.Row, error] {
			return r.Query(1, []byte("p"), store.Range{}, false)
		},
		"reverse": func(r store.Reader) iter.Seq2[store.Row, error] {
			return r.Query(1, []byte("p"), store.Range{}, true)
		},
		"scan": func(r store.Reader) iter.Seq2[store.Row, error] { return r.Scan(1, store.Everything()) },
	}

	for name, walk := range walks {
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		err := s.View(ctx, func(r store.Reader) error {
			for _, err := range walk(r) {
				if err != nil {
					return err
				}
				if n++; n == 10 {
					cancel()
				}
			}
			return nil
		})
		require.ErrorIs(t, err, context.Canceled, name)
		require.LessOrEqual(
			t, n, 10+capability.ContextRows, "%s: the context is checked every %d rows", name, capability.ContextRows,
		)
	}
}

// testContextWhileWaiting ends the contexts of Updates that wait while another Update runs. The waiting Updates must
// return before the running one does. They must return the cause and change nothing; or, if the engine runs Updates
// at the same time, they may have been applied.
func testContextWhileWaiting(t *testing.T, s store.Store) {
	const waiting, timeout = 4, time.Minute
	row := func(i int) []byte { return fmt.Append(nil, i) }
	running, proceed, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	entered, release := sync.OnceFunc(func() { close(running) }), sync.OnceFunc(func() { close(proceed) })
	defer release()
	go func() {
		done <- s.Update(t.Context(), func(w store.Writer) error {
			if _, _, err := w.Get(1, []byte("p"), row(waiting)); err != nil {
				return err
			}
			entered()
			<-proceed
			return w.Put(1, []byte("p"), row(waiting), nil)
		})
	}()
	<-running

	why := errors.New("storetest: the reason")
	ended := make(chan error, waiting)
	for i := range waiting {
		go func() {
			ctx, cancel := context.WithTimeoutCause(t.Context(), 20*time.Millisecond, why)
			defer cancel()
			ended <- s.Update(ctx, func(w store.Writer) error {
				if _, _, err := w.Get(1, []byte("p"), row(waiting)); err != nil {
					return err
				}
				return w.Put(1, []byte("p"), row(i), nil)
			})
		}()
	}
	applied := 1
	for range waiting {
		select {
		case err := <-ended:
			if err == nil {
				applied++
				continue
			}
			require.ErrorIs(t, err, why)
		case <-time.After(timeout):
			require.Fail(t, "an Update waits for another one although its context has ended")
		}
	}
	release()
	require.NoError(t, <-done)
	require.Len(t, snapshot(t, s), applied)
	update(t, s, func(w store.Writer) { require.NoError(t, w.Clear(1)) }) // it works, so the write lock is free
}

// testSerialisable runs goroutines that move amounts between counters. No
// addition may be lost, and every reader must find the same sum.
func testSerialisable(t *testing.T, s store.Store) {
	const workers, moves, accounts, total = 4, 60, 5, 1000
	name := func(i int) []byte { return fmt.Appendf(nil, "account%d", i) }
	update(t, s, func(w store.Writer) {
		for i := range accounts {
			require.NoError(t, w.Put(1, name(i), nil, binary.BigEndian.AppendUint64(nil, total)))
		}
	})
	balance := func(r store.Reader, i int) (uint64, error) {
		v, ok, err := r.Get(1, name(i), nil)
		if err == nil && !ok {
			err = errors.New("storetest: missing account")
		}
		if err != nil {
			return 0, err
		}
		return binary.BigEndian.Uint64(v), nil
	}

	var wg sync.WaitGroup
	for worker := range workers {
		wg.Go(func() {
			for i := range moves {
				from, to := (worker+i)%accounts, (worker+2*i+1)%accounts
				err := s.Update(background(), func(w store.Writer) error {
					for _, change := range []struct {
						who int
						by  uint64
					}{{from, ^uint64(0)}, {to, 1}} { // minus one, plus one
						n, err := balance(w, change.who)
						if err != nil {
							return err
						}
						if err := w.Put(
							1, name(change.who), nil, binary.BigEndian.AppendUint64(nil, n+change.by),
						); err != nil {
							return err
						}
					}

					if i%7 == 0 {
						return errStop
					}
					n, err := balance(w, accounts-1)
					if err != nil {
						return err
					}
					return w.Put(2, name(worker), fmt.Append(nil, i), binary.BigEndian.AppendUint64(nil, n))
				})
				if err != nil && !errors.Is(err, errStop) {
					t.Errorf("Update: %v", err)
				}
			}
		})
		wg.Go(func() {
			for range moves {
				err := s.View(background(), func(r store.Reader) error {
					var sum uint64
					for row, err := range r.Scan(1, store.Everything()) {
						if err != nil {
							return err
						}
						sum += binary.BigEndian.Uint64(row.Value)
					}
					if sum != accounts*total {
						t.Errorf("sum = %d, want %d", sum, accounts*total)
					}
					return nil
				})
				if err != nil {
					t.Errorf("View: %v", err)
				}
			}
		})
	}

	wg.Wait()
	view(t, s, func(r store.Reader) {
		require.Len(
			t, scan(t, r, 2, store.Everything()), workers*(moves-(moves+6)/7), "one row for each successful update",
		)
	})
}

// testConcurrentReads shares one View between goroutines.
func testConcurrentReads(t *testing.T, s store.Store) {
	rows := fill(t, s, 8, 50)
	view(t, s, func(r store.Reader) {
		var wg sync.WaitGroup
		for i := range uint32(4) {
			wg.Go(func() {
				n := 0
				for _, err := range r.Scan(1, store.Everything()) {
					if err != nil {
						t.Errorf("Scan: %v", err)
					}
					n++
				}
				if n != len(rows) {
					t.Errorf("Scan yields %d rows, want %d", n, len(rows))
				}
				if _, ok, err := r.Get(1, []byte("p1"), fmt.Appendf(nil, "%03d", i)); !ok || err != nil {
					t.Errorf("Get = %t, %v", ok, err)
				}
			})
		}
		wg.Wait()
	})
}

// testHealth asks for the health of a store while an Update and a View are under way, and
// after Close.
func testHealth(t *testing.T, s store.Store) {
	require.NoError(t, capability.Health(t.Context(), s))
	running, proceed, done := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		done <- s.Update(t.Context(), func(w store.Writer) error {
			if _, _, err := w.Get(1, []byte("a"), nil); err != nil {
				return err
			}
			close(running)
			<-proceed
			return w.Put(1, []byte("a"), nil, nil)
		})
	}()
	<-running
	require.NoError(t, s.View(t.Context(), func(store.Reader) error { return capability.Health(t.Context(), s) }))
	close(proceed)
	require.NoError(t, <-done)
	require.NoError(t, s.Close())
	require.ErrorIs(t, capability.Health(t.Context(), s), store.ErrClosed)
}
