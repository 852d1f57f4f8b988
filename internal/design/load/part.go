package load

import (
	"math"
	"slices"

	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/model"
)

// A partLoad is what a pattern's requests read in one partition.
type partLoad struct {
	part dataset.Part
	// none is nil for a partition. Otherwise, the entry stands for requests that find no row, part is not set, and
	// none is an item with the values that these requests ask for.
	none *dataset.Item
	// share is the partition's share of all requests, from 0 to 1. units are the read units of each request at the
	// declared scale.
	share, units float64
}

// A sum holds totals over the candidates of one partition.
type sum struct {
	weight, units float64
	// more is the sum, over the candidates, of first minus often: by how much the weight of a candidate's most
	// frequent value exceeds the candidate's average weight.
	more float64
	held float64 // rows of the candidates at the declared scale, or 0 if they have all rows of the partition
}

// loads returns the load of each partition in which the pattern reads rows, in the order of the space's partitions.
// An entry for each value without rows follows.
func (s *spreader) loads() []partLoad {
	sums := map[dataset.Part]*sum{}
	groups := map[[2]int]bool{}
	total := s.total()
	for i := range s.all {
		c := &s.all[i]
		if c.empty {
			continue
		}
		of := sums[c.Part]
		if of == nil {
			of = &sum{}
			sums[c.Part] = of
		}
		units, _ := c.cost()
		of.weight, of.units, of.more = of.weight+c.often, of.units+c.often*units, of.more+c.first-c.often
		switch group := [2]int{c.low, c.high}; {
		case s.w.Scale >= 1 || groups[group] || group == [2]int{c.Part.From, c.Part.To}:
		case s.one:
			of.held++
		case s.win != nil:
			of.held += c.held
		default:
			groups[group] = true
			of.held += s.declared(s.grow, c.low, c.high)
		}
	}

	loads := make([]partLoad, 0, len(sums))
	for _, at := range s.space.Parts {
		of := sums[at]
		if of == nil {
			continue
		}
		values := 1.0
		if s.w.Scale < 1 && of.held > 0 {
			// A sampled partition may lack some of its values. Scale up the weight of the others by the ratio of the
			// partition's declared rows to the declared rows of the sampled values.
			values = max(1, s.declared(s.w.Growth(s.space), at.From, at.To)/of.held)
		}
		loads = append(loads, partLoad{
			part: at, share: (of.weight*values + of.more) / total, units: of.units / of.weight,
		})
	}
	for i := range s.all {
		if c := &s.all[i]; c.empty {
			loads = append(loads, partLoad{none: c.row.Item, share: c.often * c.times / total})
		}
	}
	return loads
}

// declared returns how many rows at the declared scale the rows with indexes in [low, high) represent. It counts only
// rows that the pattern can read.
func (s *spreader) declared(grow *dataset.Growth, low, high int) (n float64) {
	rows := s.space.Rows[low:high]
	each := grow.In(rows)
	for i := range rows {
		if s.lists(&rows[i]) {
			n += each(rows[i].Item)
		}
	}
	return n
}

// among computes from the declared counts how many partitions the pattern's requests spread over. It returns 0 if the
// dataset has generated items of the pattern's entity, because then these items show the spread. It ignores times and
// the fields that keep the pattern's own values. If the model lacks a count, it returns infinity and the entity or
// parent that needs the count.
func (s *spreader) among() (float64, *model.Entity) {
	e := s.p.Entity
	if s.w.Made(e) > 0 {
		return 0, nil
	}
	fields := dataset.Finest(e, s.space.Hash)
	for f := range fields {
		switch parent := e.CarriedFrom(f); {
		case periodic(e, s.space.Hash, f.Name) || slices.Contains(s.listed, f.Name):
			delete(fields, f)
		case parent != nil && parent.Count == 0:
			return math.Inf(1), parent
		}
	}
	n := max(s.w.Possible(e, fields), 1)
	if math.IsInf(n, 1) {
		return n, e
	}
	return n, nil
}
