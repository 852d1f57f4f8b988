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
	"github.com/sortkey/sortkey/internal/table"
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
			rows = append(rows, atMost(name+k.name, k.bound, 0, measure.Times, "").skip("no command given that serves Sortkey"))
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
		rows = append(rows, atMost(name+k.name, k.bound, l/q, measure.Times, "%s against %s; half of them within %s against %s",
			measure.Duration(l), measure.Duration(q), measure.Duration(float64(loaded.Latency.ValueAtQuantile(50))),
			measure.Duration(float64(quiet.Latency.ValueAtQuantile(50)))))
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
	return errors.Join(
		r.Change(ctx, `{"TableName":"`+work.TableName+`","AttributeDefinitions":[{"AttributeName":"flag","AttributeType":"S"},`+
			`{"AttributeName":"n","AttributeType":"N"}],"GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":"ByFlag","KeySchema":[`+
			`{"AttributeName":"flag","KeyType":"HASH"},{"AttributeName":"n","KeyType":"RANGE"}],"Projection":{"ProjectionType":"ALL"}}}]}`),
		r.Change(ctx, `{"TableName":"`+work.TableName+`","GlobalSecondaryIndexUpdates":[{"Delete":{"IndexName":"ByFlag"}}]}`),
	)
}

// durableHTTP puts into a server with a folder, beside bare Pebble with sync in this process.
func (t *targets) durableHTTP(ctx context.Context) (rows []Target, err error) {
	const name = "durable put over HTTP, %d clients: rate against bare Pebble batches with sync and as many writers"
	clients := []int{1, 8, 32}
	if len(t.Serve) == 0 {
		for _, n := range clients {
			rows = append(rows, atLeast(fmt.Sprintf(name, n), 0.9, 0, measure.Times, "").skip("no command given that serves Sortkey"))
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
		rows = append(rows, atLeast(fmt.Sprintf(name, n), 0.9, rates.Median, measure.Times, "%s; %.0f a second, bare %.0f",
			spread(rates), 1e9/all[1].Time(), 1e9/all[0].Time()))
	}
	return rows, nil
}

// twoWriters puts into one table in memory by one goroutine, and into two tables by two: of one
// database, and of two databases, which share nothing but the machine.
func (t *targets) twoWriters(ctx context.Context) ([]Target, error) {
	n := t.items(100_000, 1000)
	tables := [2]string{"first", "second"}
	var requests [2][][]byte
	for i, name := range tables {
		for row := range n {
			requests[i] = append(requests[i], fmt.Appendf(nil,
				`{"TableName":%q,"Item":{"PK":{"S":"CUSTOMER#%07d"},"SK":{"S":"ORDER#%d"},"v":{"N":"%d"}}}`, name, row/10, row%10, row))
		}
	}
	var one, shared, apart []float64 // rates
	for range t.items(9, 2) {
		for _, kind := range []struct {
			rates     *[]float64
			databases int
			writers   int
		}{{&one, 1, 1}, {&shared, 1, 2}, {&apart, 2, 2}} {
			var services []*api.Service
			var dbs []*table.DB
			for range kind.databases {
				db, s, err := putDB(ctx, memory.Open())
				if err != nil {
					return nil, err
				}
				dbs, services = append(dbs, db), append(services, s)
				if err := createTables(ctx, s, tables[:]); err != nil {
					return nil, err
				}
			}
			rate, err := write(ctx, services, requests[:kind.writers])
			for _, db := range dbs {
				err = errors.Join(err, db.Close(ctx))
			}
			if err != nil {
				return nil, err
			}
			*kind.rates = append(*kind.rates, rate)
		}
	}
	r, _ := measure.RatioOf(shared, one)
	limit, _ := measure.RatioOf(apart, one)
	return []Target{atLeast("two writers on two tables in memory, JSON in: rate against one on one", 1.6, r.Median, measure.Times,
		"%s; %s, one %s; on two databases %s", spread(r), perSecond(measure.Median(shared)), perSecond(measure.Median(one)),
		measure.Times(limit.Median))}, nil
}

// createTables creates tables with the keys PK and SK.
func createTables(ctx context.Context, s *api.Service, names []string) error {
	for _, name := range names {
		body := fmt.Appendf(nil, `{"TableName":%q,"BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"PK",`+
			`"AttributeType":"S"},{"AttributeName":"SK","AttributeType":"S"}],"KeySchema":[{"AttributeName":"PK","KeyType":"HASH"},`+
			`{"AttributeName":"SK","KeyType":"RANGE"}]}`, name)
		if out, status := s.Serve(ctx, "DynamoDB_20120810.CreateTable", body, nil); status != http.StatusOK {
			return fmt.Errorf("CreateTable: %s", out)
		}
	}
	return nil
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
		_, status, err := r.Wire.Do(
			ctx, r.Wire.Request(work.Op("DeleteTable").Target(), fmt.Appendf(nil, `{"TableName":%q}`, work.TableName)), nil,
		)
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
