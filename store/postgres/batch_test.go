package postgres_test

import (
	"context"
	crand "crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/api"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/postgres"
)

// TestBatchRoundTrips counts the round trips of requests for many items, some of which
// do not exist, and looks at their answers.
func TestBatchRoundTrips(t *testing.T) {
	proxy, at := newStandin(t, database(t))
	s := serve(t, at)
	service := api.New(s.DB, api.Options{Clock: time.Now, Rand: crand.Reader, Logger: slog.New(slog.DiscardHandler)})
	for _, name := range []string{"tab", "uvw"} {
		_, err := s.Create(t.Context(), definition(name))
		require.NoError(t, err)
	}
	key := func(i int) attr.Item { return keyed(fmt.Sprint("p", i), i) }
	item := func(i int) attr.Item { return itemOf(fmt.Sprint("p", i), i, "g") }
	// trips also counts rollbacks, which nobody waits for, of this call or the one before.
	trips := func(call func() error) int {
		proxy.on(nil)
		require.NoError(t, call())
		proxy.mu.Lock()
		defer proxy.mu.Unlock()
		return proxy.trips
	}

	require.NoError(t, s.put(t.Context(), "tab", itemOf("first", 0, "g"))) // the server registers with its first write

	got := trips(func() error {
		var actions []wire.TransactWriteItem
		for i := range 100 {
			actions = append(actions, wire.TransactWriteItem{Put: &wire.Put{
				TableName: new([]string{"tab", "uvw"}[i%2]), Item: item(i), ConditionExpression: new("attribute_not_exists(p)"),
			}})
		}
		_, err := service.TransactWriteItems(t.Context(), &wire.TransactWriteItemsInput{TransactItems: actions, ClientRequestToken: new("token")})
		return err
	})
	require.Less(t, got, 10, "a transaction: its items, its token, old tokens and the commit")

	got = trips(func() error {
		var writes []wire.WriteRequest
		for i := range 25 {
			if i%5 == 0 {
				writes = append(writes, wire.WriteRequest{DeleteRequest: &wire.DeleteRequest{Key: key(2 * i)}})
			} else {
				writes = append(writes, wire.WriteRequest{PutRequest: &wire.PutRequest{Item: item(2 * i)}})
			}
		}
		_, err := service.BatchWriteItem(t.Context(), &wire.BatchWriteItemInput{RequestItems: map[string][]wire.WriteRequest{"tab": writes}})
		return err
	})
	require.Less(t, got, 10, "a batch of writes: its items and the commit")

	got = trips(func() error {
		var keys []attr.Item
		for i := range 100 {
			keys = append(keys, key(i))
		}
		out, err := service.BatchGetItem(t.Context(), &wire.BatchGetItemInput{RequestItems: map[string]wire.KeysAndAttributes{"tab": {Keys: keys}}})
		require.Len(t, out.Responses["tab"], 45, "half of the items, but for those deleted")
		return err
	})
	require.Less(t, got, 10, "a batch of gets: 25 at a time")

	got = trips(func() error {
		var gets []wire.TransactGetItem
		for i := range 100 {
			gets = append(gets, wire.TransactGetItem{Get: &wire.Get{TableName: new([]string{"tab", "uvw"}[i%2]), Key: key(i)}})
		}
		out, err := service.TransactGetItems(t.Context(), &wire.TransactGetItemsInput{TransactItems: gets})
		for i, r := range out.Responses {
			if deleted := i%10 == 0 && i < 50; deleted {
				require.Nil(t, r.Item)
			} else {
				require.True(t, item(i).Equal(r.Item), "%d", i)
			}
		}
		return err
	})
	require.Less(t, got, 10, "a transaction of gets: 25 at a time")
}

// TestBuildRoundTrips builds an index with few round trips, whatever the number of items.
func TestBuildRoundTrips(t *testing.T) {
	proxy, at := newStandin(t, database(t))
	s := serve(t, at)
	_, err := s.Create(t.Context(), definition("t"))
	require.NoError(t, err)
	const items = 1000
	require.NoError(t, s.write(t.Context(), "t", func(tx *table.Tx, tb *table.Table) error {
		for i := range items {
			if _, err := tx.Put(tb, itemOf(fmt.Sprint("p", i), i, fmt.Sprint("g", i)), nil); err != nil {
				return err
			}
		}
		return nil
	}))
	proxy.on(nil)
	_, err = s.Alter(t.Context(), "t", addIndex)
	require.NoError(t, err)
	proxy.mu.Lock()
	trips := proxy.trips
	proxy.mu.Unlock()
	t.Logf("%d round trips for %d items", trips, items)
	require.Less(t, trips, items/5)
	found, err := s.items(t.Context(), "t", "G")
	require.NoError(t, err)
	require.Len(t, found, items)
}

// TestPrefetch compares what an Update sees of rows that it prefetched with what it sees of
// others: rows that exist, rows that do not, its own changes and cleared rows.
func TestPrefetch(t *testing.T) {
	s := open(t, database(t), postgres.Options{})
	large := make([]byte, 3<<20) // two of them are too large to be kept
	require.NoError(t, s.Update(t.Context(), func(w store.Writer) error {
		return errors.Join(w.Put(1, []byte("p"), []byte("1"), []byte("one")), w.Put(1, []byte("p"), []byte("2"), nil),
			w.Put(1, []byte("p"), []byte("3"), large), w.Put(1, []byte("p"), []byte("4"), large), w.Put(2, []byte("p"), nil, large))
	}))
	require.NoError(t, s.Update(t.Context(), func(w store.Writer) error {
		require.NoError(t, errors.Join(w.Put(1, []byte("p"), []byte("5"), []byte("five")), w.Delete(1, []byte("p"), []byte("1")), w.Clear(2)))
		for space := range store.Space(4) {
			var rows []store.Position
			var addrs [][]byte
			for i := range 8 {
				rows = append(rows, store.Position{Partition: []byte("p"), Sort: strconv.AppendInt(nil, int64(i), 10)})
			}
			rows = append(rows, store.Position{Partition: []byte("p")}, store.Position{Partition: []byte("p")})
			for _, at := range rows {
				addrs = append(addrs, store.AppendAddress(nil, space, at.Partition, at.Sort))
			}
			p, ok := w.(interface{ Prefetch(addrs [][]byte) error })
			require.True(t, ok)
			require.NoError(t, p.Prefetch(addrs))
			for _, at := range rows {
				value, ok, err := w.Get(space, at.Partition, at.Sort)
				require.NoError(t, err)
				switch want := map[string][]byte{"2": {}, "3": large, "4": large, "5": []byte("five")}[string(at.Sort)]; {
				case space == 1 && want != nil:
					require.True(t, ok)
					require.Equal(t, len(want), len(value))
				default:
					require.False(t, ok, "%d %q", space, at.Sort)
				}
			}
		}
		return nil
	}))
}

// BenchmarkBuild builds indexes of 5,000 items, alone and beside writers on two other
// servers.
func BenchmarkBuild(b *testing.B) {
	for _, writers := range []int{0, 6} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			servers := three(b)
			_, err := servers[0].Create(b.Context(), definition("t"))
			require.NoError(b, err)
			for i := range 10 {
				require.NoError(b, servers[0].write(b.Context(), "t", func(tx *table.Tx, tb *table.Table) error {
					for j := range 500 {
						if _, err := tx.Put(tb, itemOf(fmt.Sprint("p", i, j), j, fmt.Sprint("g", j)), nil); err != nil {
							return err
						}
					}
					return nil
				}))
			}
			ctx, stop := context.WithCancel(b.Context())
			var running sync.WaitGroup
			for i := range writers {
				running.Go(func() {
					for ctx.Err() == nil {
						j := rand.IntN(500)
						_ = servers[1+i%2].put(ctx, "t", itemOf(fmt.Sprint("p", rand.IntN(10), j), j, fmt.Sprint("g", rand.IntN(500))))
					}
				})
			}
			for b.Loop() {
				_, err := servers[0].Alter(b.Context(), "t", addIndex)
				require.NoError(b, err)
				b.StopTimer()
				_, err = servers[0].Alter(b.Context(), "t", dropIndex)
				require.NoError(b, err)
				b.StartTimer()
			}
			stop()
			running.Wait()
			b.ReportMetric(float64(servers[0].store.Stats().Conflicts)/float64(b.N), "conflicts/op")
		})
	}
}
