package bench

import (
	"context"
	"fmt"

	"github.com/sortkey/sortkey/bench/layer"
	"github.com/sortkey/sortkey/bench/measure"
	"github.com/sortkey/sortkey/bench/work"
)

// tablePage: a page of 1 MB visited at table, against a walk of a bare B-tree
// over the same bounds; both read every byte of every value.
func (t *targets) tablePage(ctx context.Context) ([]Target, error) {
	all, err := t.compare(ctx, "page", layer.Bare, layer.Store, layer.Table)
	if err != nil {
		return nil, err
	}
	bare, st, tb := all[0], all[1], all[2]
	r := ratio(tb, bare)
	return []Target{atMost("table: Query of a 1 MB page, rows visited in place, against a bare B-tree walk that reads every value's bytes",
		"at most 2 ×", 2, r.Median, times(r.Median), "%s; bare %s, store %.2f ×, table %s", spread(r),
		duration(measure.Median(bare.PerOp())), ratio(st, bare).Median, duration(measure.Median(tb.PerOp())))}, nil
}

// apiPage: the same page as a response body.
func (t *targets) apiPage(ctx context.Context) ([]Target, error) {
	all, err := t.compare(ctx, "page", layer.API)
	if err != nil {
		return nil, err
	}
	s := all[0]
	rate := measure.Median(measure.Each(s.Rounds, func(r measure.Round) float64 { return float64(r.Bytes) / float64(r.Nanos) * 1e3 }))
	size := measure.Median(measure.Each(s.Rounds, func(r measure.Round) float64 { return float64(r.Bytes) / float64(r.Ops) }))
	ns, allocs := perOp(s)
	const name = "api: the same page as a complete response body"
	return []Target{
		atLeast(name+", JSON", "at least 400 MB/s", 400, rate, fmt.Sprintf("%.0f MB/s", rate), "%.2f MB of JSON in %s", size/1e6, duration(ns)),
		atMost(name+", allocations", "at most 20", 20, round(allocs), fmt.Sprintf("%.1f", allocs), ""),
	}, nil
}

// filter: a page all of whose rows a comparison of one attribute drops. The
// allocations of a row are the difference between a page and ten rows of it.
func (t *targets) filter(ctx context.Context) ([]Target, error) {
	d, err := t.memory(ctx)
	if err != nil {
		return nil, err
	}
	calls := t.calls(work.Find("filter-none"), d.Shape)
	few := make([]work.Call, len(calls))
	for i := range calls {
		few[i] = calls[i]
		few[i].Range.Limit = 10
	}
	all, err := t.series(ctx, d, calls, 1, layer.Table, layer.API)
	if err != nil {
		return nil, err
	}
	short, err := t.series(ctx, d, few, 1, layer.Table, layer.API)
	if err != nil {
		return nil, err
	}
	all = append(all, short...)
	if err := t.alternate(ctx, all); err != nil {
		return nil, err
	}
	rows := 0.0
	for i := range calls {
		rows += float64(calls[i].Examined) / float64(len(calls))
	}
	ns := func(s *measure.Series) float64 { n, _ := perOp(s); return n / rows }
	allocs := func(s, short *measure.Series) float64 {
		_, many := perOp(s)
		_, few := perOp(short)
		return max(many-few, 0) / (rows - 10)
	}
	tb, viaAPI := allocs(all[0], all[2]), allocs(all[1], all[3])
	const name = "filter that drops every row, a comparison of one attribute"
	const none = 0.0005 // what the measuring itself allocates now and then
	return []Target{
		atMost(name+", time", "at most 200 ns a row", 200, ns(all[0]), fmt.Sprintf("%.0f ns a row", ns(all[0])), "table, %.0f rows a page; through api %.0f ns a row", rows, ns(all[1])),
		atMost(name+", allocations", "0 a row", none, tb, fmt.Sprintf("%.4f a row", tb), "table; through api %.4f", viaAPI),
	}, nil
}

// apiGet: GetItem from body to body.
func (t *targets) apiGet(ctx context.Context) ([]Target, error) {
	all, err := t.compare(ctx, "get", layer.API)
	if err != nil {
		return nil, err
	}
	ns, allocs := perOp(all[0])
	const name = "api: GetItem without a socket"
	return []Target{
		atMost(name+", time", "at most 3 µs", 3000, ns, duration(ns), "item of 5 attributes and 100 bytes, keys all over 100,000 items"),
		atMost(name+", allocations", "at most 25", 25, round(allocs), fmt.Sprintf("%.1f", allocs), ""),
	}, nil
}

// sdkClient: the SDK's client in process, against the same calls whose
// transport has the answer ready.
func (t *targets) sdkClient(ctx context.Context) (rows []Target, err error) {
	for _, w := range []struct{ workload, name string }{{"get", "GetItem"}, {"query-10", "Query of 10"}} {
		all, err := t.compare(ctx, w.workload, layer.Client, layer.ClientCanned)
		if err != nil {
			return nil, err
		}
		rows = append(rows, cannedTarget("sdk.Client in process: "+w.name+" against a transport with a canned answer", "at most 1.3 ×", 1.3, all))
	}
	return rows, nil
}

// sdkDirect: the client without JSON, against the same calls answered by a
// middleware at the same place.
func (t *targets) sdkDirect(ctx context.Context) ([]Target, error) {
	all, err := t.compare(ctx, "get", layer.Direct, layer.DirectCanned)
	if err != nil {
		return nil, err
	}
	return []Target{cannedTarget("sdk.Direct: GetItem against a middleware with a canned output", "at most 1.5 ×", 1.5, all)}, nil
}

func cannedTarget(name, must string, bound float64, all []*measure.Series) Target {
	r := ratio(all[0], all[1])
	ns, allocs := perOp(all[0])
	cannedNs, cannedAllocs := perOp(all[1])
	return atMost(name, must, bound, r.Median, times(r.Median), "%s; %s and %.0f allocations, canned %s and %.0f",
		spread(r), duration(ns), allocs, duration(cannedNs), cannedAllocs)
}

// diskPage: a page of 1 MB on disk, its blocks cached, against an iterator of
// Pebble alone with the same bounds over the same files.
func (t *targets) diskPage(ctx context.Context) ([]Target, error) {
	d, done, err := t.open(ctx, layer.Disk, work.Find("page").Shape(t.Size), false)
	if err != nil {
		return nil, err
	}
	defer done()
	all, err := t.series(ctx, d, t.calls(work.Find("page"), d.Shape), 1, layer.Bare, layer.Store, layer.Table)
	if err != nil {
		return nil, err
	}
	if err := t.alternate(ctx, all); err != nil {
		return nil, err
	}
	r := ratio(all[2], all[0])
	return []Target{atMost("disk: Query of a 1 MB page, cache warm, against a bare Pebble iterator with the same bounds",
		"at most 1.7 ×", 1.7, r.Median, times(r.Median), "%s; at table, bare %s; store %.2f ×", spread(r),
		duration(measure.Median(all[0].PerOp())), ratio(all[1], all[0]).Median)}, nil
}

// growth: a query of 10 rows in a table of 10 million and in one of 1,000.
func (t *targets) growth(ctx context.Context) ([]Target, error) {
	report, err := grow(ctx, t.Config, []int{t.items(GrowthTo, 4*GrowthFrom)})
	if err != nil {
		return nil, err
	}
	const name = "10-row Query in a table of 10 million items against one of 1 thousand"
	const must = "at most 1.5 ×"
	g := report.Growth
	if g.Stopped != "" {
		return []Target{{Measure: name, Must: must, Skipped: g.Stopped}}, nil
	}
	p := g.Steps[0].Points
	r := p[2].Ratio
	return []Target{atMost(name, must, 1.5, r.Median, times(r.Median), "%s; through api, %s, partitions all over the table; table %.2f ×, bare B-tree %.2f ×; %d partitions again and again: api %.2f ×, table %.2f ×, bare %.2f ×",
		spread(r), duration(p[2].NsPerOp), p[1].Ratio.Median, p[0].Ratio.Median, growthHot, p[2].Hot.Median, p[1].Hot.Median, p[0].Hot.Median)}, nil
}
