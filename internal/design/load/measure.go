package load

import (
	"github.com/sortkey/sortkey/keycond"

	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/table"
)

// measure sets, for each candidate, what a request for it reads and how many values at the declared scale it
// represents.
func (s *spreader) measure() {
	for i := range s.all {
		c := &s.all[i]
		c.times = 1
		if s.win == nil {
			s.set(c)
		}
		switch {
		case s.w.Scale >= 1:
		case s.one:
			c.times = s.w.Represents(c.row.Item)
		case s.win == nil:
			c.times = s.times(s.space.Rows[c.low:c.high])
		}
	}
}

// times returns how many values at the declared scale one value in the dataset represents. rows are the rows of that
// value.
func (s *spreader) times(rows []dataset.Row) float64 {
	for i := range rows {
		if it := rows[i].Item; it.Generated && s.has(it.Entity) {
			return s.grow.Times(it.Entity, rows)
		}
	}
	return 1
}

// set sets the cost fields of c: what a request for the candidate reads in the dataset and at the declared scale.
func (s *spreader) set(c *candidate) {
	all, limit := s.space.Rows[c.From:c.To], s.q.Report.Limit
	rows := s.limited(all)
	c.Rows, c.Bytes, c.Growth, c.ByteGrowth = len(rows), sizeOf(rows), 1, 1
	declared, bytes := float64(len(all)), float64(c.Bytes)
	if !s.one {
		declared, bytes = volumeOf(all, s.grow.In(s.space.Rows[c.low:c.high]))
	}
	switch {
	case len(all) == 0:
	case limit > 0 && (len(all) > limit || declared > float64(limit)):
		c.Growth = min(declared, float64(limit)) / float64(c.Rows)
		c.ByteGrowth = c.Growth
	default:
		c.Growth, c.ByteGrowth = declared/float64(len(all)), bytes/float64(c.Bytes)
	}
	c.rows, c.bytes, c.held = float64(c.Rows)*c.Growth, c.DeclaredBytes(), declared
	c.units = s.unitsOf(c.bytes)
	if c.Bytes > keycond.PageBytes {
		c.units *= s.unitsByPage(rows) / s.unitsOf(float64(c.Bytes))
	}
	c.batch, c.then = s.batched(rows, c.Growth)
}

// unitsOf returns the read units of a request that reads the given number of bytes.
func (s *spreader) unitsOf(bytes float64) float64 {
	return table.ReadUnits(int(bytes), s.p.Consistent || s.q.Report.Consistent)
}

// unitsByPage returns the read units of a request that reads the rows page by page. The units of each page are rounded
// up.
func (s *spreader) unitsByPage(rows []dataset.Row) (units float64) {
	bytes, n := 0, len(rows)
	for i := range rows {
		row := &rows[i]
		if s.q.Report.Reverse {
			row = &rows[n-1-i]
		}
		if bytes += row.Size(); bytes >= keycond.PageBytes && i < n-1 {
			units, bytes = units+s.unitsOf(float64(bytes)), 0
		}
	}
	return units + s.unitsOf(float64(bytes))
}

// cost returns what a request for the candidate's value reads on average over its windows.
func (c *candidate) cost() (units, rows float64) {
	if c.average != nil {
		return c.average.units, c.average.rows
	}
	return c.units, c.rows
}
