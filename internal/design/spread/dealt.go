package spread

import (
	"cmp"
	"math"
	"slices"

	"github.com/sortkey/sortkey/internal/design/model"
)

// mostDealt limits the values that are counted one by one at the declared scale. Of more, a sample says enough.
const mostDealt = 50_000

// dealt gives the generated candidates of a sample the rows that the values of a parent have at the declared scale,
// and adds candidates for the values that were not generated. The rows of all declared parents are counted without
// being made, also over several levels, such as the products in all categories of each shop: few shops say little
// of the largest of many.
func (s *spreader) dealt(parent *model.Entity) {
	if s.w.Scale >= 1 || s.ranged || len(s.listed) > 0 || parent.Count > mostDealt {
		return
	}
	rows, bytes := s.declaredOf(parent)
	if rows == nil {
		return
	}

	limit := math.Inf(1)
	if n := s.q.Report.Limit; n > 0 {
		limit = float64(n)
	}
	var own, others []candidate
	var pages []float64 // the bytes of reads that end at the limit
	for _, c := range s.all {
		switch {
		case c.row == nil:
			continue
		case !c.row.Item.Generated:
			others = append(others, c)
			continue
		}
		own = append(own, c)
		if float64(c.Rows) == limit {
			pages = append(pages, float64(c.Bytes))
		}
	}
	if len(own) > len(rows) {
		return
	}

	// Largest first, of both.
	slices.SortStableFunc(own, func(a, b candidate) int { return cmp.Compare(b.held, a.held) })
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rows[b], rows[a]) })

	all := make([]candidate, len(rows))
	for at, i := range order {
		c := &all[at]
		c.held = rows[i]
		if c.rows, c.bytes = rows[i], bytes[i]; c.rows > limit {
			c.rows, c.bytes = limit, c.bytes*limit/c.rows
			if len(pages) > 0 { // they differ where rows have several sizes
				c.bytes = pages[at%len(pages)]
			}
		}
	}

	// Each generated value stands for the one that is nearest to it, and the largest for the largest: what
	// findings say of a partition, they say of one with items.
	next := 0
	for k, c := range own {
		at, _ := slices.BinarySearchFunc(all, c.held, func(c candidate, held float64) int {
			return cmp.Compare(held, c.held)
		})
		if at = min(max(at, next), len(all)-len(own)+k); k == 0 {
			at = 0
		}
		next = at + 1
		to := &all[at]
		if (to.rows > 0) != (c.Rows > 0) {
			continue
		}
		c.rows, c.bytes, c.held = to.rows, to.bytes, to.held
		if c.Growth, c.ByteGrowth = 1, 1; c.Rows > 0 {
			c.Growth, c.ByteGrowth = c.rows/float64(c.Rows), c.bytes/float64(c.Bytes)
		}
		*to = c
	}
	s.all = append(all, others...)
}

// declaredOf returns the rows and bytes that the candidates of all declared items of a parent have, or nil if they
// hold other rows than all that belong to it.
func (s *spreader) declaredOf(parent *model.Entity) (rows, bytes []float64) {
	type total struct{ rows, bytes int }
	of := map[*model.Entity]*total{}
	for i := range s.all {
		c := &s.all[i]
		if c.row == nil || c.empty || !c.row.Item.Generated {
			continue
		}
		for _, r := range s.space.Rows[c.From:c.To] {
			if of[r.Item.Entity] == nil {
				of[r.Item.Entity] = &total{}
			}
			of[r.Item.Entity].rows++
			of[r.Item.Entity].bytes += r.Size()
		}
	}

	rows, bytes = make([]float64, parent.Count), make([]float64, parent.Count)
	for e, t := range of {
		counts := s.w.Counts(e, parent)
		if e == nil || t.rows != s.w.Made(e) || len(counts) != parent.Count {
			return nil, nil
		}
		each := float64(t.bytes) / float64(t.rows)
		for i, n := range counts {
			rows[i] += float64(n)
			bytes[i] += float64(n) * each
		}
	}
	if len(of) == 0 {
		return nil, nil
	}
	return rows, bytes
}
