package bench

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/google/btree"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/bench/layer"
	"github.com/sortkey/sortkey/bench/measure"
	"github.com/sortkey/sortkey/bench/work"
	"github.com/sortkey/sortkey/internal/api"
	"github.com/sortkey/sortkey/internal/inside"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/memory"
)

// durableWriters is how many put at once.
const durableWriters = 32

// durablePut: puts of one item that return when they are on disk, against
// batches of one row that Pebble syncs.
func (t *targets) durablePut(ctx context.Context) ([]Target, error) {
	w := work.Find("put")
	d, done, err := t.open(ctx, layer.Disk, work.Shape{Items: t.items(20_000, 1000), Collection: 1000, Size: work.DefaultBytes}, false)
	if err != nil {
		return nil, err
	}
	defer done()
	all, err := t.series(ctx, d, t.calls(w, d.Shape), durableWriters, layer.Bare, layer.Store, layer.Table, layer.API)
	if err != nil {
		return nil, err
	}
	// A sync takes as long as the disk likes, so rounds are longer.
	if err := measure.Alternate(ctx, all, t.Rounds, t.warm(), 2*t.Duration, nil); err != nil {
		return nil, err
	}
	r, _ := measure.RatioOf(all[0].PerOp(), all[2].PerOp()) // of rates
	viaStore, viaAPI := ratio(all[0], all[1]).Median, ratio(all[0], all[3]).Median
	return []Target{atLeast("durable put, 32 concurrent writers, against bare Pebble batches with sync", "at least 0.7 of its rate",
		0.7, r.Median, fmt.Sprintf("%.2f", r.Median), "%s; at table, %.0f a second, bare %.0f; store %.2f, through api %.2f", spread(r),
		1e9/measure.Median(all[2].PerOp()), 1e9/measure.Median(all[0].PerOp()), viaStore, viaAPI)}, nil
}

// fork: Fork of a database, a million items large, that is written to between
// two forks.
func (t *targets) fork(ctx context.Context) ([]Target, error) {
	shape := work.Shape{Items: t.items(1_000_000, 10_000), Collection: 1000, Size: work.DefaultBytes}
	d, done, err := t.open(ctx, layer.Memory, shape, true)
	if err != nil {
		return nil, err
	}
	defer done()
	h := measure.NewHist()
	calls := work.Find("put").Calls(shape, t.items(1000, 20), t.Seed)
	for i := range calls {
		if out, status := inside.Service(d.DB).Serve(ctx, work.Put.Target(), calls[i].Body(shape), nil); status != 200 {
			return nil, fmt.Errorf("PutItem: %s", out)
		}
		start := time.Now()
		f, err := d.DB.Fork()
		h.Record(time.Since(start))
		if err != nil {
			return nil, err
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
	p50 := float64(h.Percentile(50))
	return []Target{atMost("Fork of a million-item database", "below 10 µs", 10e3, p50, duration(p50),
		"%d forks, a put before each; 99%% below %s", h.Count(), duration(float64(h.Percentile(99))))}, nil
}

// A putSet is items of four attributes for a table with one index.
type putSet struct {
	items  []attr.Item
	bodies [][]byte
	keys   [][]byte // of the rows of table and index, in the order written
}

const putTable = `{"TableName":"puts","BillingMode":"PAY_PER_REQUEST",
"AttributeDefinitions":[{"AttributeName":"PK","AttributeType":"S"},{"AttributeName":"SK","AttributeType":"S"},{"AttributeName":"g","AttributeType":"S"}],
"KeySchema":[{"AttributeName":"PK","KeyType":"HASH"},{"AttributeName":"SK","KeyType":"RANGE"}],
"GlobalSecondaryIndexes":[{"IndexName":"ByG","KeySchema":[{"AttributeName":"g","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}]}`

func putDB(ctx context.Context) (*table.DB, *api.Service, error) {
	db, err := table.Open(ctx, memory.Open())
	if err != nil {
		return nil, nil, err
	}
	s := api.New(db, api.Options{})
	if out, status := s.Serve(ctx, "DynamoDB_20120810.CreateTable", []byte(putTable), nil); status != 200 {
		return nil, nil, fmt.Errorf("CreateTable: %s", out)
	}
	return db, s, nil
}

func newPutSet(ctx context.Context, n int) (*putSet, error) {
	db, _, err := putDB(ctx)
	if err != nil {
		return nil, err
	}
	t, err := db.Describe("puts")
	if err != nil {
		return nil, err
	}
	ix, set := t.Indexes()[0], &putSet{}
	for i := range n {
		body := fmt.Appendf(nil, `{"PK":{"S":"CUSTOMER#%07d"},"SK":{"S":"ORDER#%d"},"g":{"S":"%d"},"v":{"N":"%d"}}`, i/10, i%10, i%100, i)
		it, err := attr.ParseItem(body)
		if err != nil {
			return nil, err
		}
		partition, sort, err := t.Address(it2key(it))
		if err != nil {
			return nil, err
		}
		set.items = append(set.items, it)
		set.bodies = append(set.bodies, fmt.Appendf(nil, `{"TableName":"puts","Item":%s}`, body))
		set.keys = append(set.keys, store.AppendAddress(nil, t.Definition().Space, partition, sort))
		partition, _ = ix.Key().AppendPartition(nil, it)
		sort, _ = ix.Key().AppendSort(nil, it)
		set.keys = append(set.keys, store.AppendAddress(nil, ix.Definition().Space, partition, sort))
	}
	return set, nil
}

func it2key(it attr.Item) attr.Item {
	var b attr.Builder
	for _, name := range []string{"PK", "SK"} {
		b.Add(name, it.Get(name))
	}
	return b.Item()
}

type pair struct{ key, value []byte }

// put: new items put into an empty table in memory, one at a time on one core,
// against two inserts of the same rows into a bare B-tree.
func (t *targets) put(ctx context.Context) ([]Target, error) {
	n := t.items(100_000, 1000)
	set, err := newPutSet(ctx, n)
	if err != nil {
		return nil, err
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	timed := func(fill func(i int) error) (float64, error) {
		runtime.GC()
		start := time.Now()
		for i := range n {
			if err := fill(i); err != nil {
				return 0, err
			}
		}
		return float64(time.Since(start)) / float64(n), nil
	}
	var bare, tb, viaAPI []float64
	for range t.Rounds {
		tree := btree.NewG(32, func(a, b pair) bool { return string(a.key) < string(b.key) })
		ns, err := timed(func(i int) error {
			tree.ReplaceOrInsert(pair{set.keys[2*i], set.items[i]})
			tree.ReplaceOrInsert(pair{set.keys[2*i+1], set.items[i]})
			return nil
		})
		if err != nil {
			return nil, err
		}
		bare = append(bare, ns)
		db, service, err := putDB(ctx)
		if err != nil {
			return nil, err
		}
		ns, err = timed(func(i int) error {
			return db.Update(ctx, func(tx *table.Tx) error {
				t, err := tx.Table("puts")
				if err != nil {
					return err
				}
				_, err = tx.Put(t, set.items[i], nil)
				return err
			})
		})
		if err != nil {
			return nil, err
		}
		tb = append(tb, ns)
		if _, service, err = putDB(ctx); err != nil {
			return nil, err
		}
		var out []byte
		ns, err = timed(func(i int) error {
			var status int
			if out, status = service.Serve(ctx, work.Put.Target(), set.bodies[i], out[:0]); status != 200 {
				return fmt.Errorf("PutItem: %s", out)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		viaAPI = append(viaAPI, ns)
	}
	rate := 1e9 / measure.Median(tb)
	r, _ := measure.RatioOf(tb, bare)
	ra, _ := measure.RatioOf(viaAPI, bare)
	target := Target{
		Measure: "put into memory, 1 writer, 4 attributes, one index",
		Must:    "at least 150,000 a second on one core, or within 3 × of two bare B-tree inserts",
		Bound:   150_000, Value: rate, Reached: fmt.Sprintf("%.0f a second, %.2f ×", rate, r.Median), OK: rate >= 150_000 || r.Median <= 3,
		Detail: fmt.Sprintf("%s; at table, new items; bare %s; through api %.0f a second, %.2f ×", spread(r), duration(measure.Median(bare)), 1e9/measure.Median(viaAPI), ra.Median),
	}
	return []Target{target}, nil
}
