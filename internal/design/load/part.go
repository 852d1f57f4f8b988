package load

import (
	"math"
	"slices"

	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/model"
)

// A partLoad is the part of the requests of a pattern that one partition gets.
type partLoad struct {
	part dataset.Part
	// none is an item with the values of requests that find no row, or nil for a partition.
	none *dataset.Item
	// share is the part of all requests, and units are the read units of each, at the declared scale.
	share, units float64
}

// A sum is what the candidates of a partition come to.
type sum struct {
	weight, units float64
	// more is by how much the first of the values for which the candidates stand are asked for more often.
	more float64
	held float64 // rows of the candidates at the declared scale, 0 if they are those of the whole partition
}

// loads returns the load of each partition with rows that the pattern reads, in the order of the space.
func (s *spreader) loads() []partLoad {
	sums := map[dataset.Part]*sum{}
	groups := map[[2]int]bool{}
	total := s.total()
	for i := range s.all {
		c := &s.all[i]
		if c.row == nil || c.empty || c.again > 0 {
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
			// A partition of a sample can lack values. It has as many more as it has more rows than its values.
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

// declared returns the rows from low up to high that candidates can have, at the declared scale.
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

// among returns the number of partitions over which the requests are spread if no items of the entity were generated,
// so that the items of the file say nothing, or 0. Listed fields keep the pattern's own values. It is infinite if
// nobody says how many items there are, of the entity or of a parent, which is returned too.
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
