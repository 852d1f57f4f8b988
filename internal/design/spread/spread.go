// Package spread says what a pattern reads in every partition, not only in the one of its own
// values. Statistics of the rows rank the partitions ([Slices]); requests in those that matter give
// exact figures ([Of]).
package spread

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"math"
	"slices"

	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/wire"
)

// A Question is an access pattern whose request has been run with its own values.
type Question struct {
	Pattern *model.Pattern
	Input   wire.Request
	Report  *explain.Report
}

// Options configure [Of]. The zero value is ready to use.
type Options struct {
	// Pages limits the pages that a request reads. Default: that of [explain.Options].
	Pages int
	// Most limits the partitions that are read, besides those that a [Spread] names, if only
	// reading shows what a filter drops. Default: 256.
	Most int
}

// A Spread is what a pattern reads in all partitions that hold rows of its
// entity, not only in the one that its conditions name.
type Spread struct {
	// Partitions is the number of partitions.
	Partitions int `json:"partitions"`
	// P50 and P95 are the partitions that cost no more than half and 5 % of the
	// others. Worst is the one that costs most.
	P50   Reading `json:"p50"`
	P95   Reading `json:"p95"`
	Worst Reading `json:"worst"`
	// Mean is the average of the read units at the declared scale. Each partition counts as often as it
	// has rows of the pattern, with the values with which the pattern reads most there.
	Mean float64 `json:"mean"`
	// MeanRows is the average of the rows returned, in the same way.
	MeanRows float64 `json:"-"`
	// Readings are all partitions that were read, the worst first.
	Readings []Reading `json:"-"`
}

// A Reading is what a pattern reads in one partition.
type Reading struct {
	Key     PartitionKey    `json:"partition"`
	Request json.RawMessage `json:"request"`
	// Rows are returned, Examined are read. Bytes includes the items that a
	// local index fetches.
	Rows     int     `json:"rows"`
	Examined int     `json:"examined"`
	Bytes    int     `json:"bytes"`
	Pages    int     `json:"pages"`
	Units    float64 `json:"units"`
	Waste    float64 `json:"waste"`
	// Growth is the number of rows at the declared scale for each row examined.
	Growth float64 `json:"growth"`
	// Batch are the units among Units of what is read by the values of the rows.
	Batch float64 `json:"-"`
	// Requests is the number of requests that read it, 0 for one.
	Requests int `json:"-"`
	// Item is an item in the partition that has the values of the request.
	Item *world.Item `json:"-"`
}

// DeclaredRows returns the rows at the declared scale.
func (r *Reading) DeclaredRows() float64 { return float64(r.Rows) * r.Growth }

// DeclaredUnits returns the read units at the declared scale.
func (r *Reading) DeclaredUnits() float64 {
	if r.Growth == 1 {
		return r.Units
	}
	blocks := func(bytes float64) float64 { return math.Max(math.Ceil(bytes/(4<<10)), 1) } // units are rounded up
	each := float64(r.Bytes) / float64(max(r.Requests, 1))
	return (r.Units-r.Batch)*blocks(each*r.Growth)/blocks(each) + r.Batch*r.Growth
}

// DeclaredPages returns the pages at the declared scale.
func (r *Reading) DeclaredPages() float64 {
	n := float64(max(r.Requests, 1))
	return math.Max(float64(r.Pages), n*math.Ceil(float64(r.Bytes)/n*r.Growth/(1<<20)))
}

const (
	// Statistics rank all partitions. Where they are estimates, the highest are
	// read to find the worst.
	likely = 16
	// With a filter, only reading shows what is returned, so up to this many
	// partitions are read, but not more than the bytes.
	readParts = 256
	readBytes = 32 << 20
)

// Of returns what the pattern of a question reads in all partitions, or nil if there is only one.
func Of(ctx context.Context, w *world.World, target explain.Target, q Question, o Options) (*Spread, error) {
	s, err := slicesOf(ctx, w, q)
	if s == nil || err != nil || len(s.all) < 2 {
		return nil, err
	}
	return s.read(ctx, target, o)
}

// Slices returns the slice that the pattern of a question reads in each partition that holds rows of
// its entity, the largest at the declared scale first.
func Slices(ctx context.Context, w *world.World, q Question) ([]Slice, error) {
	s, err := slicesOf(ctx, w, q)
	if s == nil || err != nil {
		return nil, err
	}
	all := make([]Slice, len(s.all))
	for i, c := range s.all {
		all[i] = c.Slice
	}
	return all, nil
}

// A Slice is what a request reads in one partition.
type Slice struct {
	Part world.Part
	// Rows and Bytes are generated, or in the file. Growth is the number of rows at the declared
	// scale for each of them.
	Rows, Bytes int
	Growth      float64
}

// slicesOf returns the slices of a question, or nil if it has none in partitions.
func slicesOf(ctx context.Context, w *world.World, q Question) (*spreader, error) {
	r := q.Report
	if r == nil || r.Refused != nil || r.Operation == "Scan" {
		return nil, nil
	}
	t := w.Model.Table(r.Table)
	if t == nil || r.Index != "" && t.Index(r.Index) == nil {
		return nil, nil
	}
	space, err := w.Space(ctx, t, t.Index(r.Index))
	if err != nil {
		return nil, err
	}
	s := newSpreader(w, space, q)
	if s == nil {
		return nil, nil
	}
	if err := s.find(ctx); err != nil {
		return nil, err
	}
	slices.SortStableFunc(s.all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(float64(b.Bytes)*b.Growth, float64(a.Bytes)*a.Growth), cmp.Compare(b.Rows, a.Rows))
	})
	return s, nil
}

// read reads the candidates that matter.
func (s *spreader) read(ctx context.Context, target explain.Target, o Options) (*Spread, error) {
	n := len(s.all)
	// The candidates are in descending order.
	rank := func(share float64) int { return n - int(math.Ceil(share*float64(n))) }
	p50, p95 := rank(0.5), rank(0.95)
	chosen := map[int]bool{0: true, p50: true, p95: true}
	if s.estimated {
		for i := range min(likely, n) {
			chosen[i] = true
		}
	}

	if s.q.Report.Filter != "" {
		bytes, parts := 0, cmp.Or(o.Most, readParts)
		for k := range parts {
			i := k // the highest first, then evenly
			if n > parts && k >= parts/4 {
				i = parts/4 + (k-parts/4)*(n-parts/4)/(parts*3/4)
			}
			if i >= n || bytes > readBytes {
				break
			}
			bytes += s.all[i].Bytes
			chosen[i] = true
		}
	}

	out := &Spread{Partitions: n}
	byRank := map[int]Reading{}
	for _, i := range slices.Sorted(maps.Keys(chosen)) {
		r, err := s.reading(ctx, target, s.all[i], o)
		if err != nil {
			return nil, err
		}
		if r == nil {
			continue
		}
		byRank[i] = *r
		out.Readings = append(out.Readings, *r)
	}

	if len(out.Readings) == 0 {
		return nil, nil
	}
	slices.SortStableFunc(out.Readings, func(a, b Reading) int {
		return cmp.Or(
			cmp.Compare(b.DeclaredUnits(), a.DeclaredUnits()), cmp.Compare(b.Bytes, a.Bytes),
			cmp.Compare(b.Rows, a.Rows),
		)
	})

	if len(out.Readings) == n {
		out.P50, out.P95 = out.Readings[p50], out.Readings[p95]
	} else {
		out.P50, out.P95 = byRank[p50], byRank[p95]
	}

	out.Worst = out.Readings[0]
	out.Mean, out.MeanRows = s.mean(byRank)
	return out, nil
}

// mean returns the average units and rows of all candidates: of those that were read as they were, of the
// others by the size of their rows.
func (s *spreader) mean(readings map[int]Reading) (units, rows float64) {
	consistent := s.p.Consistent || s.q.Report.Consistent
	weights := 0.0
	for i, c := range s.all {
		cost, returned := table.ReadUnits(int(float64(c.Bytes)*c.Growth), consistent), float64(c.Rows)*c.Growth
		if r, ok := readings[i]; ok {
			cost, returned = r.DeclaredUnits(), r.DeclaredRows()
		}
		weight := max(float64(c.Rows)*c.Growth, 1)
		units += cost * weight
		rows += returned * weight
		weights += weight
	}
	return units / max(weights, 1), rows / max(weights, 1)
}

func (s *spreader) reading(
	ctx context.Context, target explain.Target, c candidate, o Options,
) (*Reading, error) {
	in, err := s.request(c)
	if err != nil {
		return nil, nil // such as a value that the template refuses
	}
	q := explain.Question{Input: in}
	rep, err := explain.Run(ctx, target, q, explain.Options{Pages: o.Pages, Items: -1, Brief: true})
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		return nil, nil
	}
	if rep.Refused != nil {
		return nil, nil
	}
	return &Reading{
		Key: PartitionKeyOf(s.space, c.row), Request: s.text(in),
		Rows: rep.Returned, Examined: rep.Examined, Pages: rep.Pages, Bytes: rep.Bytes + rep.Fetched,
		Units: rep.Units(s.p.Consistent), Waste: rep.Waste(), Growth: c.Growth, Item: c.item,
	}, nil
}
