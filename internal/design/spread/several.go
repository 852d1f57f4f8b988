package spread

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/internal/table"
)

// OfSeveral returns what a pattern of several requests reads for all values of its other equalities, such as the
// shards of each day; the fixed fields of the questions tell the requests apart. It returns nil if there is
// only one value.
func OfSeveral(
	ctx context.Context, w *world.World, target explain.Target, questions []Question, o Options,
) (*Spread, error) {
	all := map[string]*together{}
	var spreaders []*spreader
	for i, q := range questions {
		s, err := slicesOf(ctx, w, q)
		if s == nil || err != nil {
			return nil, err
		}
		spreaders = append(spreaders, s)
		for k := range s.all {
			c := &s.all[k]
			if c.row == nil {
				continue
			}
			id := s.valuesOf(c)
			if all[id] == nil {
				all[id] = &together{id: id, parts: make([]*candidate, len(questions))}
			}
			all[id].parts[i] = c
		}
	}
	if len(all) < 2 {
		return nil, nil
	}

	list := make([]*together, 0, len(all))
	partitions := map[world.Part]bool{}
	consistent := questions[0].Pattern.Consistent
	for _, t := range all {
		for _, c := range t.parts {
			if c == nil {
				t.units += table.ReadUnits(0, consistent)
				continue
			}
			t.units += table.ReadUnits(int(c.bytes), consistent)
			t.rows, t.bytes, t.held = t.rows+c.rows, t.bytes+c.bytes, t.held+c.held
			partitions[c.Part] = true
		}
		list = append(list, t)
	}
	slices.SortFunc(list, func(a, b *together) int {
		return cmp.Or(cmp.Compare(b.units, a.units), cmp.Compare(b.bytes, a.bytes), cmp.Compare(a.id, b.id))
	})

	out := &Spread{Partitions: len(partitions), Values: len(list)}
	n := len(list)
	byRank := map[int]*Reading{}
	for _, share := range []float64{1, 0.95, 0.5} {
		rank := n - int(math.Ceil(share*float64(n)))
		if byRank[rank] == nil {
			r, err := list[rank].read(ctx, target, spreaders, o)
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

	rows, byRows, units, held := 0.0, 0.0, 0.0, 0.0
	for _, t := range list {
		units += t.units / float64(n)
		rows += t.rows / float64(n)
		byRows += t.units * t.held
		held += t.held
	}
	out.Mean, out.MeanRows = units, rows
	out.MeanByRows = byRows / max(held, 1)
	if questions[0].Pattern.Asked == model.AskedByRows {
		out.Mean = out.MeanByRows
	}
	return out, nil
}

// together are the candidates of several requests for one value, nil where nothing is there.
type together struct {
	id    string
	parts []*candidate
	// At the declared scale; held are the rows that there are without a limit.
	units, rows, bytes, held float64
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
	ctx context.Context, target explain.Target, spreaders []*spreader, o Options,
) (*Reading, error) {
	sum := &Reading{Requests: len(t.parts)}
	for i, c := range t.parts {
		if c == nil {
			sum.Units, sum.Pages = sum.Units+table.ReadUnits(0, spreaders[i].p.Consistent), sum.Pages+1
			continue
		}
		r, err := spreaders[i].reading(ctx, target, *c, o)
		if r == nil || err != nil {
			return nil, err
		}
		if sum.Key == nil {
			sum.Key, sum.Sort, sum.Request, sum.Item = r.Key, r.Sort, r.Request, r.Item
		}
		sum.Rows, sum.Examined, sum.Bytes = sum.Rows+r.Rows, sum.Examined+r.Examined, sum.Bytes+r.Bytes
		sum.Pages, sum.Units = sum.Pages+r.Pages, sum.Units+r.Units
		sum.Waste += r.Waste * float64(r.Bytes)
	}
	sum.Waste /= float64(max(sum.Bytes, 1))
	sum.Growth, sum.ByteGrowth = 1, 1
	if sum.Examined > 0 {
		sum.Growth, sum.ByteGrowth = t.rows/float64(sum.Examined), t.bytes/float64(sum.Bytes)
	}
	return sum, nil
}
