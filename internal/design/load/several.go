package load

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/table"
)

// ofSeveral returns what a pattern of several requests reads for all values of its other equalities, such as the
// shards of each day; the fixed fields of the questions tell the requests apart. The requests of a range of times
// over several periods, such as the months from January to March, read as many others too, such as those from
// February to April. ofSeveral returns nil if there is only one value.
func ofSeveral(
	ctx context.Context, target explain.Target, questions []question, spreaders []*spreader,
) (*Spread, error) {
	all, seen := map[string]*together{}, absences{}
	windows := windowsOf(questions, spreaders)
	for i, s := range spreaders {
		for k := range s.all {
			c := &s.all[k]
			if c.row == nil || c.empty && windows != nil {
				continue
			}
			id := s.valuesOf(c)
			if windows != nil {
				first, ok := windows.first(i, c.number)
				if !ok {
					continue
				}
				seen.see(id, first, c)
				id += strconv.Itoa(first)
			}
			if c.again > 0 {
				id += "\x00" + strconv.Itoa(c.again)
			}
			if all[id] == nil {
				all[id] = &together{id: id, parts: make([]*candidate, len(questions))}
			}
			all[id].parts[i] = c
		}
	}
	if windows != nil {
		seen.each(windows.from, windows.to, func(id string, a *absence, first, n int) {
			t := &together{id: id}
			for i, s := range spreaders {
				c := s.nothing(a, first+windows.after[i], n)
				t.parts = append(t.parts, &c)
			}
			all[id] = t
		})
	}
	if len(all) < 2 {
		return nil, nil
	}

	list := make([]*together, 0, len(all))
	partitions := map[dataset.Part]bool{}
	consistent := questions[0].Pattern.Consistent
	for _, t := range all {
		for i, c := range t.parts {
			if c == nil {
				t.units += table.ReadUnits(0, consistent)
				t.mean += table.ReadUnits(0, consistent)
				continue
			}
			t.units += table.ReadUnits(int(c.bytes), consistent)
			mean, _ := spreaders[i].cost(c)
			t.mean += mean
			t.rows, t.bytes, t.held = t.rows+c.rows, t.bytes+c.bytes, t.held+c.held
			t.times, t.again = max(t.times, c.times), t.again || c.again > 0
			if !c.empty {
				partitions[c.Part] = true
			}
		}
		list = append(list, t)
	}
	slices.SortFunc(list, func(a, b *together) int {
		return cmp.Or(cmp.Compare(b.units, a.units), cmp.Compare(b.bytes, a.bytes), cmp.Compare(a.id, b.id))
	})

	pattern := questions[0].Pattern
	z := zipf{skew: pattern.Skew}
	for _, t := range list {
		byRows := 0.0
		if !t.empty() {
			byRows = max(t.held, 1)
		}
		t.often = often(pattern.Asked, byRows, t.times, &z)
		for _, c := range t.parts {
			if c != nil && windows == nil {
				c.often = t.often
			}
		}
	}

	out := &Spread{Partitions: len(partitions)}
	byRank := map[int]*Reading{}
	rankOf := ranksOf(len(list), func(i int) float64 { return list[i].times * list[i].often })
	for _, share := range []float64{1, 0.95, 0.5} {
		rank := 0
		if share < 1 {
			rank = rankOf(share)
		}
		if byRank[rank] == nil {
			r, err := list[rank].read(ctx, target, spreaders)
			if r == nil || err != nil {
				return nil, err
			}
			byRank[rank] = r
			out.Readings = append(out.Readings, *r)
		}
		switch share {
		case 1:
			out.Worst = *byRank[rank]
		case 0.95:
			out.P95 = *byRank[rank]
		default:
			out.P50 = *byRank[rank]
		}
	}

	rows, byRows, units, held, weights, values := 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
	for _, t := range list {
		n := 1
		if windows != nil && t.empty() { // for each of some windows
			n = t.parts[0].periods
		}
		if !t.again {
			out.Values += n
		}
		if t.empty() {
			out.Empty += n
		}
		values += t.times
		weights += t.times * t.often
		units += t.mean * t.times * t.often
		rows += t.rows * t.times * t.often
		byRows += t.mean * t.held * t.times
		held += t.held * t.times
	}
	if windows == nil { // also those that have nothing in one of the requests
		for _, s := range spreaders {
			s.weights, s.values = weights, values
		}
	}
	out.Mean, out.MeanRows, out.MeanByRows = units/weights, rows/weights, byRows/max(held, 1)
	return out, nil
}

// mostParts limits the requests for all values that are kept.
const mostParts = 1 << 22

// spreadersOf returns a spreader with its candidates for each question. Those for parts in the middle of a range,
// which are whole periods, have one together. It returns nil if one has none, or all together have too many.
func spreadersOf(ctx context.Context, w *dataset.Dataset, questions []question) (all []*spreader, err error) {
	candidates := 0
	for i, q := range questions {
		same := slices.IndexFunc(all, func(o *spreader) bool { return o.period != nil && alike(o.q, q) })
		if same >= 0 {
			all = append(all, all[same])
			candidates += len(all[i].all)
			continue
		}
		s, err := slicesOf(ctx, w, q)
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

// windows are the ranges of as many periods as the parts of a pattern read together.
type windows struct {
	after    []int // how many periods after the first that of each part is
	from, to int   // the first periods of all windows
}

// windowsOf returns the windows within the periods of the generated items, or nil if the parts differ in other
// values alone.
func windowsOf(questions []question, spreaders []*spreader) *windows {
	var at []int // the period of each part
	for _, q := range questions {
		for _, c := range q.Pattern.Where {
			if p := periodOf(q.Pattern, c); p != nil {
				at = append(at, p.number)
				break
			}
		}
	}
	if len(at) < len(questions) {
		return nil
	}

	w := &windows{after: at}
	first, last := slices.Min(at), slices.Max(at)
	for i := range at {
		at[i] -= first
	}
	w.from, w.to = periodsOf(spreaders)
	w.to = max(w.from, w.to-(last-first))
	return w
}

// first returns the first period of the window in which a part reads a period, and whether there is such a window.
func (w *windows) first(part, number int) (int, bool) {
	first := number - w.after[part]
	return first, first >= w.from && first <= w.to
}

// together are the candidates of several requests for one value, nil where nothing is there.
type together struct {
	id    string
	parts []*candidate
	// At the declared scale; held are the rows that there are without a limit, and mean the units on average.
	units, mean, rows, bytes, held float64
	times                          float64 // values for which they stand
	often                          float64 // weight of each of them among all requests
	again                          bool    // others stand for values of the same candidates
}

// empty reports whether no request finds rows of the entity.
func (t *together) empty() bool {
	return !slices.ContainsFunc(t.parts, func(c *candidate) bool { return c != nil && !c.empty })
}

// valuesOf returns the values of a candidate that are not fixed.
func (s *spreader) valuesOf(c *candidate) string {
	var id strings.Builder
	for _, name := range slices.Concat(s.hash, s.free) {
		w, _ := s.condition(name)
		id.WriteString(s.value(c.row.Item, w) + "\x00")
	}
	return id.String()
}

// read reads all requests for a value.
func (t *together) read(
	ctx context.Context, target explain.Target, spreaders []*spreader,
) (*Reading, error) {
	sum := &Reading{Requests: len(t.parts), declared: t.units}
	for i, c := range t.parts {
		if c == nil {
			sum.Units, sum.Pages = sum.Units+table.ReadUnits(0, spreaders[i].p.Consistent), sum.Pages+1
			continue
		}
		r, err := spreaders[i].reading(ctx, target, *c)
		if r == nil || err != nil {
			return nil, err
		}
		if sum.Key == nil {
			sum.Key, sum.Sort, sum.Request, sum.Item = r.Key, r.Sort, r.Request, r.Item
		}
		sum.Rows, sum.Examined, sum.Bytes = sum.Rows+r.Rows, sum.Examined+r.Examined, sum.Bytes+r.Bytes
		sum.Pages, sum.Units, sum.Batch = sum.Pages+r.Pages, sum.Units+r.Units, sum.Batch+r.Batch
		sum.Waste += r.Waste * float64(r.Bytes)
	}
	sum.Waste /= float64(max(sum.Bytes, 1))
	sum.Growth, sum.ByteGrowth = 1, 1
	if sum.Examined > 0 {
		sum.Growth, sum.ByteGrowth = t.rows/float64(sum.Examined), t.bytes/float64(sum.Bytes)
	}
	return sum, nil
}
