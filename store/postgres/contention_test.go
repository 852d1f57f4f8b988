package postgres_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/postgres"
)

// measured skips tests that measure, unless scripts/check-postgres.sh runs them.
func measured(t testing.TB) {
	t.Helper()
	if os.Getenv("SORTKEY_CHECKS") == "" {
		t.Skip("measures; scripts/check-postgres.sh runs it")
	}
}

// A presumer is a Writer that can take a row for absent.
type presumer interface{ Presume(addr []byte) }

// TestPresume takes rows for absent that are, that are not, and that another Update adds
// meanwhile. The outcome is that of reading them.
func TestPresume(t *testing.T) {
	url := database(t)
	s, other := open(t, url, postgres.Options{}), open(t, url, postgres.Options{})
	set(t, s, "there", "old")
	mine := errors.New("of the function")
	for _, tt := range []struct {
		name, key string
		add       bool                                 // by another Update, meanwhile
		then      func(w store.Writer, k []byte) error // after Get
		want      string
		err       error
		calls     int
	}{
		{name: "absent", key: "a", calls: 1, want: "new", then: func(w store.Writer, k []byte) error { return w.Put(1, k, nil, []byte("new")) }},
		{name: "absent, with an empty value", key: "b", calls: 1, then: func(w store.Writer, k []byte) error { return w.Put(1, k, nil, nil) }},
		{name: "absent, put and deleted", key: "c", calls: 1, want: "-", then: func(w store.Writer, k []byte) error {
			return errors.Join(w.Put(1, k, nil, []byte("new")), w.Delete(1, k, nil))
		}},
		{name: "absent, not written", key: "d", calls: 1, want: "-", then: func(w store.Writer, _ []byte) error { return w.Put(1, []byte("other"), nil, nil) }},
		{name: "absent, nothing written", key: "e", calls: 1, want: "-", then: func(store.Writer, []byte) error { return nil }},
		{name: "absent, an error", key: "f", calls: 1, want: "-", err: mine, then: func(store.Writer, []byte) error { return mine }},
		{name: "there", key: "there", calls: 2, want: "old"},
		{name: "added meanwhile", key: "g", add: true, calls: 3, want: "added", then: func(w store.Writer, k []byte) error { return w.Put(1, k, nil, []byte("new")) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			calls := 0
			key := []byte(tt.key)
			err := s.Update(t.Context(), func(w store.Writer) error {
				w.(presumer).Presume(store.AppendAddress(nil, 1, key, nil))
				if _, _, err := w.Get(1, []byte("begin"), nil); err != nil { // takes the snapshot
					return err
				}
				if calls++; calls == 1 && tt.add {
					set(t, other, tt.key, "added")
				}
				_, ok, err := w.Get(1, key, nil)
				if err != nil || ok {
					return err
				}
				if tt.then == nil {
					return mine // not the outcome, as the row exists
				}
				return tt.then(w, key)
			})
			require.ErrorIs(t, err, tt.err)
			require.Equal(t, tt.want, value(t, s, tt.key))
			require.LessOrEqual(t, calls, tt.calls)
		})
	}
}

// TestServersTokenConflicts counts the conflicts of transactions of different items, with
// and without tokens.
func TestServersTokenConflicts(t *testing.T) {
	measured(t)
	const before, transactions, goroutines = 2000, 480, 8
	run := func(token bool) (conflicts int64) {
		s := serve(t, database(t))
		_, err := s.Create(t.Context(), definition("t"))
		require.NoError(t, err)
		for i := range before {
			require.NoError(t, s.put(t.Context(), "t", itemOf(fmt.Sprint("before", i), i, "")))
		}
		rng := rand.New(rand.NewPCG(1, 2))
		tokens := make([]string, transactions)
		for i := range tokens {
			tokens[i] = fmt.Sprintf("%016x-%016x", rng.Uint64(), rng.Uint64())
		}
		conflicts -= s.store.Stats().Conflicts
		var next atomic.Int64
		var running sync.WaitGroup
		for range goroutines {
			running.Go(func() {
				for i := int(next.Add(1)) - 1; i < transactions; i = int(next.Add(1)) - 1 {
					tok := table.Token{Digest: make([]byte, 32), Time: time.Now()}
					err := s.write(t.Context(), "t", func(tx *table.Tx, tb *table.Table) error {
						if token {
							if _, _, err := tx.Remember(tokens[i], tok); err != nil {
								return err
							}
						}
						if _, err := tx.Put(tb, itemOf(fmt.Sprint("p", i), i, ""), nil); err != nil || !token {
							return err
						}
						return tx.SetRead(tokens[i], tok, map[string][]int{"t": {10}})
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		running.Wait()
		return conflicts + s.store.Stats().Conflicts
	}
	var without, with int64
	const rounds = 3
	for range rounds {
		without, with = without+run(false), with+run(true)
	}
	t.Logf("%d transactions of different items: %d conflicts without tokens, %d with", rounds*transactions, without, with)
	require.LessOrEqual(t, with, 2*without+rounds*transactions/20)
}
