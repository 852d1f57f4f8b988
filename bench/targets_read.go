package bench

import (
	"context"
	"math"

	"github.com/sortkey/sortkey/bench/layer"
	"github.com/sortkey/sortkey/bench/measure"
	"github.com/sortkey/sortkey/bench/work"
	"github.com/sortkey/sortkey/internal/text"
)

// tenth rounds a number of allocations: the process allocates a little besides.
func tenth(x float64) float64 { return math.Round(x*10) / 10 }

func (t *targets) tablePage(ctx context.Context) ([]Target, error) {
	all, err := t.onTable(ctx, "page", 1, layer.Bare, layer.Store, layer.Table)
	if err != nil {
		return nil, err
	}
	bare, st, tb := all[0], all[1], all[2]
	r := tb.RatioTo(bare)
	return []Target{atMost(
		"table: Query of a 1 MB page, rows visited in place, against a bare B-tree walk that reads every value",
		2, r.Median, measure.Times, "%s; bare %s, store %s, table %s", spread(r),
		measure.Duration(bare.Time()), measure.Times(st.RatioTo(bare).Median), measure.Duration(tb.Time()),
	)}, nil
}

func (t *targets) apiPage(ctx context.Context) ([]Target, error) {
	all, err := t.onTable(ctx, "page", 1, layer.API)
	if err != nil {
		return nil, err
	}
	s := all[0]
	rate := s.Median(func(r measure.Round) float64 { return float64(r.Bytes) / float64(r.Nanos) * 1e3 })
	size := s.Median(func(r measure.Round) float64 { return r.PerOp(float64(r.Bytes)) })
	const name = "api: the same page as a complete response body, "
	return []Target{
		atLeast(name+"JSON", 400, rate, func(x float64) string { return text.Figure(x) + " MB/s" },
			"%.2f MB of JSON in %s", size/1e6, measure.Duration(s.Time())),
		atMost(name+"allocations", 20, tenth(s.Allocs()), text.Figure, ""),
	}, nil
}

// filter takes the allocations of a row from the difference between a page and
// ten rows of it.
func (t *targets) filter(ctx context.Context) ([]Target, error) {
	d, err := t.table(ctx)
	if err != nil {
		return nil, err
	}

	calls := t.calls(work.Find("filter-none"), d.Shape)
	few := make([]work.Call, len(calls))
	rows := 0.0
	for i := range calls {
		rows += float64(calls[i].Examined) / float64(len(calls))
		few[i] = calls[i]
		few[i].Range.Limit = 10
	}

	pages, done, err := series(ctx, d, calls, 1, layer.Table, layer.API)
	defer done()
	if err != nil {
		return nil, err
	}

	tens, done, err := series(ctx, d, few, 1, layer.Table, layer.API)
	defer done()
	if err != nil {
		return nil, err
	}
	if err := measure.Alternate(ctx, append(pages, tens...), t.Rounds, t.Duration); err != nil {
		return nil, err
	}

	allocs := func(i int) float64 { return max(pages[i].Allocs()-tens[i].Allocs(), 0) / (rows - 10) }
	const name = "filter that drops every row, a comparison of one attribute, "
	perRow := atMost(name+"allocations", 0.0005, // the process allocates a little besides
		allocs(0), func(x float64) string { return text.Figure(x) + " per row" }, "table; through api %.4f", allocs(1))
	perRow.Must = "0 per row"
	return []Target{
		atMost(
			name+"time", 200, pages[0].Time()/rows,
			func(x float64) string { return measure.Duration(x) + " per row" },
			"table, %.0f rows a page; through api %s per row", rows, measure.Duration(pages[1].Time()/rows),
		),
		perRow,
	}, nil
}

func (t *targets) apiGet(ctx context.Context) ([]Target, error) {
	all, err := t.onTable(ctx, "get", 1, layer.API)
	if err != nil {
		return nil, err
	}
	const name = "api: GetItem without a socket, "
	return []Target{
		atMost(
			name+"time", 3000, all[0].Time(), measure.Duration,
			"item of 5 attributes and 100 bytes, keys all over 100,000 items",
		),
		atMost(name+"allocations", 25, tenth(all[0].Allocs()), text.Figure, ""),
	}, nil
}

// http has clients enough to keep all processors busy, so that the time of an
// operation is processor time and not the time of waking up.
func (t *targets) http(ctx context.Context) ([]Target, error) {
	all, err := t.onTable(ctx, "get", peerWorkers, layer.HTTP, layer.HTTPCanned)
	if err != nil {
		return nil, err
	}
	return []Target{
		againstCanned("HTTP, 8 clients: GetItem against a bare net/http handler with canned bytes", 1.6, all),
	}, nil
}

func (t *targets) sdkClient(ctx context.Context) (rows []Target, err error) {
	for _, w := range []struct{ workload, name string }{{"get", "GetItem"}, {"query-10", "Query of 10"}} {
		all, err := t.onTable(ctx, w.workload, 1, layer.Client, layer.ClientCanned)
		if err != nil {
			return nil, err
		}
		rows = append(
			rows, againstCanned("sdk.Client in process: "+w.name+" against a transport with a canned answer", 1.3, all),
		)
	}
	return rows, nil
}

func (t *targets) sdkDirect(ctx context.Context) (rows []Target, err error) {
	for _, w := range []struct{ workload, name string }{{"get", "GetItem"}, {"query-10", "Query of 10"}} {
		all, err := t.onTable(ctx, w.workload, 1, layer.Direct, layer.DirectCanned)
		if err != nil {
			return nil, err
		}
		rows = append(rows, againstCanned("sdk.Direct: "+w.name+" against a middleware with a canned output", 1.5, all))
	}
	return rows, nil
}

// againstCanned judges a layer by its canned yardstick, which follows it.
func againstCanned(name string, bound float64, all []*measure.Series) Target {
	s, canned := all[0], all[1]
	r := s.RatioTo(canned)
	return atMost(name, bound, r.Median, measure.Times, "%s; %s and %.0f allocations, canned %s and %.0f",
		spread(r), measure.Duration(s.Time()), s.Allocs(), measure.Duration(canned.Time()), canned.Allocs())
}

func (t *targets) diskPage(ctx context.Context) ([]Target, error) {
	d, done, err := t.open(ctx, layer.Disk, work.Find("page").Shape(t.Size), false)
	if err != nil {
		return nil, err
	}
	defer done()
	all, err := t.run(ctx, d, "page", 1, t.Duration, layer.Bare, layer.Store, layer.Table)
	if err != nil {
		return nil, err
	}
	r := all[2].RatioTo(all[0])
	return []Target{atMost(
		"disk: Query of a 1 MB page, cache warm, against a bare Pebble iterator with the same bounds",
		1.7, r.Median, measure.Times, "%s; at table, bare %s; store %s", spread(r),
		measure.Duration(all[0].Time()), measure.Times(all[1].RatioTo(all[0]).Median),
	)}, nil
}

func (t *targets) growth(ctx context.Context) ([]Target, error) {
	c := t.Config
	c.Calls = t.items(growthCalls, hotCalls)
	report, err := grow(ctx, c, []int{t.items(GrowthTo, 4*GrowthFrom)})
	if err != nil {
		return nil, err
	}
	target := func(p []GrowthPoint) Target {
		bare, tb, api := p[0], p[1], p[2]
		return atMost(
			"10-row Query in a table of 10 million items against one of 1,000", 1.5, api.Ratio.Median, measure.Times,
			"%s; through api, %s, partitions all over the table; table %s, bare B-tree %s; the same %d partitions: "+
				"api %s, table %s, bare %s",
			spread(api.Ratio), measure.Duration(api.NsPerOp),
			measure.Times(tb.Ratio.Median), measure.Times(bare.Ratio.Median),
			hotCalls, measure.Times(api.Hot.Median), measure.Times(tb.Hot.Median), measure.Times(bare.Hot.Median),
		)
	}
	if why := report.Growth.Stopped; why != "" {
		return []Target{target(make([]GrowthPoint, 3)).skip(why)}, nil
	}
	return []Target{target(report.Growth.Steps[0].Points)}, nil
}
