package bench

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"time"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/bench/layer"
	"github.com/sortkey/sortkey/bench/measure"
	"github.com/sortkey/sortkey/bench/work"
	"github.com/sortkey/sortkey/internal/api"
	"github.com/sortkey/sortkey/internal/inside"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/table/life"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/memory"
)

func (t *targets) durablePut(ctx context.Context) ([]Target, error) {
	const writers = 32
	d, done, err := t.open(
		ctx, layer.Disk, work.Shape{Items: t.items(20_000, 1000), Collection: 1000, Size: work.DefaultBytes}, false,
	)
	if err != nil {
		return nil, err
	}
	defer done()
	// The time of a sync varies, so rounds are longer.
	all, err := t.run(ctx, d, "put", writers, 2*t.Duration, layer.Bare, layer.Store, layer.Table, layer.API)
	if err != nil {
		return nil, err
	}
	bare, st, tb, viaAPI := all[0], all[1], all[2], all[3]
	rates := bare.RatioTo(tb) // of rates, so the other way round
	return []Target{atLeast(
		"durable put, 32 concurrent writers: rate against bare Pebble batches with sync",
		0.7, rates.Median, measure.Times,
		"%s; at table, %.0f a second, bare %.0f; store %s, through api %s", spread(rates), 1e9/tb.Time(),
		1e9/bare.Time(), measure.Times(bare.RatioTo(st).Median), measure.Times(bare.RatioTo(viaAPI).Median),
	)}, nil
}

// fork forks a database again and again, with a put before each.
func (t *targets) fork(ctx context.Context) ([]Target, error) {
	shape := work.Shape{Items: t.items(1_000_000, 10_000), Collection: 1000, Size: work.DefaultBytes}
	d, done, err := t.open(ctx, layer.Memory, shape, true)
	if err != nil {
		return nil, err
	}
	defer done()
	var took []float64
	calls := work.Find("put").Calls(shape, t.items(1000, 20), t.Seed)
	for i := range calls {
		out, status := inside.Service(d.DB).Serve(ctx, work.Put.Target(), calls[i].Body(shape), nil)
		if status != http.StatusOK {
			return nil, fmt.Errorf("PutItem: %s", out)
		}
		start := time.Now()
		f, err := d.DB.Fork()
		took = append(took, float64(time.Since(start)))
		if err != nil {
			return nil, err
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
	}

	slices.Sort(took)
	return []Target{atMost("Fork of a million-item database", 10e3, measure.Median(took), measure.Duration,
		"%d forks, a put before each; 99%% below %s", len(took), measure.Duration(took[len(took)*99/100]))}, nil
}

const putTable = `{"TableName":"puts","BillingMode":"PAY_PER_REQUEST",
"AttributeDefinitions":[
	{"AttributeName":"PK","AttributeType":"S"},
	{"AttributeName":"SK","AttributeType":"S"},
	{"AttributeName":"g","AttributeType":"S"}],
"KeySchema":[{"AttributeName":"PK","KeyType":"HASH"},{"AttributeName":"SK","KeyType":"RANGE"}],
"GlobalSecondaryIndexes":[{
	"IndexName":"ByG","KeySchema":[{"AttributeName":"g","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}]}`

// putDB returns a database in a store, with empty tables of these definitions.
func putDB(ctx context.Context, st store.Store, definitions ...string) (*life.DB, *api.Service, error) {
	db, err := life.Open(ctx, st)
	if err != nil {
		return nil, nil, err
	}
	s := api.New(db, api.Options{})
	for _, body := range definitions {
		if out, status := s.Serve(ctx, "DynamoDB_20120810.CreateTable", []byte(body), nil); status != http.StatusOK {
			return nil, nil, fmt.Errorf("CreateTable: %s", out)
		}
	}
	return db, s, nil
}

func putItem(ctx context.Context, db *life.DB, it attr.Item) error {
	return db.Update(ctx, func(tx *table.Tx) error {
		t, err := tx.Table("puts")
		if err != nil {
			return err
		}
		_, err = tx.Put(t, it, nil)
		return err
	})
}

// put puts new items into an empty table in memory, one at a time on one core,
// and the rows of the table and of its index into a bare B-tree.
func (t *targets) put(ctx context.Context) ([]Target, error) {
	n := t.items(100_000, 1000)
	items, bodies := make([]attr.Item, n), make([][]byte, n)
	var addresses, values [][]byte
	recorder := layer.Tee{Store: memory.Open(), Put: func(address, value []byte) {
		addresses, values = append(addresses, address), append(values, value)
	}}
	db, _, err := putDB(ctx, recorder, putTable)
	if err != nil {
		return nil, err
	}
	addresses, values = nil, nil // without the description of the table
	for i := range n {
		body := fmt.Appendf(
			nil, `{"PK":{"S":"CUSTOMER#%07d"},"SK":{"S":"ORDER#%d"},"g":{"S":"%d"},"v":{"N":"%d"}}`, i/10, i%10, i%100,
			i,
		)
		bodies[i] = fmt.Appendf(nil, `{"TableName":"puts","Item":%s}`, body)
		if items[i], err = attr.ParseItem(body); err != nil {
			return nil, err
		}
		if err := putItem(ctx, db, items[i]); err != nil {
			return nil, err
		}
	}
	if len(addresses) != 2*n {
		return nil, errors.New("an item is not one row and one index row")
	}

	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var bare, tb, viaAPI []float64
	timed := func(times *[]float64, put func(i int) error) error {
		runtime.GC()
		start := time.Now()
		for i := range n {
			if err := put(i); err != nil {
				return err
			}
		}
		*times = append(*times, float64(time.Since(start))/float64(n))
		return nil
	}
	for range t.Rounds {
		tree := layer.NewBareTree()
		err := timed(&bare, func(i int) error {
			tree.Put(addresses[2*i], values[2*i])
			tree.Put(addresses[2*i+1], values[2*i+1])
			return nil
		})
		if err != nil {
			return nil, err
		}
		db, _, err := putDB(ctx, memory.Open(), putTable)
		if err != nil {
			return nil, err
		}
		if err := timed(&tb, func(i int) error { return putItem(ctx, db, items[i]) }); err != nil {
			return nil, err
		}
		_, service, err := putDB(ctx, memory.Open(), putTable)
		if err != nil {
			return nil, err
		}
		var out []byte
		err = timed(&viaAPI, func(i int) error {
			var status int
			if out, status = service.Serve(ctx, work.Put.Target(), bodies[i], out[:0]); status != http.StatusOK {
				return fmt.Errorf("PutItem: %s", out)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	r, _ := measure.RatioOf(tb, bare)
	ra, _ := measure.RatioOf(viaAPI, bare)
	target := atLeast(
		"put into memory, 1 writer on 1 core, 4 attributes, 1 index", 150_000, 1e9/measure.Median(tb), perSecond,
		"%s; at table, new items; bare %s; through api %s, %s", spread(r), measure.Duration(measure.Median(bare)),
		perSecond(1e9/measure.Median(viaAPI)), measure.Times(ra.Median),
	)
	target.Must += ", or at most 3 × two inserts into a bare B-tree"
	target.Reached += ", " + measure.Times(r.Median)
	target.OK = target.OK || r.Median <= 3
	return []Target{target}, nil
}
