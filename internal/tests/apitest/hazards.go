package apitest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"runtime/pprof"
	"testing"
	"time"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/store"
)

// Hazards tests what a Go program can do to calls that take functions, loops and contexts: leave a loop early or keep
// it open, panic or call runtime.Goexit in a transaction, end a context, nest transactions. Each hazard has a
// database of its own. It must end in time, leave the database usable, and leave no change of a failed transaction.
// Open returns an empty store, or nil for a new one in memory.
func Hazards(t *testing.T, open func(t *testing.T) store.Store) {
	for _, h := range hazards {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			s := newSubject(t, open(t), t.TempDir())
			var w watch
			var err error
			pprof.Do(t.Context(), pprof.Labels(label, h.name), func(ctx context.Context) {
				err = h.check(ctx, s, &w)
			})
			if w.hung != "" {
				t.Fatalf("%s hangs\n%s", w.hung, labelled()[h.name])
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// manyThings is more than the first page of a loop holds.
const manyThings = 600

// A hazard is a function that misuses a database and returns an error for what it finds wrong. A transaction that
// must be rolled back writes to box h, which must be empty in the end.
type hazard struct {
	name string
	run  func(ctx context.Context, s *subject) error
	// closes is true if run closes the database.
	closes bool
}

// check runs the hazard, then checks that the database can still be used, and closes it.
func (h hazard) check(ctx context.Context, s *subject, w *watch) error {
	err := w.inTime("making the tables", func() error { return s.fill(ctx, manyThings) })
	if err != nil || w.hung != "" {
		return err
	}
	err = w.inTime("it", func() error { return h.run(ctx, s) })
	if w.hung != "" {
		return nil
	}
	if !h.closes {
		err = errors.Join(err, w.inTime("the next calls", func() error {
			return errors.Join(s.use(ctx), s.holds(ctx, "h", 0))
		}))
	}
	err = errors.Join(err, w.inTime("Close", s.db.Close))
	for _, fn := range s.last {
		fn()
	}
	return err
}

// holds returns an error unless a box has exactly n things.
func (s *subject) holds(ctx context.Context, box string, n int) error {
	found := 0
	for _, err := range s.items.Query(ctx, box) {
		if err != nil {
			return err
		}
		found++
	}
	if found != n {
		return fmt.Errorf("box %s holds %d things, want %d", box, found, n)
	}
	return nil
}

func (s *subject) put(ctx context.Context, box string, place int) error {
	return s.items.Put(ctx, thing{Box: box, Place: place, Kind: "red"})
}

// want returns an error unless err is or wraps target.
func want(what string, err, target error) error {
	if errors.Is(err, target) {
		return nil
	}
	return fmt.Errorf("%s returned %v, want %v", what, err, target)
}

// wantError returns an error if err is nil.
func wantError(what string, err error) error {
	if err != nil {
		return nil
	}
	return fmt.Errorf("%s returned no error", what)
}

// A loop runs one of the API's loops, and calls body for each item until body returns false.
type loop struct {
	name string
	run  func(ctx context.Context, s *subject, body func() bool) error
}

var loops = []loop{
	{"Query", func(ctx context.Context, s *subject, body func() bool) error {
		return each(s.items.Query(ctx, "a"), body)
	}},
	{"Scan", func(ctx context.Context, s *subject, body func() bool) error { return each(s.items.Scan(ctx), body) }},
	{"Index.Query", func(ctx context.Context, s *subject, body func() bool) error {
		return each(s.items.Index("ByKind").Query(ctx, "red"), body)
	}},
	{"Index.Scan", func(ctx context.Context, s *subject, body func() bool) error {
		return each(s.items.Index("ByKind").Scan(ctx), body)
	}},
	{"Changes", func(ctx context.Context, s *subject, body func() bool) error {
		return each(s.items.Changes(ctx, ""), body)
	}},
}

func each[T any](seq iter.Seq2[T, error], body func() bool) error {
	for _, err := range seq {
		if err != nil {
			return err
		}
		if !body() {
			return nil
		}
	}
	return nil
}

// everywhere calls fn three times: with a plain context, in an Update and in a View.
func (s *subject) everywhere(ctx context.Context, fn func(ctx context.Context) error) error {
	return errors.Join(fn(ctx), s.transact(ctx, false, fn), s.transact(ctx, true, fn))
}

var errReason = errors.New("apitest: the reason")

// hazards are the hazards that Hazards runs.
var hazards = []hazard{
	{name: "break", run: func(ctx context.Context, s *subject) error {
		return s.everywhere(ctx, func(ctx context.Context) error {
			for _, l := range loops {
				for _, after := range []int{1, 256, 257} {
					n := 0
					if err := l.run(ctx, s, func() bool { n++; return n < after }); err != nil || n != after {
						return fmt.Errorf("%s, left after %d items: %d items, %w", l.name, after, n, err)
					}
				}
			}
			return nil
		})
	}},
	{name: "break of nested loops", run: func(ctx context.Context, s *subject) error {
		return s.everywhere(ctx, func(ctx context.Context) error {
			for _, outer := range loops {
				for _, inner := range loops {
					n := 0
					err := outer.run(ctx, s, func() bool {
						n++
						return inner.run(ctx, s, func() bool { return false }) == nil && n < 3
					})
					if err != nil || n != 3 {
						return fmt.Errorf("%s in %s: %d items, %w", inner.name, outer.name, n, err)
					}
				}
			}
			return nil
		})
	}},
	{name: "break after writes", run: func(ctx context.Context, s *subject) error {
		err := s.transact(ctx, false, func(ctx context.Context) error {
			for _, l := range loops[:4] {
				n := 0
				err := l.run(ctx, s, func() bool {
					n++
					return s.put(ctx, "b", n) == nil && n < 300
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
		return errors.Join(err, s.holds(ctx, "b", 300))
	}},

	{name: "panic", run: func(ctx context.Context, s *subject) error {
		for _, view := range []bool{false, true} {
			for _, body := range bodies {
				recovered := recovering(func() {
					_ = s.transact(ctx, view, func(ctx context.Context) error {
						return body(ctx, s, func() { panic(errReason) })
					})
				})
				if recovered != error(errReason) {
					return fmt.Errorf("the panic became %v", recovered)
				}
			}
		}
		return nil
	}},
	{name: "Goexit", run: func(ctx context.Context, s *subject) error {
		for _, view := range []bool{false, true} {
			for _, body := range bodies {
				gone, returned := make(chan struct{}), false
				go func() {
					defer close(gone)
					_ = s.transact(ctx, view, func(ctx context.Context) error { return body(ctx, s, runtime.Goexit) })
					returned = true
				}()
				<-gone
				if returned {
					return errors.New("the transaction returned after runtime.Goexit")
				}
			}
		}
		return nil
	}},
	{name: "panic in a loop", run: func(ctx context.Context, s *subject) error {
		for _, l := range loops {
			recovered := recovering(func() { _ = l.run(ctx, s, func() bool { panic(errReason) }) })
			if recovered != error(errReason) {
				return fmt.Errorf("%s: the panic became %v", l.name, recovered)
			}
		}
		return nil
	}},

	{name: "cancelled while it waits", run: func(ctx context.Context, s *subject) error {
		waiters := map[string]func(ctx context.Context) error{
			"Update": func(ctx context.Context) error {
				return s.db.Update(ctx, func(ctx context.Context) error { return s.put(ctx, "b", 1) })
			},
			"Put": func(ctx context.Context) error { return s.put(ctx, "b", 2) },
			"DB.Update": func(ctx context.Context) error {
				_, err := s.items.Update(ctx, sortkey.Key{"b", 3}, "SET kind = :k", "red")
				return err
			},
			"Delete":      func(ctx context.Context) error { return s.items.Delete(ctx, "b", 4) },
			"CreateTable": func(ctx context.Context) error { return s.db.CreateTable(ctx, "New", "id") },
			"DeleteTable": func(ctx context.Context) error { return s.db.DeleteTable(ctx, "Other") },
		}
		for name, wait := range waiters {
			ran := false
			err := s.db.Update(ctx, func(tx context.Context) error {
				if err := s.put(tx, "c", 1); err != nil {
					return err
				}
				limited, cancel := context.WithTimeoutCause(ctx, 20*time.Millisecond, errReason)
				defer cancel()
				if ran { // Update has called the function again after a conflict with a change of tables
					return nil
				}
				ran = true
				if err := wait(limited); err != nil { // on some engines the call need not wait, and succeeds
					return want(name, err, errReason)
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	}},
	{name: "cancelled in a loop", run: func(ctx context.Context, s *subject) error {
		for _, l := range loops {
			for _, in := range []string{"", "Update", "View"} {
				limited, cancel := context.WithCancelCause(ctx)
				n := 0
				run := func(ctx context.Context) error {
					return l.run(ctx, s, func() bool {
						if n++; n == 10 {
							cancel(errReason)
						}
						return true
					})
				}
				var err error
				switch in {
				case "":
					err = run(limited)
				default:
					err = s.transact(limited, in == "View", run)
				}
				cancel(nil)
				if err := want(fmt.Sprintf("%s %s after %d items", in, l.name, n), err, errReason); err != nil {
					return err
				}
			}
		}
		return nil
	}},
	{name: "cancelled while it waits for changes", run: func(ctx context.Context, s *subject) error {
		for _, in := range []string{"", "View"} {
			limited, cancel := context.WithCancelCause(ctx)
			n := 0
			run := func(ctx context.Context) error {
				return each(s.items.Changes(ctx, ""), func() bool {
					if n++; n == manyThings {
						time.AfterFunc(100*time.Millisecond, func() { cancel(errReason) })
					}
					return true
				})
			}
			var err error
			switch in {
			case "":
				err = run(limited)
			default:
				err = s.transact(limited, true, run)
			}
			cancel(nil)
			if err := want(in+" Changes", err, errReason); err != nil {
				return err
			}
		}
		return nil
	}},
	{name: "cancelled inside", run: func(ctx context.Context, s *subject) error {
		limited, cancel := context.WithCancelCause(ctx)
		err := s.db.Update(limited, func(ctx context.Context) error {
			err := s.put(ctx, "c", 1)
			cancel(errReason)
			return err
		})
		if err == nil { // an engine may no longer look at a context that ends this late
			return s.holds(ctx, "c", 1)
		}
		return errors.Join(want("Update", err, errReason), s.holds(ctx, "c", 0))
	}},
	{name: "the outer context", run: func(ctx context.Context, s *subject) error {
		err := s.db.Update(ctx, func(tx context.Context) error {
			if err := s.put(tx, "c", 1); err != nil {
				return err
			}
			outer, cancel := context.WithTimeoutCause(ctx, 20*time.Millisecond, errReason)
			defer cancel()
			if err := s.put(outer, "c", 2); err != nil {
				return want("Put", err, errReason)
			}
			return nil
		})
		if err != nil {
			return err
		}
		return s.db.View(ctx, func(tx context.Context) error {
			if err := s.put(ctx, "c", 3); err != nil {
				return err
			}
			_, err := s.items.Get(tx, "c", 3)
			return want("Get", err, sortkey.ErrNotFound)
		})
	}},

	{name: "Close beside open loops", closes: true, run: func(ctx context.Context, s *subject) error {
		proceed := make(chan struct{})
		var running []begun
		var open []chan struct{}
		for _, l := range loops {
			begun := make(chan struct{})
			open = append(open, begun)
			running = append(running, begin(l.name, func() error {
				n := 0
				return l.run(ctx, s, func() bool {
					if n++; n == 10 {
						close(begun)
						<-proceed
					}
					return true
				})
			}))
		}
		for _, begun := range open {
			<-begun
		}
		err := s.db.Close()
		close(proceed)
		for _, b := range running {
			failed := <-b.err
			if b.name == "Changes" || failed != nil {
				err = errors.Join(err, want(b.name, failed, store.ErrClosed))
			}
		}
		return err
	}},
	{name: "Close beside a wait for changes", closes: true, run: func(ctx context.Context, s *subject) error {
		all, n := make(chan struct{}), 0
		waiting := begin("Changes", func() error {
			return each(s.items.Changes(ctx, ""), func() bool {
				if n++; n == manyThings {
					close(all)
				}
				return true
			})
		})
		<-all
		return errors.Join(s.db.Close(), want("Changes", <-waiting.err, store.ErrClosed))
	}},
	{name: "Close beside a View", closes: true, run: func(ctx context.Context, s *subject) error {
		return s.closeBeside(ctx, true)
	}},
	{
		name: "Close beside an Update and those that wait", closes: true,
		run: func(ctx context.Context, s *subject) error { return s.closeBeside(ctx, false) },
	},
	{name: "Close beside iter.Pull", closes: true, run: func(ctx context.Context, s *subject) error {
		next, stop := iter.Pull2(s.items.Query(ctx, "a"))
		defer stop()
		if _, err, ok := next(); err != nil || !ok {
			return fmt.Errorf("the first item: %w, %t", err, ok)
		}
		if err := s.db.Close(); err != nil {
			return err
		}
		var last error
		for range manyThings {
			_, err, ok := next()
			if !ok {
				break
			}
			last = err
		}
		return want("Query", last, store.ErrClosed)
	}},

	{name: "iter.Pull that outlives its transaction", run: func(ctx context.Context, s *subject) error {
		for _, view := range []bool{false, true} {
			var next func() (thing, error, bool)
			var stop func()
			err := s.transact(ctx, view, func(ctx context.Context) error {
				next, stop = iter.Pull2(s.items.Query(ctx, "a"))
				_, err, _ := next()
				return err
			})
			if err != nil {
				return err
			}
			var last error
			for range manyThings {
				_, err, ok := next()
				if !ok {
					break
				}
				last = err
			}
			stop()
			if err := wantError("Query", last); err != nil {
				return err
			}
		}
		return nil
	}},
	{name: "iter.Pull that is not stopped before Close", run: func(ctx context.Context, s *subject) error {
		return s.everywhere(ctx, func(ctx context.Context) error {
			next, stop := iter.Pull2(s.items.Query(ctx, "a"))
			s.last = append(s.last, stop)
			_, err, _ := next()
			return err
		})
	}},
	{name: "a context that outlives its transaction", run: func(ctx context.Context, s *subject) error {
		for _, view := range []bool{false, true} {
			var kept context.Context
			var seq iter.Seq2[thing, error]
			err := s.transact(ctx, view, func(ctx context.Context) error {
				kept, seq = ctx, s.items.Query(ctx, "a")
				return nil
			})
			_, got := s.items.Get(kept, "a", 1)
			err = errors.Join(
				err, wantError("Get", got), wantError("Put", s.put(kept, "h", 1)), wantError("Query", drain(seq)),
				wantError("Update", s.db.Update(kept, func(context.Context) error { return nil })),
				wantError("View", s.db.View(kept, func(context.Context) error { return nil })),
			)
			if err != nil {
				return err
			}
		}
		return nil
	}},

	{name: "View in Update", run: func(ctx context.Context, s *subject) error {
		return s.db.Update(ctx, func(ctx context.Context) error {
			if err := s.put(ctx, "b", 1); err != nil {
				return err
			}
			return s.db.View(ctx, func(ctx context.Context) error { return s.holds(ctx, "b", 1) })
		})
	}},
	{name: "View in View", run: func(ctx context.Context, s *subject) error {
		return s.db.View(ctx, func(tx context.Context) error {
			if err := s.put(ctx, "b", 1); err != nil {
				return err
			}
			return s.db.View(tx, func(tx context.Context) error { return s.holds(tx, "b", 0) })
		})
	}},
	{name: "Update in View", run: func(ctx context.Context, s *subject) error {
		return s.db.View(ctx, func(ctx context.Context) error {
			return wantError("Update", s.db.Update(ctx, func(ctx context.Context) error { return s.put(ctx, "h", 1) }))
		})
	}},
	{name: "Update in Update", run: func(ctx context.Context, s *subject) error {
		err := s.db.Update(ctx, func(ctx context.Context) error {
			if err := s.put(ctx, "b", 1); err != nil {
				return err
			}
			return s.db.Update(ctx, func(ctx context.Context) error {
				return errors.Join(s.holds(ctx, "b", 1), s.put(ctx, "b", 2))
			})
		})
		return errors.Join(err, s.holds(ctx, "b", 2))
	}},
	{name: "Update in Update that fails after a write", run: func(ctx context.Context, s *subject) error {
		return s.undone(ctx, func(ctx context.Context) {
			_ = s.db.Update(ctx, func(ctx context.Context) error {
				return errors.Join(s.put(ctx, "h", 1), errReason)
			})
		})
	}},
	{name: "Update in Update that panics after a write", run: func(ctx context.Context, s *subject) error {
		return s.undone(ctx, func(ctx context.Context) {
			recovering(func() {
				_ = s.db.Update(ctx, func(ctx context.Context) error {
					_ = s.put(ctx, "h", 1)
					panic(errReason)
				})
			})
		})
	}},
}

// bodies are functions for transactions. They write to box h and call end at different places. In a View the writes
// fail.
var bodies = []func(ctx context.Context, s *subject, end func()) error{
	func(ctx context.Context, s *subject, end func()) error {
		_ = s.put(ctx, "h", 1)
		end()
		return nil
	},
	func(ctx context.Context, s *subject, end func()) error { // calls end on the second page
		_ = s.put(ctx, "h", 2)
		n := 0
		return each(s.items.Query(ctx, "a"), func() bool {
			if n++; n == 300 {
				end()
			}
			return true
		})
	},
	func(ctx context.Context, s *subject, end func()) error {
		return s.db.View(ctx, func(ctx context.Context) error {
			end()
			return nil
		})
	},
	func(ctx context.Context, s *subject, end func()) error {
		next, stop := iter.Pull2(s.items.Scan(ctx))
		defer stop()
		next()
		_ = s.put(ctx, "h", 3)
		end()
		return nil
	},
}

// recovering calls fn and returns the value of its panic, or nil.
func recovering(fn func()) (recovered any) {
	defer func() { recovered = recover() }()
	fn()
	return nil
}

// undone runs an Update that first calls inner and then writes to box b. The function inner writes to box h and
// fails. undone returns an error unless one of two things happens: the Update succeeds and keeps the write to box b,
// or it fails with errReason and undoes this write too.
func (s *subject) undone(ctx context.Context, inner func(ctx context.Context)) error {
	outer := s.db.Update(ctx, func(ctx context.Context) error {
		inner(ctx)
		return s.put(ctx, "b", 1)
	})
	if outer == nil {
		return s.holds(ctx, "b", 1)
	}
	return errors.Join(want("the outer Update", outer, errReason), s.holds(ctx, "b", 0))
}

// closeBeside closes the database while a transaction runs. If the transaction is an Update, a Put and another Update
// wait for it at that time.
func (s *subject) closeBeside(ctx context.Context, view bool) error {
	running, proceed := make(chan struct{}), make(chan struct{})
	var all []begun
	all = append(all, begin("the transaction", func() error {
		return s.transact(ctx, view, func(ctx context.Context) error {
			_, err := s.items.Get(ctx, "a", 1)
			select {
			case <-running: // Update has called the function again
			default:
				close(running)
			}
			<-proceed
			_, again := s.items.Get(ctx, "a", 2)
			return errors.Join(err, again)
		})
	}))
	<-running
	if !view {
		all = append(
			all, begin("Put", func() error { return s.put(ctx, "b", 1) }),
			begin("Update", func() error {
				return s.db.Update(ctx, func(ctx context.Context) error { return s.put(ctx, "b", 2) })
			}),
		)
		time.Sleep(20 * time.Millisecond) // let them begin to wait
	}
	closed := begin("Close", s.db.Close)
	time.Sleep(20 * time.Millisecond)
	close(proceed)

	err := <-closed.err
	for _, b := range all {
		if failed := <-b.err; failed != nil {
			err = errors.Join(err, want(b.name, failed, store.ErrClosed))
		}
	}
	return err
}
