package load

import (
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/table"
)

// measure computes what a request for each candidate reads. In a sample, a candidate can represent declared values
// with different numbers of rows. measure then replaces it by one candidate for each number.
func (s *spreader) measure() {
	if s.win != nil {
		s.grew()
		return
	}
	found := s.all
	s.all = make([]candidate, 0, len(found))
	for i := range found {
		c := &found[i]
		for k, stand := range s.stands(c) {
			next := *c
			s.set(&next, &stand)
			next.times, next.again = stand.Times, k
			next.own = c.own && k == 0
			s.all = append(s.all, next)
		}
	}
}

// grew sets the rows of each candidate, in the dataset and at the declared scale. measure calls it for a pattern with
// windows.
func (s *spreader) grew() {
	for i := range s.all {
		c := &s.all[i]
		rows := s.space.Rows[c.low:c.high]
		c.Rows, c.times = len(rows), 1
		c.rows, _ = volumeOf(rows, s.grow.In(rows))
	}
}

// itself is the result of stands for a candidate that represents only its own value.
var itself = []dataset.Stand{{Times: 1, Rows: 1}}

// stands returns the values at the declared scale that a candidate represents.
func (s *spreader) stands(c *candidate) []dataset.Stand {
	if s.w.Scale >= 1 {
		return itself
	}
	if s.one {
		return []dataset.Stand{{Times: s.w.Represents(c.row.Item), Rows: 1}}
	}
	rows := s.space.Rows[c.low:c.high]
	for i := range rows {
		if it := rows[i].Item; it.Generated && s.has(it.Entity) {
			if all, ok := s.grow.Stands(it.Entity, rows); ok {
				return all
			}
			break
		}
	}
	return itself
}

// set sets in c what a request for one of the values of stand reads. It scales up the rows of c in the dataset.
func (s *spreader) set(c *candidate, stand *dataset.Stand) {
	all, limit := s.space.Rows[c.From:c.To], s.q.Report.Limit
	rows := s.limited(all)
	c.Rows, c.Bytes, c.Growth, c.ByteGrowth = len(rows), sizeOf(rows), 1, 1
	declared, bytes := volumeOf(all, stand.Each)
	switch {
	case s.one || len(all) == 0:
	case limit > 0 && (len(all) > limit || declared > float64(limit)):
		c.Growth = min(declared, float64(limit)) / float64(c.Rows)
		c.ByteGrowth = c.Growth
	default:
		c.Growth, c.ByteGrowth = declared/float64(len(all)), bytes/float64(c.Bytes)
	}
	c.rows, c.bytes, c.held = float64(c.Rows)*c.Growth, c.DeclaredBytes(), declared
	c.units, c.then = s.unitsOf(c.bytes), s.batched(rows)*c.Growth
}

// unitsOf returns the read units of a request that reads so many bytes.
func (s *spreader) unitsOf(bytes float64) float64 {
	return table.ReadUnits(int(bytes), s.p.Consistent || s.q.Report.Consistent)
}

// cost returns what a request for the candidate's value reads on average over its windows.
func (c *candidate) cost() (units, rows float64) {
	if c.average != nil {
		return c.average.units, c.average.rows
	}
	return c.units, c.rows
}
