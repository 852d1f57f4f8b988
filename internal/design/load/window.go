package load

import (
	"math"

	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/internal/table"
)

// A range of time, such as a month of a device, is asked for in all windows of its length, one after the other from
// its own on, as far as the rows of all values reach. The busiest window of each value says what a request reads at
// most; the mean, and so the bill, is that of all windows.

// tiles are the windows of a range.
type tiles struct {
	unit        unit
	begin, step float64
	first, n    int // the number of the first window, and how many there are
}

// tile returns the windows of a moved range of time, or nil.
func (s *spreader) tile() *tiles {
	if !s.timed || s.moved == nil || s.moved.Op != ast.OpBetween || s.period != nil {
		return nil
	}
	low, high, unit, ok := s.ends()
	if !ok {
		return nil
	}
	t := &tiles{unit: unit, begin: low, step: high - low + 1}
	first, last := s.reach(t, func(it *dataset.Item) bool { return it.Generated })
	if first > last {
		first, last = s.reach(t, func(*dataset.Item) bool { return true })
	}
	if first > last {
		return nil
	}
	t.first, t.n = first, last-first+1
	return t
}

// reach returns the numbers of the first and the last window with rows of some items. The items of a file may lie
// years away from those that are generated.
func (s *spreader) reach(t *tiles, some func(*dataset.Item) bool) (first, last int) {
	first, last = math.MaxInt, math.MinInt
	for i := range s.all {
		rows := s.listing(s.space.Rows[s.all[i].low:s.all[i].high])
		for j, at := range s.places(rows, t.unit) {
			if some(rows[j].Item) {
				first, last = min(first, t.at(at)), max(last, t.at(at))
			}
		}
	}
	return first, last
}

func (t *tiles) at(place float64) int { return int(math.Floor((place - t.begin) / t.step)) }

// A volume is rows with their bytes, at the declared scale.
type volume struct{ rows, bytes float64 }

// windowed returns what lies in each window in which a candidate has rows, or nil if it has no windows.
func (s *spreader) windowed(c *candidate) []volume {
	if s.tiled == nil {
		return nil
	}
	rows := s.space.Rows[c.low:c.high]
	each := s.grow.In(rows)
	rows = s.listing(rows)
	at := s.places(rows, s.tiled.unit)
	if at == nil {
		return nil
	}
	windows := map[int]volume{}
	counts := map[int]float64{} // in the sample
	var sum volume
	for i := range rows {
		k, n := s.tiled.at(at[i]), each(rows[i].Item)
		if k < s.tiled.first || k >= s.tiled.first+s.tiled.n {
			continue
		}
		v := volume{windows[k].rows + n, windows[k].bytes + n*float64(rows[i].Size())}
		sum.rows, sum.bytes = sum.rows+n, sum.bytes+n*float64(rows[i].Size())
		windows[k] = v
		counts[k]++
	}
	if sum.rows > 1.01*float64(len(rows)) {
		return s.tiled.evened(counts, sum)
	}
	all := make([]volume, 0, len(windows))
	for k := s.tiled.first; len(all) < len(windows); k++ {
		if v, ok := windows[k]; ok {
			all = append(all, v)
		}
	}
	return all
}

// evened returns what lies in each window at the declared scale, where the windows differ less by chance than in a
// sample: by the variance of the sample without that of chance, and with that of chance at the declared scale.
func (t *tiles) evened(counts map[int]float64, sum volume) []volume {
	n, rows, squares := float64(t.n), 0.0, 0.0
	for _, count := range counts {
		rows, squares = rows+count, squares+count*count
	}
	mean, growth := rows/n, sum.rows/rows
	variance := squares/n - mean*mean
	slope := 0.0
	if variance > 0 {
		slope = math.Sqrt((max(0, variance-mean)*growth*growth + mean*growth) / variance)
	}
	all := make([]volume, t.n)
	for k := range all {
		all[k].rows = max(0, mean*growth+(counts[t.first+k]-mean)*slope)
		all[k].bytes = all[k].rows * sum.bytes / sum.rows
	}
	return all
}

// An average is what a request reads on average over all windows: the rows, the read units, and the rows that there
// are without a limit.
type average struct{ rows, units, held float64 }

// averaged returns the average over some windows, and over those without rows, if they have so many times as many.
func (s *spreader) averaged(windows []volume, times dataset.Stand) *average {
	n, limit := float64(s.tiled.n), float64(s.q.Report.Limit)
	empty := table.ReadUnits(0, s.consistent())
	a := &average{units: empty * (n - float64(len(windows)))}
	for _, v := range windows {
		rows, bytes := v.rows*times.Rows, v.bytes*times.Bytes
		a.held += rows
		if limit > 0 && rows > limit {
			rows, bytes = limit, bytes*limit/rows
		}
		a.rows += rows
		a.units += table.ReadUnits(int(bytes), s.consistent())
	}
	a.rows, a.units, a.held = a.rows/n, a.units/n, a.held/n
	return a
}

// consistent reports whether the pattern reads strongly consistently.
func (s *spreader) consistent() bool { return s.p.Consistent || s.q.Report.Consistent }

// cost returns what a request for the value of a candidate reads on average.
func (s *spreader) cost(c *candidate) (units, rows float64) {
	if c.average != nil {
		return c.average.units, c.average.rows
	}
	return table.ReadUnits(int(c.bytes), s.consistent()), c.rows
}
