package bench

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/sortkey/sortkey/bench/layer"
	"github.com/sortkey/sortkey/bench/measure"
	"github.com/sortkey/sortkey/bench/work"
	"github.com/sortkey/sortkey/internal/api"
	"github.com/sortkey/sortkey/store/memory"
)

// busy compares the latency of short queries over HTTP while nobody else is there with that
// while another client keeps the server busy.
func (t *targets) busy(ctx context.Context) (rows []Target, err error) {
	const name = "HTTP: 99 % of 10-row queries of one client, against a quiet server, while another "
	kinds := []struct {
		name  string
		bound float64
		load  func(ctx context.Context, r *layer.Remote) error
	}{
		{"puts at full speed", 1.5, t.putting},
		{"scans a table", 2, t.scanning},
		{"builds an index", 2, indexing},
	}
	if len(t.Serve) == 0 {
		for _, k := range kinds {
			row := atMost(name+k.name, k.bound, 0, measure.Times, "")
			rows = append(rows, row.skip("no command given that serves Sortkey"))
		}
		return rows, nil
	}

	s, err := serve(ctx, t.Serve)
	if err != nil {
		return nil, err
	}
	defer s.stop()
	r, err := t.remote(ctx, s.url, work.Find("page").Shape(t.Size))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	ops, err := prepare(ctx, r, t.calls(work.Find("query-10"), r.Shape))
	if err != nil {
		return nil, err
	}

	for _, k := range kinds {
		quiet, loaded := measure.NewSeries("quiet", ops, 1), measure.NewSeries("loaded", ops, 1)
		for range t.items(20, 1) {
			if err := quiet.Round(ctx, 5*t.Duration); err != nil {
				return nil, err
			}
			if err := underLoad(ctx, r, k.load, func() error { return loaded.Round(ctx, 5*t.Duration) }); err != nil {
				return nil, fmt.Errorf("%s: %w", k.name, err)
			}
		}
		p99 := func(h *hdrhistogram.Histogram) float64 { return float64(h.ValueAtQuantile(99)) }
		q, l := p99(quiet.Latency), p99(loaded.Latency)
		rows = append(rows, atMost(
			name+k.name, k.bound, l/q, measure.Times, "%s against %s; half of them within %s against %s",
			measure.Duration(l), measure.Duration(q), measure.Duration(float64(loaded.Latency.ValueAtQuantile(50))),
			measure.Duration(float64(quiet.Latency.ValueAtQuantile(50))),
		))
	}
	return rows, nil
}

// underLoad runs fn while load runs again and again.
func underLoad(
	ctx context.Context, r *layer.Remote, load func(context.Context, *layer.Remote) error, fn func() error,
) error {
	loading, stop := context.WithCancel(ctx)
	defer stop()
	failed := make(chan error, 1)
	go func() {
		for loading.Err() == nil {
			if err := load(ctx, r); err != nil {
				failed <- err
				return
			}
		}
		failed <- nil
	}()
	err := fn()
	stop()
	return errors.Join(err, <-failed)
}

// putting puts a hundred items one after the other.
func (t *targets) putting(ctx context.Context, r *layer.Remote) error {
	return ask(ctx, r, work.Find("put").Calls(r.Shape, 100, t.Seed))
}

// scanning reads a page of a scan.
func (t *targets) scanning(ctx context.Context, r *layer.Remote) error {
	return ask(ctx, r, work.Find("scan-page").Calls(r.Shape, 1, t.Seed))
}

func ask(ctx context.Context, r *layer.Remote, calls []work.Call) error {
	var scratch []byte
	for i := range calls {
		out, status, err := r.Wire.Do(ctx, r.Wire.Request(calls[i].Op.Target(), calls[i].Body(r.Shape)), scratch[:0])
		if err != nil {
			return err
		}
		if scratch = out; status != http.StatusOK {
			return fmt.Errorf("%s: %s", calls[i].Op, out)
		}
	}
	return nil
}

// indexing builds an index of all items, and deletes it.
func indexing(ctx context.Context, r *layer.Remote) error {
	const (
		create = `{"TableName":"` + work.TableName + `",` +
			`"AttributeDefinitions":[{"AttributeName":"flag","AttributeType":"S"},` +
			`{"AttributeName":"n","AttributeType":"N"}],` +
			`"GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":"ByFlag",` +
			`"KeySchema":[{"AttributeName":"flag","KeyType":"HASH"},{"AttributeName":"n","KeyType":"RANGE"}],` +
			`"Projection":{"ProjectionType":"ALL"}}}]}`
		remove = `{"TableName":"` + work.TableName + `",` +
			`"GlobalSecondaryIndexUpdates":[{"Delete":{"IndexName":"ByFlag"}}]}`
	)
	return errors.Join(r.Change(ctx, create), r.Change(ctx, remove))
}

// durableHTTP puts into a server with a folder, beside bare Pebble with sync in this process.
func (t *targets) durableHTTP(ctx context.Context) (rows []Target, err error) {
	const name = "durable put over HTTP, %d clients: rate against bare Pebble batches with sync and as many writers"
	clients := []int{1, 8, 32}
	if len(t.Serve) == 0 {
		for _, n := range clients {
			row := atLeast(fmt.Sprintf(name, n), 0.9, 0, measure.Times, "")
			rows = append(rows, row.skip("no command given that serves Sortkey"))
		}
		return rows, nil
	}

	shape := work.Shape{Items: t.items(20_000, 1000), Collection: 1000, Size: work.DefaultBytes}
	d, done, err := t.open(ctx, layer.Disk, shape, false)
	if err != nil {
		return nil, err
	}
	defer done()
	dir, remove, err := t.tempDir()
	if err != nil {
		return nil, err
	}
	defer remove()
	s, err := serve(ctx, append(slices.Clone(t.Serve), "--data", filepath.Join(dir, "data")))
	if err != nil {
		return nil, err
	}
	defer s.stop()
	r, err := t.remote(ctx, s.url, shape)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	calls := t.calls(work.Find("put"), shape)
	ops, err := prepare(ctx, r, calls)
	if err != nil {
		return nil, err
	}

	for _, n := range clients {
		all, end, err := series(ctx, d, calls, n, layer.Bare)
		if err == nil {
			all = append(all, measure.NewSeries("http", ops, n))
			err = measure.Alternate(ctx, all, t.Rounds, 4*t.Duration)
		}
		end()
		if err != nil {
			return nil, err
		}
		rates := all[0].RatioTo(all[1]) // of rates, so the other way round
		rows = append(rows, atLeast(
			fmt.Sprintf(name, n), 0.9, rates.Median, measure.Times,
			"%s; %.0f a second, bare %.0f", spread(rates), 1e9/all[1].Time(), 1e9/all[0].Time(),
		))
	}
	return rows, nil
}

// writerTable is the definition of a table that has a name and no index.
const writerTable = `{"TableName":%q,"BillingMode":"PAY_PER_REQUEST",
"AttributeDefinitions":[{"AttributeName":"PK","AttributeType":"S"},{"AttributeName":"SK","AttributeType":"S"}],
"KeySchema":[{"AttributeName":"PK","KeyType":"HASH"},{"AttributeName":"SK","KeyType":"RANGE"}]}`

// twoWriters puts into one table in memory by one goroutine, and into two tables by two: tables
// of one database, and of two databases, which share nothing but the machine.
func (t *targets) twoWriters(ctx context.Context) ([]Target, error) {
	const item = `{"TableName":%q,"Item":{"PK":{"S":"CUSTOMER#%07d"},"SK":{"S":"ORDER#%d"},"v":{"N":"%d"}}}`
	var definitions []string
	var requests [][][]byte // by table
	for _, name := range []string{"first", "second"} {
		definitions = append(definitions, fmt.Sprintf(writerTable, name))
		var puts [][]byte
		for i := range t.items(100_000, 1000) {
			puts = append(puts, fmt.Appendf(nil, item, name, i/10, i%10, i))
		}
		requests = append(requests, puts)
	}

	rate := func(databases, writers int) (rate float64, err error) {
		var services []*api.Service
		for range databases {
			db, s, failed := putDB(ctx, memory.Open(), definitions...)
			if failed != nil {
				return 0, failed
			}
			defer func() { err = errors.Join(err, db.Close(ctx)) }()
			services = append(services, s)
		}
		return write(ctx, services, requests[:writers])
	}

	kinds := [...]struct{ databases, writers int }{{1, 1}, {1, 2}, {2, 2}}
	var rates [len(kinds)][]float64
	for range t.items(9, 2) {
		for i, k := range kinds {
			r, err := rate(k.databases, k.writers)
			if err != nil {
				return nil, err
			}
			rates[i] = append(rates[i], r)
		}
	}

	one, shared, apart := rates[0], rates[1], rates[2]
	r, _ := measure.RatioOf(shared, one)
	limit, _ := measure.RatioOf(apart, one)
	const name = "two writers on two tables in memory, JSON in: rate against one on one"
	return []Target{atLeast(name, 1.6, r.Median, measure.Times, "%s; %s, one %s; on two databases %s",
		spread(r), perSecond(measure.Median(shared)), perSecond(measure.Median(one)), measure.Times(limit.Median))}, nil
}

// write sends lists of puts at the same time, to the services in turn, and returns the puts of
// a second.
func write(ctx context.Context, services []*api.Service, lists [][][]byte) (rate float64, err error) {
	errs := make([]error, len(lists))
	puts := 0
	var wg sync.WaitGroup
	begin := time.Now()
	for i, list := range lists {
		puts += len(list)
		s := services[i%len(services)]
		wg.Go(func() {
			var out []byte
			for _, body := range list {
				var status int
				if out, status = s.Serve(ctx, work.Put.Target(), body, out[:0]); status != http.StatusOK {
					errs[i] = fmt.Errorf("PutItem: %s", out)
					return
				}
			}
		})
	}
	wg.Wait()
	return float64(puts) / time.Since(begin).Seconds(), errors.Join(errs...)
}

// deleteTable deletes tables in memory of a thousand and of a million items, over HTTP.
func (t *targets) deleteTable(ctx context.Context) ([]Target, error) {
	const name = "DeleteTable of a million items in memory over HTTP"
	if len(t.Serve) == 0 {
		return []Target{atMost(name, 10e6, 0, measure.Duration, "").skip("no command given that serves Sortkey")}, nil
	}

	var took []float64
	for _, n := range []int{1000, t.items(1_000_000, 2000)} {
		s, err := serve(ctx, t.Serve)
		if err != nil {
			return nil, err
		}
		defer s.stop()
		r, err := t.remote(ctx, s.url, work.Shape{Items: n, Collection: 1000, Size: smallItem})
		if err != nil {
			return nil, err
		}

		begin := time.Now()
		body := fmt.Appendf(nil, `{"TableName":%q}`, work.TableName)
		_, status, err := r.Wire.Do(ctx, r.Wire.Request(work.Op("DeleteTable").Target(), body), nil)
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("DeleteTable: status %d", status)
		}

		took = append(took, float64(time.Since(begin)))
		if err = errors.Join(err, r.Close()); err != nil {
			return nil, err
		}
	}
	return []Target{atMost(name, 10e6, took[1], measure.Duration, "of a thousand %s", measure.Duration(took[0]))}, nil
}
