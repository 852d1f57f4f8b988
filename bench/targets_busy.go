package bench

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/sortkey/sortkey/bench/measure"
	"github.com/sortkey/sortkey/bench/work"
	"github.com/sortkey/sortkey/internal/api"
	"github.com/sortkey/sortkey/internal/tests/processor"
	"github.com/sortkey/sortkey/store/memory"
)

// durableHTTP measures the processor time of servers for a put: what a folder takes beyond memory.
func (t *targets) durableHTTP(ctx context.Context) (rows []Target, err error) {
	const bound = 20e3
	const name = "durable put over HTTP, 8 clients: processor time of the server beyond the same put in memory"
	switch {
	case len(t.Serve) == 0:
		return []Target{atMost(name, bound, 0, measure.Duration, "").skip("no command given that serves Sortkey")}, nil
	case processor.Time(os.Getpid()) == 0:
		why := "this system does not report the processor time of a process"
		return []Target{atMost(name, bound, 0, measure.Duration, "").skip(why)}, nil
	}

	shape := work.Shape{Items: t.items(20_000, 1000), Collection: 1000, Size: work.DefaultBytes}
	calls := t.calls(work.Find("put"), shape)
	dir, remove, err := t.tempDir()
	if err != nil {
		return nil, err
	}
	defer remove()
	var all []*measure.Series
	for _, options := range [][]string{{"--data", filepath.Join(dir, "data")}, nil} {
		s, err := serve(ctx, append(slices.Clone(t.Serve), options...))
		if err != nil {
			return nil, err
		}
		defer s.stop()
		r, err := t.remote(ctx, s.url, shape)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, r.Close()) }()
		ops, err := prepare(ctx, r, calls)
		if err != nil {
			return nil, err
		}
		series := measure.NewSeries(s.url, ops, peerWorkers)
		series.Process = s.cmd.Process.Pid
		all = append(all, series)
	}

	if err := measure.Alternate(ctx, all, t.Rounds, 4*t.Duration); err != nil {
		return nil, err
	}
	folder, memory := measure.Median(all[0].ProcessorPerOp()), measure.Median(all[1].ProcessorPerOp())
	return []Target{atMost(name, bound, folder-memory, measure.Duration, "%s, in memory %s; %.0f puts a second",
		measure.Duration(folder), measure.Duration(memory), 1e9/all[0].Time())}, nil
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
	r, _ := measure.RatioOf(shared, apart)
	alone, _ := measure.RatioOf(shared, one)
	limit, _ := measure.RatioOf(apart, one)
	const name = "two writers on two tables in memory, JSON in: rate against two on two databases"
	return []Target{atLeast(name, 0.97, r.Median, measure.Times, "%s; %s, %s of one on one, which is %s; databases %s",
		spread(r), perSecond(measure.Median(shared)), measure.Times(alone.Median), perSecond(measure.Median(one)),
		measure.Times(limit.Median))}, nil
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
