package postgres_test

import (
	crand "crypto/rand"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/api"
	"github.com/sortkey/sortkey/internal/wire"
)

// TestBatchRoundTrips counts the round trips of requests for many items, some of which do not exist, and checks the
// results.
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
	// trips counts the round trips of a call. It includes rollbacks in the background, of this call or of the
	// previous one.
	trips := func(call func() error) int {
		proxy.on(nil)
		require.NoError(t, call())
		proxy.mu.Lock()
		defer proxy.mu.Unlock()
		return proxy.trips
	}

	// so that the server is registered, which it does with its first write
	require.NoError(t, s.put(t.Context(), "tab", itemOf("first", 0, "g")))

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
