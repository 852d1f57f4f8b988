package load

import (
	"maps"
	"slices"

	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/model"
)

// measure sets what the candidates read. If one stands for several values at the declared scale that differ in
// rows, there is one for each of these.
func (s *spreader) measure() {
	if s.w.Scale < 1 {
		s.grow = s.grow.For(s.generated())
	}
	if s.win != nil {
		s.grew()
		return
	}
	found := s.all
	s.all = make([]candidate, 0, len(found))
	for i := range found {
		c := &found[i]
		m := s.measured(c)
		stands, ok := s.stands(c)
		if !ok || len(stands) > 0 && stands[0].Rows == 0 {
			s.set(c, &m, dataset.Stand{Rows: 1, Bytes: 1})
			c.times = 1
			s.all = append(s.all, *c)
			continue
		}
		if len(stands) == 0 { // it stands for no other, but has rows
			stands = []dataset.Stand{{Rows: 1, Bytes: 1}}
		}
		for k, stand := range stands {
			next := *c
			s.set(&next, &m, stand)
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
		declared, _ := volumeOf(rows, s.grow.In(rows))
		c.times, c.Growth = 1, declared/float64(len(rows))
	}
}

// generated returns the entities of the generated items that the candidates read.
func (s *spreader) generated() []*model.Entity {
	seen := map[*model.Entity]bool{}
	for i := range s.all {
		for _, r := range s.space.Rows[s.all[i].From:s.all[i].To] {
			if r.Item.Generated {
				seen[r.Item.Entity] = true
			}
		}
	}
	return slices.Collect(maps.Keys(seen))
}

// stands returns for which values at the declared scale a candidate stands. It reports false if it stands for itself.
func (s *spreader) stands(c *candidate) ([]dataset.Stand, bool) {
	if s.one || s.w.Scale >= 1 {
		return nil, false
	}
	for i := c.low; i < c.high; i++ {
		if it := s.space.Rows[i].Item; it.Generated && s.has(it.Entity) {
			return s.grow.Stands(it.Entity, it)
		}
	}
	return nil, false
}

// A measure is what there is of a candidate without a limit.
type measure struct {
	rows, bytes         int // in the sample
	declared, byteCount float64
	read, readBytes     int     // up to a limit, in the sample
	then                float64 // read units of the items to which these lead
}

func (s *spreader) measured(c *candidate) measure {
	rows, limit := s.space.Rows[c.From:c.To], s.q.Report.Limit
	m := measure{rows: len(rows), bytes: sizeOf(rows), then: s.batched(rows)}
	if !s.one {
		each := s.grow.In(s.space.Rows[c.low:c.high])
		for i := range rows {
			n := each(rows[i].Item)
			m.declared += n
			m.byteCount += n * float64(rows[i].Size())
		}
	}

	if limit > 0 && m.rows > limit {
		if s.q.Report.Reverse {
			rows = rows[m.rows-limit:]
		} else {
			rows = rows[:limit]
		}
	}
	m.read, m.readBytes = len(rows), sizeOf(rows)
	return m
}

// set sets what a candidate reads that has so many times as many rows and bytes.
func (s *spreader) set(c *candidate, m *measure, times dataset.Stand) {
	limit, declared := s.q.Report.Limit, m.declared*times.Rows
	c.Rows, c.Bytes, c.Growth, c.ByteGrowth = m.read, m.readBytes, 1, 1
	switch {
	case m.rows == 0 || declared == 0:
	case limit > 0 && (m.rows > limit || declared > float64(limit)):
		c.Growth = min(declared, float64(limit)) / float64(m.read)
		c.ByteGrowth = c.Growth
	default:
		c.Growth, c.ByteGrowth = declared/float64(m.rows), m.byteCount*times.Bytes/float64(m.bytes)
	}
	c.rows, c.bytes, c.held = float64(c.Rows)*c.Growth, c.DeclaredBytes(), declared
	c.then = m.then * c.Growth
	if times.Rows >= 1 {
		c.held = max(declared, float64(c.Rows))
	}
}
