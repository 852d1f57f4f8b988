package postgres_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sortkey/sortkey/server"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/tests/proptest"
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
	put := func(value string) func(store.Writer, []byte) error {
		return func(w store.Writer, k []byte) error { return w.Put(1, k, nil, []byte(value)) }
	}
	putAnother := func(w store.Writer, _ []byte) error { return w.Put(1, []byte("other"), nil, nil) }
	nothing := func(store.Writer, []byte) error { return nil }
	fail := func(store.Writer, []byte) error { return mine }
	for _, tt := range []struct {
		name, key string
		add       bool                                 // by another Update, meanwhile
		then      func(w store.Writer, k []byte) error // after Get
		want      string
		err       error
		calls     int
	}{
		{name: "absent", key: "a", calls: 1, want: "new", then: put("new")},
		{name: "absent, with an empty value", key: "b", calls: 1, then: put("")},
		{name: "absent, put and deleted", key: "c", calls: 1, want: "-", then: func(w store.Writer, k []byte) error {
			return errors.Join(w.Put(1, k, nil, []byte("new")), w.Delete(1, k, nil))
		}},
		{name: "absent, not written", key: "d", calls: 1, want: "-", then: putAnother},
		{name: "absent, nothing written", key: "e", calls: 1, want: "-", then: nothing},
		{name: "absent, an error", key: "f", calls: 1, want: "-", err: mine, then: fail},
		{name: "there", key: "there", calls: 2, want: "old"},
		{name: "added meanwhile", key: "g", add: true, calls: 3, want: "added", then: put("new")},
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

// ask sends an operation to a database and returns the status and the body of the answer.
func ask(t testing.TB, db *sortkey.DB, operation, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost/", strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	res, err := server.New(db, server.Options{}).Client().Do(r)
	require.NoError(t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, string(text)
}

// opened returns the database of another server.
func opened(t testing.TB, url string, opts postgres.Options) *sortkey.DB {
	t.Helper()
	st, err := postgres.Open(t.Context(), url, opts)
	require.NoError(t, err)
	db, err := sortkey.Open(sortkey.Options{Store: st})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

// TestServersDeleteWhileBuilding deletes tables through one server while another one builds
// their indexes, and creates some of them again.
func TestServersDeleteWhileBuilding(t *testing.T) {
	measured(t)
	url := database(t)
	builder, other := opened(t, url, postgres.Options{}), opened(t, url, postgres.Options{})
	const create = `{"TableName":"Tab","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"p","AttributeType":"S"}],` +
		`"KeySchema":[{"AttributeName":"p","KeyType":"HASH"}]}`
	const index = `{"TableName":"Tab","AttributeDefinitions":[{"AttributeName":"p","AttributeType":"S"},{"AttributeName":"g","AttributeType":"S"}],` +
		`"GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":"Idx","KeySchema":[{"AttributeName":"g","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}}]}`
	rng := rand.New(rand.NewPCG(uint64(proptest.Seed()), 3))
	tries, gone := rounds(100), 0
	for i := range tries {
		status, text := ask(t, other, "CreateTable", create)
		require.Equal(t, http.StatusOK, status, text)
		for batch := range 20 {
			var puts []string
			for j := range 25 {
				puts = append(puts, fmt.Sprintf(`{"PutRequest":{"Item":{"p":{"S":"%d/%d"},"g":{"S":"%d"}}}}`, batch, j, j%7))
			}
			status, text := ask(t, builder, "BatchWriteItem", `{"RequestItems":{"Tab":[`+strings.Join(puts, ",")+`]}}`)
			require.Equal(t, http.StatusOK, status, text)
		}
		var running sync.WaitGroup
		running.Go(func() {
			switch status, text := ask(t, builder, "UpdateTable", index); {
			case status == http.StatusOK && strings.Contains(text, `"Idx"`):
			case status == http.StatusBadRequest && strings.Contains(text, "ResourceNotFoundException"):
				gone++
			default:
				t.Errorf("UpdateTable: %d %s", status, text)
			}
		})
		time.Sleep(time.Duration(rng.Int64N(int64(40 * time.Millisecond))))
		status, text = ask(t, other, "DeleteTable", `{"TableName":"Tab"}`)
		require.Equal(t, http.StatusOK, status, text)
		if i%2 == 0 {
			status, text = ask(t, other, "CreateTable", create)
			require.Equal(t, http.StatusOK, status, text)
		}
		running.Wait()
		if i%2 == 0 {
			status, text = ask(t, other, "DeleteTable", `{"TableName":"Tab"}`)
			require.Equal(t, http.StatusOK, status, text)
		}
	}
	t.Logf("%d tables deleted by another server, %d of them before their index was built", tries, gone)
}

// TestServersHotKey lets the clients of four servers change one item. Each of them gets its
// turn.
func TestServersHotKey(t *testing.T) {
	measured(t)
	const servers, clients = 4, 4 // of each server
	const settle, measure = time.Second, 10 * time.Second
	url := database(t)
	var all []*node
	for range servers {
		all = append(all, serve(t, url))
	}
	_, err := all[0].Create(t.Context(), definition("t"))
	require.NoError(t, err)

	begin := time.Now().Add(settle) // by then connections are open
	var mu sync.Mutex
	var running sync.WaitGroup
	waits := make([][]time.Duration, servers)
	for i, s := range all {
		for range clients {
			running.Go(func() {
				for n := 0; time.Since(begin) < measure; n++ {
					began := time.Now()
					if err := s.put(t.Context(), "t", itemOf("hot", 1, fmt.Sprint(n))); err != nil {
						t.Error(err)
						return
					}
					if began.Before(begin) {
						continue
					}
					mu.Lock()
					waits[i] = append(waits[i], time.Since(began))
					mu.Unlock()
				}
			})
		}
	}
	running.Wait()

	report := func(who string, list []time.Duration, conflicts int64) (longest time.Duration) {
		slices.Sort(list)
		part := func(n int) time.Duration { return list[(len(list)-1)*n/100].Round(time.Millisecond) }
		t.Logf("%s: %d writes of one item, median %s, 99 %% %s, longest %s, %d conflicts", who, len(list), part(50), part(99), part(100), conflicts)
		return part(100)
	}
	var conflicts int64
	for i, s := range all {
		report(fmt.Sprint("server ", i), waits[i], s.store.Stats().Conflicts)
		conflicts += s.store.Stats().Conflicts
	}
	longest := report("four servers", slices.Concat(waits...), conflicts)
	require.Less(t, longest, 500*time.Millisecond)
}
