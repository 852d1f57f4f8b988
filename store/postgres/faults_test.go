package postgres_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/tests/pgtest"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/postgres"
)

// The ledger is a counter, and a row for each update that has incremented it. If an update is applied twice or only
// in part, the two differ.
const (
	counterSpace store.Space = 1
	entrySpace   store.Space = 2
)

// enter increments the counter and adds the row of an update, which must not exist.
func enter(ctx context.Context, s store.Store, id string) error {
	return s.Update(ctx, func(w store.Writer) error {
		v, _, err := w.Get(counterSpace, []byte("counter"), nil)
		if err != nil {
			return err
		}
		if v == nil {
			v = make([]byte, 8)
		}
		n := binary.BigEndian.Uint64(v)
		if err := w.Put(counterSpace, []byte("counter"), nil, binary.BigEndian.AppendUint64(nil, n+1)); err != nil {
			return err
		}
		return w.Put(entrySpace, []byte(id), nil, binary.BigEndian.AppendUint64(nil, n))
	})
}

// ledger returns the updates, and checks that the counter has counted each once, in
// an order without gaps.
func ledger(t testing.TB, s store.Store) map[string]bool {
	t.Helper()
	ids, numbers := map[string]bool{}, map[uint64]bool{}
	require.NoError(t, s.View(t.Context(), func(r store.Reader) error {
		for row, err := range r.Scan(entrySpace, store.Everything()) {
			if err != nil {
				return err
			}
			ids[string(row.Partition)] = true
			n := binary.BigEndian.Uint64(row.Value)
			require.False(t, numbers[n], "two updates saw the counter at %d", n)
			numbers[n] = true
		}
		v, ok, err := r.Get(counterSpace, []byte("counter"), nil)
		if ok {
			require.Equal(t, uint64(len(ids)), binary.BigEndian.Uint64(v), "updates counted")
		} else {
			require.Empty(t, ids)
		}
		return err
	}))
	return ids
}

// TestFaultsOfUpdate causes every fault at every statement of an update, once for each of its actions. The update
// must succeed, and be applied once.
func TestFaultsOfUpdate(t *testing.T) {
	direct := database(t)
	proxy, at := newStandin(t, direct)
	s := open(t, at, postgres.Options{MaxConns: 4, Timeout: 10 * time.Second})
	id := 0
	for _, statement := range []string{"begin", "select value", "insert into sortkey_rows", "insert into sortkey_commits", "commit"} {
		for do := refuse40001; do < actions; do++ {
			t.Run(fmt.Sprintf("%s/%s", statement, do), func(t *testing.T) {
				switch {
				case do == answer40003 && statement != "commit":
					t.Skip("only a commit can be answered so")
				case do == cutAndHold && (statement == "begin" || statement == "select value"):
					t.Skip("nothing is in doubt before the last round trip")
				}
				before := s.Stats()
				defer proxy.deliver()
				proxy.once(statement, 1, do)
				id++
				done := make(chan error)
				go func() { done <- enter(t.Context(), s, fmt.Sprint(id)) }()
				if do == cutAndHold {
					require.Eventually(t, func() bool { return s.Stats().Resolved > before.Resolved }, time.Minute, time.Millisecond)
					proxy.deliver()
				}
				require.NoError(t, <-done)
				require.True(t, proxy.happened(), "nothing happened")
				require.Len(t, ledger(t, s), id)
				after := s.Stats()
				if inDoubt := statement != "begin" && statement != "select value" && do > refuse40P01; inDoubt {
					require.Equal(t, before.Resolved+1, after.Resolved, "the commit was looked up")
				}
			})
		}
	}
}

// TestFaultsOfView causes faults at the first read of a View, which then begins again, and at a later read, which
// fails.
func TestFaultsOfView(t *testing.T) {
	proxy, at := newStandin(t, database(t))
	s := open(t, at, postgres.Options{MaxConns: 4, Timeout: 10 * time.Second})
	set(t, s, "a", "1")
	for do := refuse40001; do < actions; do++ {
		if do == answer40003 || do == refuse40003 || do == cutAndHold {
			continue // about commits
		}
		for number := 1; number <= 2; number++ {
			t.Run(fmt.Sprintf("%s at read %d", do, number), func(t *testing.T) {
				proxy.once("select value", number, do)
				defer proxy.on(nil)
				var got []string
				err := s.View(t.Context(), func(r store.Reader) error {
					for range 2 {
						v, _, err := r.Get(1, []byte("a"), nil)
						if err != nil {
							return err
						}
						got = append(got, string(v))
					}
					return nil
				})
				if number == 1 {
					require.NoError(t, err)
					require.Equal(t, []string{"1", "1"}, got)
				} else {
					require.Error(t, err)
					require.Equal(t, []string{"1"}, got)
				}
			})
		}
	}
}

// TestUnknown checks that an update whose commit got no answer returns ErrUnknown when the database cannot be asked,
// and does not guess the outcome.
func TestUnknown(t *testing.T) {
	t.Parallel() // it waits most of its time
	direct := database(t)
	proxy, at := newStandin(t, direct)
	s := open(t, at, postgres.Options{MaxConns: 4, Timeout: time.Second})
	gone := false
	proxy.on(func(statement string) action {
		switch {
		case gone:
			return cutBefore
		case statement == "commit":
			gone = true
			return cutAfter
		}
		return pass
	})
	err := enter(t.Context(), s, "1")
	require.ErrorIs(t, err, postgres.ErrUnknown)
	proxy.on(nil)
	require.Len(t, ledger(t, s), 1, "it was applied")
}

// TestBreakInExclusive breaks the connection of an Update that became exclusive after conflicts. The Update must
// continue without queueing again.
func TestBreakInExclusive(t *testing.T) {
	proxy, at := newStandin(t, database(t))
	s := open(t, at, postgres.Options{MaxConns: 4, Timeout: 20 * time.Second})
	set(t, s, "a", "0")
	commits, cut := 0, false
	proxy.on(func(statement string) action {
		switch {
		case statement == "commit" && commits < postgres.ExclusiveAfter:
			commits++
			return refuse40001
		case commits == postgres.ExclusiveAfter && !cut && strings.HasPrefix(statement, "insert into sortkey_rows"):
			cut = true
			return cutBefore
		}
		return pass
	})
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	require.NoError(t, s.Update(ctx, func(w store.Writer) error {
		if _, _, err := w.Get(1, []byte("a"), nil); err != nil {
			return err
		}
		return w.Put(1, []byte("a"), nil, []byte("1"))
	}))
	proxy.on(nil)
	require.True(t, cut, "after %d conflicts", commits)
	require.Equal(t, "1", value(t, s, "a"))
}

// TestLookup loses a commit or the answer to it. Then it loses or refuses the first lookups of the outcome, too. A
// lookup must not mistake the row of an earlier lookup for that of the commit.
func TestLookup(t *testing.T) {
	proptest.NeedLong(t)
	proxy, at := newStandin(t, database(t))
	s := open(t, at, postgres.Options{MaxConns: 4, Timeout: 10 * time.Second})
	id := 0
	for _, first := range []action{cutBefore, cutAfter, refuse40003, answer40003} {
		for _, lookup := range []action{refuse40001, drain, cutBefore, cutAfter} {
			for _, statement := range []string{"insert into sortkey_commits (id, prevented) values ($1, true)", "select 1 from sortkey_commits"} {
				t.Run(fmt.Sprintf("%s/%s at %s", first, lookup, statement), func(t *testing.T) {
					commits, lookups := 0, 0
					proxy.on(func(found string) action {
						switch {
						case found == "commit":
							if commits++; commits == 1 {
								return first
							}
						case strings.HasPrefix(found, statement):
							if lookups++; lookups <= 2 {
								return lookup
							}
						}
						return pass
					})
					id++
					require.NoError(t, enter(t.Context(), s, fmt.Sprint(id)))
					require.True(t, proxy.happened())
					require.GreaterOrEqual(t, lookups, 3)
					require.Len(t, ledger(t, s), id)
				})
			}
		}
	}
}

// TestCanceled cancels updates at every moment. What an update returns must always be true.
func TestCanceled(t *testing.T) {
	proxy, at := newStandin(t, database(t))
	s := open(t, at, postgres.Options{MaxConns: 4, Timeout: 10 * time.Second})
	why := errors.New("the reason")
	want := 0
	for i, statement := range []string{"begin", "select value", "insert into sortkey_rows", "insert into sortkey_commits", "commit"} {
		ctx, cancel := context.WithCancelCause(t.Context())
		proxy.on(func(found string) action {
			if len(found) >= len(statement) && found[:len(statement)] == statement {
				cancel(why)
			}
			return pass
		})
		err := enter(ctx, s, fmt.Sprint(i))
		proxy.on(nil)
		if err == nil {
			want++
		} else {
			require.ErrorIs(t, err, why)
		}
		require.Len(t, ledger(t, s), want, "canceled at %s: %v", statement, err)
	}
	require.GreaterOrEqual(t, want, 3, "a commit that has been sent is waited for")
}

// A book records the results that the store returned to several writers.
type book struct {
	mu      sync.Mutex
	acked   map[string]bool
	refused map[string]error // known not to have happened
	unknown int
	next    atomic.Int64
}

// write makes updates until stop returns true.
func (b *book) write(ctx context.Context, s store.Store, writers int, stop func() bool) {
	var running sync.WaitGroup
	for range writers {
		running.Go(func() {
			for !stop() {
				id := fmt.Sprint(b.next.Add(1))
				err := enter(ctx, s, id)
				b.mu.Lock()
				switch {
				case err == nil:
					b.acked[id] = true
				case errors.Is(err, postgres.ErrUnknown):
					b.unknown++
				default:
					b.refused[id] = err
				}
				b.mu.Unlock()
			}
		})
	}
	running.Wait()
}

// check compares the ledger with the recorded results.
func (b *book) check(t testing.TB, s store.Store) {
	t.Helper()
	found := ledger(t, s)
	for id := range b.acked {
		require.True(t, found[id], "an acknowledged update is lost")
	}
	for id, err := range b.refused {
		require.False(t, found[id], "applied, but Update returned %v", err)
	}
	require.LessOrEqual(t, len(found), len(b.acked)+b.unknown)
	t.Logf("%d updates acknowledged, %d refused, %d unknown", len(b.acked), len(b.refused), b.unknown)
}

func newBook() *book { return &book{acked: map[string]bool{}, refused: map[string]error{}} }

// TestFaultsUnderLoad causes random faults while several writers write.
func TestFaultsUnderLoad(t *testing.T) {
	proptest.NeedLong(t)
	proxy, at := newStandin(t, database(t))
	s := open(t, at, postgres.Options{MaxConns: 8, Timeout: 10 * time.Second})
	rng := rand.New(rand.NewPCG(1, 2))
	proxy.on(func(string) action {
		if rng.IntN(60) > 0 {
			return pass
		}
		do := action(rng.IntN(int(cutAndHold)))
		if do == answer40003 {
			return pass // meant for commits
		}
		return do
	})
	b := newBook()
	updates := 400
	if testing.Short() {
		updates = 100
	}
	b.write(t.Context(), s, 6, func() bool { return b.next.Load() >= int64(updates) })
	proxy.on(nil)
	b.check(t, s)
	stats := s.Stats()
	t.Logf("%+v", stats)
	require.NotEmpty(t, b.acked)
	require.Positive(t, stats.Resolved)
	require.Positive(t, stats.Broken)
	require.Positive(t, stats.Conflicts)
}

// TestCrash crashes the database under load, several times.
func TestCrash(t *testing.T) {
	proptest.NeedLong(t)
	cluster := pgtest.New(t)
	at := cluster.Database(t)
	require.NoError(t, postgres.Init(t.Context(), at))
	s := open(t, at, postgres.Options{MaxConns: 8, Timeout: 20 * time.Second})
	b := newBook()
	crashes := 5
	if testing.Short() {
		crashes = 2
	}
	var stop atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.write(context.Background(), s, 6, stop.Load)
	}()
	for range crashes {
		b.mu.Lock()
		before := len(b.acked)
		b.mu.Unlock()
		require.Eventually(t, func() bool {
			b.mu.Lock()
			defer b.mu.Unlock()
			return len(b.acked) >= before+50
		}, time.Minute, time.Millisecond)
		cluster.Crash(t)
		cluster.Start(t)
	}
	stop.Store(true)
	<-done
	b.check(t, s)
	t.Logf("%+v", s.Stats())
}

// After a crash all connections are broken, and the next read finds one that is not.
func TestReadsAfterCrash(t *testing.T) {
	proptest.NeedLong(t)
	cluster := pgtest.New(t)
	at := cluster.Database(t)
	require.NoError(t, postgres.Init(t.Context(), at))
	const conns = 10
	s := open(t, at, postgres.Options{MaxConns: conns, Timeout: 20 * time.Second})
	var reading, all sync.WaitGroup
	reading.Add(conns)
	for range conns {
		all.Go(func() {
			err := s.View(context.Background(), func(r store.Reader) error {
				_, _, err := r.Get(1, []byte("p"), nil)
				reading.Done()
				reading.Wait() // each holds a connection
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	cluster.Crash(t)
	cluster.Start(t)
	for range conns {
		_, _, err := s.Get(t.Context(), 1, []byte("p"), nil)
		require.NoError(t, err)
		require.NoError(t, s.View(t.Context(), func(r store.Reader) error {
			_, _, err := r.Get(1, []byte("p"), nil)
			return err
		}))
	}
}
