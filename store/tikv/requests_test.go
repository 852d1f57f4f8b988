package tikv_test

import (
	"fmt"
	"math"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tikv/client-go/v2/tikvrpc"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/engine"
	"github.com/sortkey/sortkey/internal/tests/dbtest"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/tikv"
)

// TestRequests counts the requests of operations on stores and tables, to a cluster of one region. Requests are the
// only cost that the mock can show.
func TestRequests(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	s, err := c.tryOpen(t.Context(), tikv.Options{})
	require.NoError(t, err)
	require.NoError(t, s.Update(t.Context(), func(w store.Writer) error {
		for i := range 500 {
			if err := w.Put(1, []byte("p"), fmt.Appendf(nil, "%03d", i), []byte("v")); err != nil {
				return err
			}
		}
		return nil
	}))
	in := store.Range{Lo: []byte("100"), Hi: []byte("110")}
	readRow := func(r store.Reader) error {
		_, _, err := r.Get(1, []byte("p"), []byte("100"))
		return err
	}
	readRange := func(r store.Reader) error {
		_, err := rows(r, "p", in, true)
		return err
	}
	write := func(w store.Writer, keys ...string) error {
		for _, key := range keys {
			if err := w.Put(1, []byte(key), nil, []byte("v")); err != nil {
				return err
			}
		}
		return nil
	}
	view := func(fn func(store.Reader) error) func(*testing.T) error {
		return func(t *testing.T) error { return s.View(t.Context(), fn) }
	}
	update := func(fn func(store.Writer) error) func(*testing.T) error {
		return func(t *testing.T) error { return s.Update(t.Context(), fn) }
	}
	db := dbtest.Expiring(t, sortkey.Options{Store: s, Clock: func() time.Time { return time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC) }}, 20)
	defer func() { require.NoError(t, db.Close()) }()
	service, name := engine.Of(db).Service, new("Sessions")
	item := func(text string) attr.Item {
		parsed, err := attr.ParseItem([]byte(text))
		require.NoError(t, err)
		return parsed
	}
	putItem := func(condition *string, replaced, added string) func(*testing.T) error {
		n := 0
		return func(t *testing.T) error {
			n++
			_, err := service.PutItem(t.Context(), &wire.PutItemInput{TableName: name, ConditionExpression: condition,
				Item: item(fmt.Sprintf(`{"id":{"S":"%s"},"user":{"S":"u%s%d"}}`, replaced, added, n))})
			return err
		}
	}
	lock, first, second := tikvrpc.CmdPessimisticLock, tikvrpc.CmdPrewrite, tikvrpc.CmdCommit
	for _, tt := range []struct {
		name       string
		run        func(*testing.T) error
		timestamps int
		requests   map[tikvrpc.CmdType]int
	}{
		{"Get of a Getter", func(t *testing.T) error {
			_, _, err := s.Get(t.Context(), 1, []byte("p"), []byte("100"))
			return err
		}, 0, map[tikvrpc.CmdType]int{tikvrpc.CmdGet: 1}},
		{"GetItem", func(t *testing.T) error {
			_, err := service.GetItem(t.Context(), &wire.GetItemInput{TableName: name, Key: item(`{"id":{"S":"3"}}`), ConsistentRead: new(true)}, func(attr.Item) {})
			return err
		}, 0, map[tikvrpc.CmdType]int{tikvrpc.CmdGet: 1}},
		{"BatchGetItem of 100 items, 25 at a time", func(t *testing.T) error {
			var keys []attr.Item
			for i := range 100 {
				keys = append(keys, item(fmt.Sprintf(`{"id":{"S":"%d"}}`, i)))
			}
			out, err := service.BatchGetItem(t.Context(), &wire.BatchGetItemInput{
				RequestItems: map[string]wire.KeysAndAttributes{*name: {Keys: keys}},
			})
			require.Len(t, out.Responses[*name], 20)
			return err
		}, 1, map[tikvrpc.CmdType]int{tikvrpc.CmdBatchGet: 4}},
		{"Scan of an index", func(t *testing.T) error {
			dbtest.Count(t, db, new("ByUser"))
			return nil
		}, 1, map[tikvrpc.CmdType]int{tikvrpc.CmdScan: 2}},
		{"PutItem, replaced, index moved", putItem(nil, "3", "a"), 2, map[tikvrpc.CmdType]int{lock: 1, first: 1, second: 1}},
		{"the same with a condition", putItem(new("attribute_exists(id)"), "3", "b"), 2, map[tikvrpc.CmdType]int{lock: 1, first: 1, second: 1}},
		{"View, a row", view(readRow), 1, map[tikvrpc.CmdType]int{tikvrpc.CmdGet: 1}},
		{"View, 10 rows", view(readRange), 1, map[tikvrpc.CmdType]int{tikvrpc.CmdScan: 1}},
		{"put of a row that was not read", update(func(w store.Writer) error { return write(w, "a") }), 2,
			map[tikvrpc.CmdType]int{first: 1, second: 1}},
		{"put after a read of the row", update(func(w store.Writer) error {
			get(t, w, "b", "")
			return write(w, "b")
		}), 2, map[tikvrpc.CmdType]int{lock: 1, first: 1, second: 1}},
		{"the same with two rows of indexes", update(func(w store.Writer) error {
			get(t, w, "c", "")
			return write(w, "c", "c1", "c2")
		}), 2, map[tikvrpc.CmdType]int{lock: 1, first: 1, second: 1}},
		{"transaction of 4 rows", update(func(w store.Writer) error {
			for _, key := range []string{"d", "e", "f", "g"} {
				get(t, w, key, "")
			}
			return write(w, "d", "e", "f", "g")
		}), 2, map[tikvrpc.CmdType]int{lock: 4, first: 1, second: 1}},
		{"put after a read of 10 rows", update(func(w store.Writer) error {
			if err := readRange(w); err != nil {
				return err
			}
			return write(w, "h")
		}), 2, map[tikvrpc.CmdType]int{tikvrpc.CmdScan: 2, first: 1, second: 1}},
		{"Update that only reads a row", update(func(w store.Writer) error { return readRow(w) }), 1,
			map[tikvrpc.CmdType]int{lock: 1, tikvrpc.CmdPessimisticRollback: 1}},
		{"Update that only reads a range", update(func(w store.Writer) error { return readRange(w) }), 1,
			map[tikvrpc.CmdType]int{tikvrpc.CmdScan: 1}},
	} {
		// The client itself gets a timestamp now and then, and so does the database when it looks for jobs.
		timestamps := math.MaxInt
		var requests map[tikvrpc.CmdType]int
		for range 3 {
			c.take()
			require.NoError(t, tt.run(t), tt.name)
			sent, n := c.take()
			timestamps = min(timestamps, n)
			delete(sent, tikvrpc.CmdStoreSafeTS) // of the client itself
			if requests == nil || total(sent) < total(requests) {
				requests = sent
			}
		}
		require.Equal(t, tt.requests, requests, tt.name)
		require.Equal(t, tt.timestamps, timestamps, "%s: timestamps", tt.name)
		t.Logf("%-34s %d timestamps, %v", tt.name, timestamps, tt.requests)
	}
}

// total returns how many requests there are.
func total(requests map[tikvrpc.CmdType]int) (n int) {
	for _, k := range requests {
		n += k
	}
	return n
}

// BenchmarkInserts inserts rows into one partition, eight at a time, with a round trip of a millisecond. In its
// second part, each insert also locks a guard row of the partition, which would make the second read of ranges
// unnecessary.
func BenchmarkInserts(b *testing.B) {
	for _, guard := range []bool{false, true} {
		b.Run(fmt.Sprintf("guard=%t", guard), func(b *testing.B) {
			c := newCluster(b)
			s := c.open(b)
			c.onRequest(func(_ *tikvrpc.Request, send func() (*tikvrpc.Response, error)) (*tikvrpc.Response, error) {
				time.Sleep(time.Millisecond)
				return send()
			})
			var n atomic.Int64
			b.SetParallelism(8)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					key := fmt.Appendf(nil, "%d", n.Add(1))
					err := s.Update(b.Context(), func(w store.Writer) error {
						if guard {
							if _, _, err := w.Get(2, []byte("p"), nil); err != nil {
								return err
							}
						}
						if _, _, err := w.Get(1, []byte("p"), key); err != nil {
							return err
						}
						return w.Put(1, []byte("p"), key, []byte("v"))
					})
					if err != nil {
						b.Error(err)
					}
				}
			})
			b.ReportMetric(float64(s.Stats().Conflicts)/float64(b.N), "conflicts/op")
		})
	}
}
