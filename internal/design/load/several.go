package load

import (
	"context"
	"maps"
	"slices"

	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/model"
)

// mostParts is the largest number of candidates that the requests of one pattern may have in total.
const mostParts = 1 << 22

// spreadersOf returns a spreader with its candidates for each question. Questions that differ only in the time of
// their windows share one spreader. If there are more than mostParts candidates, it returns no spreaders.
func spreadersOf(
	ctx context.Context, w *dataset.Dataset, space *dataset.Space, questions []question, win *windows,
) (all []*spreader, err error) {
	candidates := 0
	for _, q := range questions {
		if win != nil && slices.ContainsFunc(all, func(s *spreader) bool { return win.alike(s.p, q.Pattern) }) {
			continue
		}
		s := newSpreader(w, space, q, win)
		if err := s.find(ctx); err != nil {
			return nil, err
		}
		all = append(all, s)
		if candidates += len(s.all); candidates > mostParts {
			return nil, nil
		}
	}
	return all, nil
}

// alike reports whether two patterns differ only in the time of their windows.
func (w *windows) alike(a, b *model.Pattern) bool {
	for i := range a.Where {
		if i != w.at && !slices.Equal(a.Where[i].Args, b.Where[i].Args) {
			return false
		}
	}
	return true
}

// together merges the spreaders of a pattern that makes several requests. The requests differ only in their fixed
// values, such as the shards of each day. A merged candidate stands for one combination of the other values. Its
// parts are what each request reads for this combination.
func together(p *model.Pattern, spreaders []*spreader, requests int, win *windows) *spreader {
	all := *spreaders[0]
	all.p = p
	all.all = nil
	empty := float64(requests) * all.unitsOf(0)
	byID := map[string]*candidate{}
	for _, s := range spreaders {
		for k := range s.all {
			c := &s.all[k]
			id := s.valuesOf(c)
			v := byID[id]
			if v == nil {
				v = &candidate{row: c.row, empty: true}
				byID[id] = v
			}
			if v.times = max(v.times, c.times); !c.empty {
				v.empty, v.parts = false, append(v.parts, part{s: s, candidate: c})
			}
		}
	}
	if win != nil {
		win.reach(spreaders)
	}
	ids := slices.Sorted(maps.Keys(byID))
	for _, id := range ids {
		if v := byID[id]; win != nil && all.w.Scale < 1 {
			win.gather(v)
		}
	}
	for _, id := range ids {
		v := byID[id]
		if win != nil {
			win.set(v)
		} else {
			v.sum(empty, all.returned(v))
		}
		all.all = append(all.all, *v)
	}
	return &all
}

// sum sets the cost of c to the sum of its parts. The parameter empty is the read units that all requests together
// cost if they find nothing. rows are the rows that all of them read.
func (c *candidate) sum(empty float64, rows []dataset.Row) {
	c.units = empty
	for _, p := range c.parts {
		c.Rows, c.Bytes = c.Rows+p.Rows, c.Bytes+p.Bytes
		c.rows, c.bytes, c.held = c.rows+p.rows, c.bytes+p.bytes, c.held+p.held
		c.units += p.units - p.s.unitsOf(0)
	}
	if c.Growth, c.ByteGrowth = 1, 1; c.Rows > 0 {
		c.Growth, c.ByteGrowth = c.rows/float64(c.Rows), c.bytes/float64(max(c.Bytes, 1))
		c.batch, c.then = c.parts[0].s.batched(rows, c.Growth)
	}
}

// divide copies the weights of s, whose candidates are merged, to the candidates of each spreader. If a spreader has
// no rows for a merged candidate, it gets an empty candidate in its place.
func (s *spreader) divide(spreaders []*spreader) {
	for _, one := range spreaders {
		one.weights, one.all = s.total(), nil
		for i := range s.all {
			v := &s.all[i]
			add := func(c candidate) {
				c.times, c.often, c.first = v.times, v.often, v.first
				one.all = append(one.all, c)
			}
			n := len(one.all)
			for _, p := range v.parts {
				if p.s == one {
					add(*p.candidate)
				}
			}
			if len(one.all) == n {
				add(candidate{row: v.row, empty: true})
			}
		}
	}
}
