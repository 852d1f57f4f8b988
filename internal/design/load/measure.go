package load

import (
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/table"
)

// measure sets what the candidates read. If one stands for several values at the declared scale that differ in
// rows, there is one for each of these.
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

// grew sets how many times as many rows the candidates have at the declared scale.
func (s *spreader) grew() {
	for i := range s.all {
		c := &s.all[i]
		rows := s.space.Rows[c.low:c.high]
		c.Rows, c.times = len(rows), 1
		c.rows, _ = volumeOf(rows, s.grow.In(rows))
	}
}

// itself is what a value stands for that is the same at the declared scale.
var itself = []dataset.Stand{{Times: 1, Rows: 1}}

// stands returns for which values at the declared scale a candidate stands.
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

// set sets what a candidate reads for a value for which it stands.
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

// unitsOf returns the read units of a request.
func (s *spreader) unitsOf(bytes float64) float64 {
	return table.ReadUnits(int(bytes), s.p.Consistent || s.q.Report.Consistent)
}

// cost returns what a request for the value of a candidate reads on average.
func (c *candidate) cost() (units, rows float64) {
	if c.average != nil {
		return c.average.units, c.average.rows
	}
	return c.units, c.rows
}
