package tikv_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tikv/client-go/v2/tikvrpc"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/api"
	"github.com/sortkey/sortkey/internal/inside"
	"github.com/sortkey/sortkey/internal/tests/dbtest"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/tikv"
)

// oneByOne hides that the readers of a Store are Prefetchers.
type oneByOne struct{ *tikv.Store }

func (s oneByOne) View(ctx context.Context, fn func(store.Reader) error) error {
	return s.Store.View(ctx, func(r store.Reader) error { return fn(struct{ store.Reader }{r}) })
}

func (s oneByOne) Update(ctx context.Context, fn func(store.Writer) error) error {
	return s.Store.Update(ctx, func(w store.Writer) error { return fn(struct{ store.Writer }{w}) })
}

// TestBatchRequests counts the requests of operations on many items, half of which do not
// exist, to a cluster of one region: without [store.Prefetcher], and with it.
func TestBatchRequests(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	item := func(i int) attr.Item {
		parsed, err := attr.ParseItem(fmt.Appendf(nil, `{"id":{"S":"%d"},"user":{"S":"u%d"}}`, i, i%7))
		require.NoError(t, err)
		return parsed
	}
	key := func(i int) attr.Item {
		parsed, err := attr.ParseItem(fmt.Appendf(nil, `{"id":{"S":"%d"}}`, i))
		require.NoError(t, err)
		return parsed
	}

	name, token := new("Sessions"), 0
	operations := []struct {
		name string
		// before and after are requests without and with Prefetch: reads and locks, then
		// those of the commit.
		before, after map[tikvrpc.CmdType]int
		run           func(*api.Service) error
	}{
		{
			name:   "BatchGetItem, 100 items",
			before: map[tikvrpc.CmdType]int{tikvrpc.CmdGet: 100},
			after:  map[tikvrpc.CmdType]int{tikvrpc.CmdBatchGet: 4},
			run: func(service *api.Service) error {
				var keys []attr.Item
				for i := range 100 {
					keys = append(keys, key(i))
				}
				out, err := service.BatchGetItem(t.Context(), &wire.BatchGetItemInput{
					RequestItems: map[string]wire.KeysAndAttributes{*name: {Keys: keys}},
				})
				require.Len(t, out.Responses[*name], 50)
				return err
			},
		},
		{
			name:   "TransactGetItems, 100 items",
			before: map[tikvrpc.CmdType]int{tikvrpc.CmdGet: 100},
			after:  map[tikvrpc.CmdType]int{tikvrpc.CmdBatchGet: 4},
			run: func(service *api.Service) error {
				var gets []wire.TransactGetItem
				for i := range 100 {
					gets = append(gets, wire.TransactGetItem{Get: &wire.Get{TableName: name, Key: key(i)}})
				}
				out, err := service.TransactGetItems(t.Context(), &wire.TransactGetItemsInput{TransactItems: gets})
				for i, r := range out.Responses {
					require.Equal(t, i < 50, r.Item.Len() > 0, "%d", i)
				}
				return err
			},
		},
		{
			name:   "BatchWriteItem, 25 items",
			before: map[tikvrpc.CmdType]int{tikvrpc.CmdPessimisticLock: 25, tikvrpc.CmdPrewrite: 1, tikvrpc.CmdCommit: 1},
			after:  map[tikvrpc.CmdType]int{tikvrpc.CmdPessimisticLock: 25, tikvrpc.CmdPrewrite: 1, tikvrpc.CmdCommit: 1},
			run: func(service *api.Service) error {
				var writes []wire.WriteRequest
				for i := range 25 {
					write := wire.WriteRequest{PutRequest: &wire.PutRequest{Item: item(40 + i)}}
					if i >= 10 {
						write = wire.WriteRequest{DeleteRequest: &wire.DeleteRequest{Key: key(40 + i)}}
					}
					writes = append(writes, write)
				}
				_, err := service.BatchWriteItem(t.Context(), &wire.BatchWriteItemInput{
					RequestItems: map[string][]wire.WriteRequest{*name: writes},
				})
				return err
			},
		},
		{
			name: "TransactWriteItems, 100 items",
			before: map[tikvrpc.CmdType]int{ // the scans are for tokens that have expired
				tikvrpc.CmdPessimisticLock: 101, tikvrpc.CmdScan: 2, tikvrpc.CmdPrewrite: 1, tikvrpc.CmdCommit: 1,
			},
			after: map[tikvrpc.CmdType]int{
				tikvrpc.CmdPessimisticLock: 101, tikvrpc.CmdScan: 2, tikvrpc.CmdPrewrite: 1, tikvrpc.CmdCommit: 1,
			},
			run: func(service *api.Service) error {
				var actions []wire.TransactWriteItem
				for i := range 100 {
					action := wire.TransactWriteItem{Put: &wire.Put{TableName: name, Item: item(i)}}
					if i >= 50 {
						action = wire.TransactWriteItem{Delete: &wire.Delete{TableName: name, Key: key(i)}}
					}
					actions = append(actions, action)
				}
				token++
				_, err := service.TransactWriteItems(t.Context(), &wire.TransactWriteItemsInput{
					TransactItems: actions, ClientRequestToken: new(fmt.Sprint("token", token)),
				})
				return err
			},
		},
	}

	for _, prefetch := range []bool{false, true} {
		s, err := c.tryOpen(t.Context(), tikv.Options{})
		require.NoError(t, err)
		opts := sortkey.Options{
			Store: oneByOne{s}, Clock: func() time.Time { return time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC) },
		}
		if prefetch {
			opts.Store = s
		}
		var db *sortkey.DB
		if !prefetch {
			db = dbtest.Expiring(t, opts, 50)
		} else if db, err = sortkey.Open(opts); err != nil {
			require.NoError(t, err)
		}

		for _, op := range operations {
			want := op.before
			if prefetch {
				want = op.after
			}
			var requests map[tikvrpc.CmdType]int
			for range 3 { // the database looks for jobs now and then
				c.take()
				require.NoError(t, op.run(inside.Service(db)), op.name)
				sent, _ := c.take()
				delete(sent, tikvrpc.CmdStoreSafeTS)
				if requests == nil || total(sent) < total(requests) {
					requests = sent
				}
			}
			t.Logf("%-30s prefetch=%-5t %v", op.name, prefetch, requests)
			require.Equal(t, want, requests, op.name)
		}
		require.NoError(t, db.Close())
	}
}

// TestPrefetch reads rows of several regions at once, in an Update that has changed some
// and cleared a space, beside values that are too large to be kept.
func TestPrefetch(t *testing.T) {
	proptest.NeedLong(t)
	t.Parallel()
	c := newCluster(t)
	s := c.open(t)
	large := make([]byte, 3<<20) // two of them are too large to be kept
	require.NoError(t, s.Update(t.Context(), func(w store.Writer) error {
		for sort, value := range map[string][]byte{"1": []byte("one"), "2": nil, "3": large, "4": large} {
			if err := w.Put(1, []byte("p"), []byte(sort), value); err != nil {
				return err
			}
		}
		return w.Put(2, []byte("p"), []byte("1"), large)
	}))
	for _, sort := range []string{"2", "4", "6"} {
		c.move(append([]byte("sortkey\x00r"), store.AppendAddress(nil, 1, []byte("p"), []byte(sort))...))
	}

	require.NoError(t, s.Update(t.Context(), func(w store.Writer) error {
		require.NoError(t, w.Put(1, []byte("p"), []byte("5"), []byte("five")))
		require.NoError(t, w.Delete(1, []byte("p"), []byte("1")))
		require.NoError(t, w.Clear(2))
		for space := range store.Space(4) {
			var addrs [][]byte
			for i := range 8 {
				addrs = append(addrs, store.AppendAddress(nil, space, []byte("p"), fmt.Append(nil, i)))
			}
			addrs = append(addrs, addrs[3], addrs[7])
			require.NoError(t, w.(store.Prefetcher).Prefetch(addrs))
			for i := range 8 {
				value, ok, err := w.Get(space, []byte("p"), fmt.Append(nil, i))
				require.NoError(t, err)
				want, exists := map[int][]byte{2: {}, 3: large, 4: large, 5: []byte("five")}[i]
				require.Equal(t, space == 1 && exists, ok, "%d %d", space, i)
				if ok {
					require.Equal(t, len(want), len(value))
				}
			}
		}
		return nil
	}))
}
