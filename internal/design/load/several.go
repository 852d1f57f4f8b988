package load

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/internal/table"
)

// asked is a value with which a pattern of several requests, or of windows, is asked.
type asked struct {
	id    string
	row   *dataset.Row // has the value; nil for values of which only the number is known
	parts []portion    // with rows
	// On average at the declared scale: the read units, without those of requests that read nothing, and the rows;
	// held are the rows that there are without a limit.
	units, rows, held float64
	most              most
	times             float64 // values for which it stands
	often             float64 // weight of each of them among all requests
	again             int     // of those that stand for values of the same rows, the number of those before it
}

// A portion is what a value has in one partition.
type portion struct {
	s      *spreader
	c      *candidate
	chance float64 // see volumes
}

// most is what the requests for a value read at most at the declared scale, and in the sample. The read units are those
// beyond what requests cost that read nothing; then are those of the items to which the rows lead. The args are those
// of the busiest window, or nil.
type most struct {
	units, rows, bytes    float64
	then                  float64
	sampled, sampledBytes int
	args                  []string
}

// empty reports whether no request finds rows of the entity.
func (v *asked) empty() bool { return len(v.parts) == 0 }

// valuesOf returns the values of a candidate that are not fixed.
func (s *spreader) valuesOf(c *candidate) string {
	var id strings.Builder
	for _, name := range slices.Concat(s.hash, s.free) {
		w, _ := s.condition(name)
		id.WriteString(s.value(c.row.Item, w) + "\x00")
	}
	return id.String()
}

// spreadersOf returns a spreader with its candidates for each question, but only one for those that differ in their
// time alone, if that is asked for in windows. It returns nil if one has none, or all together have too many.
func spreadersOf(
	ctx context.Context, w *dataset.Dataset, questions []question, win *windows,
) (all []*spreader, err error) {
	candidates := 0
	for _, q := range questions {
		if win != nil && slices.ContainsFunc(all, func(s *spreader) bool { return win.alike(s.p, q.Pattern) }) {
			continue
		}
		s, err := slicesOf(ctx, w, q, win)
		if s == nil || err != nil {
			return nil, err
		}
		all = append(all, s)
		if candidates += len(s.all); candidates > mostParts {
			return nil, nil
		}
	}
	return all, nil
}

// alike reports whether two patterns differ in the time of their windows alone.
func (w *windows) alike(a, b *model.Pattern) bool {
	for i := range a.Where {
		if i != w.at && !slices.Equal(a.Where[i].Args, b.Where[i].Args) {
			return false
		}
	}
	return true
}

// mostParts limits the requests for all values that are kept.
const mostParts = 1 << 22

// valuesOfAll returns the values of the equalities of several requests, which have others fixed, such as the shards of
// each day.
func valuesOfAll(spreaders []*spreader) (list []*asked) {
	all := map[string]*asked{}
	for _, s := range spreaders {
		for k := range s.all {
			c := &s.all[k]
			if c.row == nil {
				continue
			}
			id := s.valuesOf(c)
			if c.again > 0 {
				id += "\x00" + strconv.Itoa(c.again)
			}
			v := all[id]
			if v == nil {
				v = &asked{id: id, row: c.row, again: c.again}
				all[id], list = v, append(list, v)
			}
			if v.times = max(v.times, c.times); c.empty {
				continue
			}
			empty := table.ReadUnits(0, s.consistent())
			units, rows := s.cost(c)
			v.parts = append(v.parts, portion{s: s, c: c})
			v.units, v.rows, v.held = v.units+units-empty, v.rows+rows, v.held+c.held
			v.most.units += table.ReadUnits(int(c.bytes), s.consistent()) - empty
			v.most.rows, v.most.bytes, v.most.then = v.most.rows+c.rows, v.most.bytes+c.bytes, v.most.then+c.then
			v.most.sampled, v.most.sampledBytes = v.most.sampled+c.Rows, v.most.sampledBytes+c.Bytes
		}
	}
	return list
}

// several adds what a pattern of several requests, or of windows, reads.
func (t *Table) several(ctx context.Context, r *Reads, p *model.Pattern, questions []question) ([]*spreader, error) {
	win := windowsOf(p)
	spreaders, err := spreadersOf(ctx, t.w, questions, win)
	if err != nil || spreaders == nil {
		return nil, err
	}
	var list []*asked
	requests := float64(len(questions))
	if win == nil {
		list = valuesOfAll(spreaders)
	} else {
		list = win.values(spreaders)
		requests = win.shards * win.periods
	}
	empty := table.ReadUnits(0, spreaders[0].consistent())
	for _, v := range list {
		v.units += requests * empty
		if v.most.units += requests * empty; v.most.args != nil {
			first, _, _ := moments(v.most.args[0])
			from, _ := win.unit.place(first)
			v.most.units += (win.shards*win.periodsFrom(from) - requests) * empty
		}
	}
	slices.SortFunc(list, func(a, b *asked) int {
		return cmp.Or(
			cmp.Compare(b.most.units+b.most.then, a.most.units+a.most.then), cmp.Compare(b.most.bytes, a.most.bytes),
			cmp.Compare(b.most.rows, a.most.rows), cmp.Compare(b.held, a.held), cmp.Compare(a.id, b.id),
		)
	})
	z := zipf{skew: p.Skew}
	for _, v := range list {
		byRows := 0.0
		if !v.empty() {
			byRows = max(v.held, 1)
		}
		v.often = often(p.Asked, byRows, v.times, &z)
	}
	for _, s := range spreaders {
		s.asked(list, win != nil)
	}
	if r.windowed = win != nil; p.Rate > 0 {
		for _, s := range spreaders {
			r.loads = append(r.loads, s.loads())
		}
	}
	if len(questions) == 1 {
		r.Slices = slicesIn(list)
	}
	if len(list) > 1 || win != nil && len(list) > 0 {
		r.Spread, err = spreadOf(ctx, t.target, p, list, spreaders[0])
	}
	return spreaders, err
}

// asked sets how often the candidates of a spreader are asked for: those of the values, among them values without rows
// in its partitions.
func (s *spreader) asked(list []*asked, windowed bool) {
	s.weights, s.values = 0, 0
	all := s.all
	s.all = nil
	for _, v := range list {
		s.weights, s.values = s.weights+v.often*v.times, s.values+v.times
		has := false
		for _, p := range v.parts {
			if p.s == s {
				has = true
				c := *p.c
				c.often = v.often
				s.all = append(s.all, c)
			}
		}
		if !has {
			s.all = append(s.all, candidate{
				row: v.row, empty: v.row != nil, times: v.times, often: v.often, again: v.again,
			})
		}
	}
	if windowed {
		return
	}
	for i := range all { // values that no item has
		if all[i].row == nil {
			s.all = append(s.all, all[i])
		}
	}
}

// slicesIn returns the largest slice of each value.
func slicesIn(list []*asked) (all []Slice) {
	for _, v := range list {
		var largest *candidate
		for _, p := range v.parts {
			if largest == nil || p.c.bytes > largest.bytes {
				largest = p.c
			}
		}
		if largest != nil && v.again == 0 && len(all) < mostSlices {
			all = append(all, largest.Slice)
		}
	}
	return all
}

// spreadOf returns what a pattern reads for all values, which come in the order of their cost.
func spreadOf(
	ctx context.Context, target explain.Target, p *model.Pattern, list []*asked, s *spreader,
) (*Spread, error) {
	out := &Spread{}
	partitions := map[dataset.Part]bool{}
	var rows, units, weights float64
	for _, v := range list {
		if v.row != nil && v.again == 0 {
			out.Values++
			if v.empty() {
				out.Empty++
			}
		}
		for _, p := range v.parts {
			partitions[p.c.Part] = true
		}
		weight := v.times * v.often
		weights, units, rows = weights+weight, units+v.units*weight, rows+v.rows*weight
	}
	out.Partitions = len(partitions)
	if weights > 0 {
		out.Mean, out.MeanRows = units/weights, rows/weights
	}

	rankOf := ranksOf(len(list), func(i int) float64 { return list[i].times * list[i].often })
	p50, p95 := rankOf(0.5), rankOf(0.95)
	chosen := map[int]bool{0: true, p50: true, p95: true}
	if s.q.Report.Filter != "" { // only reading shows what it returns
		for i := range min(len(list), readParts) {
			chosen[i] = true
		}
	}
	byRank := map[int]Reading{}
	for _, rank := range slices.Sorted(maps.Keys(chosen)) {
		r, err := list[rank].read(ctx, target, p, s)
		if err != nil {
			return nil, err
		}
		if r == nil {
			continue
		}
		out.Readings = append(out.Readings, *r)
		byRank[rank] = *r
	}
	if len(out.Readings) == 0 {
		return nil, nil
	}
	out.Worst, out.P95, out.P50 = byRank[0], byRank[p95], byRank[p50]
	return out, nil
}

// read reads all requests for a value.
func (v *asked) read(ctx context.Context, target explain.Target, p *model.Pattern, s *spreader) (*Reading, error) {
	if v.row == nil {
		return nil, nil
	}
	q := *p
	q.Where = slices.Clone(p.Where)
	for i, w := range q.Where {
		switch {
		case w.Op == ast.Equal && (slices.Contains(s.hash, w.Field) || slices.Contains(s.free, w.Field)):
			q.Where[i].Args = []string{s.value(v.row.Item, w)}
		case s.win != nil && i == s.win.at:
			q.Where[i].Args = v.most.args
		}
	}
	split, err := compile.Split(&q)
	if err != nil {
		return nil, nil // such as a value that the template refuses
	}

	sum := &Reading{Requests: len(split), declared: v.most.units, times: v.times * v.often}
	for _, one := range split {
		c := candidate{row: v.row, pattern: one, empty: true}
		slice, err := compile.Slice(s.space.Schema, one)
		if err != nil {
			return nil, nil
		}
		if at, ok := s.space.Partition(slice.Partition); ok {
			c.Part = at
			c.From, c.To = s.space.Range(at, slice.Range)
			c.empty = c.From == c.To
		}
		r, err := s.reading(ctx, target, c)
		if r == nil || err != nil {
			return nil, err
		}
		if sum.Key == nil || sum.Examined == 0 && r.Examined > 0 {
			sum.Key, sum.Sort, sum.Request, sum.Item = r.Key, r.Sort, r.Request, r.Item
		}
		sum.Rows, sum.Examined, sum.Bytes = sum.Rows+r.Rows, sum.Examined+r.Examined, sum.Bytes+r.Bytes
		sum.Pages, sum.Units, sum.Batch = sum.Pages+r.Pages, sum.Units+r.Units, sum.Batch+r.Batch
		sum.Waste += r.Waste * float64(r.Bytes)
	}
	if len(split) > 1 && s.win != nil {
		sum.Sort = s.win.field + " BETWEEN " + strings.Join(v.most.args, " AND ")
	}
	sum.Waste /= float64(max(sum.Bytes, 1))
	sum.Growth, sum.ByteGrowth = 1, 1
	if v.most.sampled > 0 {
		sum.Growth = v.most.rows / float64(v.most.sampled)
		sum.ByteGrowth = v.most.bytes / float64(max(v.most.sampledBytes, 1))
	}
	return sum, nil
}
