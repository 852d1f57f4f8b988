package load

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/keys"
)

// windows are the ranges of time that the requests ask for. All are as long as the pattern's range. The first begins
// at the earliest row of all values, each next one where the previous one ends, and the last one ends at the latest
// row.
//
// Averages, and therefore bills, are over all windows. The most that a request reads for a value is not bound to
// them: it is what the busiest range of that length contains, which may begin at any time. If the partition key
// contains a period of the time, such as the month, or a shard, a window spans several partitions.
type windows struct {
	at        int // index of the range among the conditions
	field     string
	own       []string // bounds of the pattern's own window
	unit      unit
	begin     float64
	step      float64
	bucket    keys.Type // type of the period in the partition key, or the zero value
	low, high float64   // first and last time of the rows
	n         int

	shards  float64 // number of requests for each period
	empty   float64 // read units of a request that reads nothing
	periods float64 // average number of periods in a window
}

// windowsOf returns the windows of a pattern, or nil if the pattern has no BETWEEN condition on a time.
func windowsOf(p *model.Pattern) *windows {
	for i, c := range p.Where {
		if p.Entity == nil || c.Op != ast.OpBetween {
			continue
		}
		f := p.Entity.Field(c.Field)
		from, _, ok1 := moments(c.Args[0])
		_, to, ok2 := moments(c.Args[1])
		if f == nil || !model.Moment(f.Type) || !ok1 || !ok2 {
			continue
		}
		w := &windows{at: i, field: c.Field, own: c.Args, unit: unitOf(c.Args[0])}
		if w.unit == "" || w.unit != unitOf(c.Args[1]) {
			w.unit = time.RFC3339Nano
		}
		low, _ := w.unit.place(from)
		high, _ := w.unit.place(to)
		w.begin, w.step = low, high-low+1
		w.bucket, _ = compile.Bucket(p, c.Field)
		if w.step > 0 {
			return w
		}
	}
	return nil
}

// moments returns the first and the last moment of a period such as a month. For a time, both are that time.
func moments(text string) (first, last string, ok bool) {
	if first, last, ok := compile.Period(keys.Type{Name: "nanos"}, text); ok {
		return first, last, true
	}
	_, err := time.Parse(time.RFC3339Nano, text)
	return text, text, err == nil
}

// reach sets the number of windows, from the times of the generated rows. It uses the items in the file only if no
// rows are generated, because the times in the file may be years away from the generated ones.
func (w *windows) reach(spreaders []*spreader) {
	for _, generated := range []bool{true, false} {
		w.low, w.high = math.Inf(1), math.Inf(-1)
		for _, s := range spreaders {
			for i := range s.all {
				for _, row := range s.listing(s.space.Rows[s.all[i].low:s.all[i].high]) {
					if at, ok := w.place(&row); ok && row.Item.Generated == generated {
						w.low, w.high = min(w.low, at), max(w.high, at)
					}
				}
			}
		}
		if w.low <= w.high {
			break
		}
	}
	if w.low > w.high {
		w.low, w.high = w.begin, w.begin
	}
	w.n = int(math.Ceil((w.high - w.low + 1) / w.step))

	const most = 1000
	sum := 0.0
	_ = spreadOver(w.n, most, func(k int) error {
		sum += w.periodsFrom(w.start(k))
		return nil
	})
	w.shards, w.periods = float64(len(spreaders)), sum/float64(min(w.n, most))
	w.empty = spreaders[0].unitsOf(0)
}

// start returns the beginning of window k.
func (w *windows) start(k int) float64 {
	if k > 0 && k == w.n-1 {
		return w.high - w.step + 1
	}
	return w.low + float64(k)*w.step
}

// windowsAt returns the windows that contain a time. There can be two, because the last two windows may overlap.
func (w *windows) windowsAt(place float64) (all []int) {
	if place < w.low || place > w.high {
		return nil
	}
	if k := int((place - w.low) / w.step); k < w.n-1 {
		all = append(all, k)
	}
	if place >= w.start(w.n-1) {
		all = append(all, w.n-1)
	}
	return all
}

// args returns the bounds of the window that begins at from.
func (w *windows) args(from float64) []string {
	return []string{w.unit.text(from), w.unit.text(from + w.step - 1)}
}

// periodsFrom returns the number of periods of the partition key in the window that begins at from.
func (w *windows) periodsFrom(from float64) float64 {
	if w.bucket.Name == "" {
		return 1
	}
	args, unit := w.args(from), bucketUnit(w.bucket)
	_, last, _ := moments(args[1])
	low, _ := unit.place(args[0])
	high, _ := unit.place(last)
	return high - low + 1
}

// reading returns the numbers of the windows that overlap a period, whose requests therefore read its partition.
func (w *windows) reading(period string) (all []int) {
	from, to := w.low, w.high
	if first, last, ok := moments(period); ok {
		from, _ = w.unit.place(first)
		to, _ = w.unit.place(last)
	}
	for k := max(int((from-w.low)/w.step), 0); k < w.n-1 && w.start(k) <= to; k++ {
		all = append(all, k)
	}
	if start := w.start(w.n - 1); from < start+w.step && to >= start {
		all = append(all, w.n-1)
	}
	return all
}

// bucketUnit returns the unit of the periods of a type.
func bucketUnit(t keys.Type) unit {
	switch t.Name {
	case "year":
		return "2006"
	case "month":
		return "2006-01"
	}
	return time.DateOnly
}

// A volume is a number of rows and their bytes, at the declared scale.
type volume struct{ rows, bytes float64 }

// limitedTo multiplies the volume v by times and returns the part of it that one request reads, up to its limit.
func (s *spreader) limitedTo(v volume, times float64) volume {
	v.rows, v.bytes = v.rows*times, v.bytes*times
	if limit := float64(s.q.Report.Limit); limit > 0 && v.rows > limit {
		v.rows, v.bytes = limit, v.bytes*limit/v.rows
	}
	return v
}

// An average is what requests read on average. rows is over all windows. units is over all windows for a value as a
// whole, but for one partition only over the windows that read it.
type average struct{ rows, units float64 }

// values returns the values at the declared scale that v represents, with what the windows read for each.
func (w *windows) values(v *candidate) (all []candidate) {
	stands := []dataset.Stand{{Times: v.times, Rows: 1}}
	if len(v.parts) > 0 {
		stands = v.parts[0].s.stands(v.parts[0].candidate)
	}
	for k, stand := range stands {
		next := *v
		next.times, next.again, next.parts = stand.Times, k, slices.Clone(v.parts)
		w.average(&next, stand.Rows)
		w.busiest(&next, stand.Rows)
		all = append(all, next)
	}
	return all
}

// average sets the averages of what the requests for v read. It multiplies the rows that the growth gives by times.
func (w *windows) average(v *candidate, times float64) {
	n, held := float64(w.n), 0.0
	v.average = &average{units: w.shards * w.periods * w.empty}
	for i := range v.parts {
		p := &v.parts[i]
		c, reading := *p.candidate, w.reading(p.bucket)
		rows, more := 0.0, 0.0 // units in excess of those of empty requests
		var volumes map[int]volume
		volumes, p.chance = w.volumes(p.s, &c, reading)
		// sorted, so that the floating-point sum is always the same
		for _, k := range slices.Sorted(maps.Keys(volumes)) {
			held += volumes[k].rows * times
			read := p.s.limitedTo(volumes[k], times)
			rows, more = rows+read.rows, more+p.s.unitsOf(read.bytes)-w.empty
		}
		v.average.units, v.average.rows = v.average.units+more/n, v.average.rows+rows/n
		c.average = &average{rows: rows / n, units: w.empty + more/float64(max(len(reading), 1))}
		p.candidate = &c
	}
	v.held += held / n // only one division, so that rounding keeps equal candidates equal
}

// volumes returns the candidate's volume in each window at the declared scale, and a correction: the rows of the
// busiest window, scaled up like those of all windows, are to be multiplied by it. The correction is 1 unless the
// candidate is scaled up from a sample; see evened.
func (w *windows) volumes(s *spreader, c *candidate, reading []int) (map[int]volume, float64) {
	each := s.grow.In(s.space.Rows[c.low:c.high])
	rows := s.listing(s.space.Rows[c.low:c.high])
	all := map[int]volume{}
	counts := map[int]float64{} // number of sampled rows
	var sum volume
	for i := range rows {
		at, ok := w.place(&rows[i])
		if !ok {
			continue
		}
		n := each(rows[i].Item)
		bytes := n * float64(rows[i].Size())
		for _, k := range w.windowsAt(at) {
			all[k] = volume{all[k].rows + n, all[k].bytes + bytes}
			sum.rows, sum.bytes = sum.rows+n, sum.bytes+bytes
			counts[k]++
		}
	}
	if growth, _ := volumeOf(rows, each); growth > 1.01*float64(len(rows)) && len(counts) > 0 {
		return evened(reading, counts, sum)
	}
	return all, 1
}

// place returns the time of a row in units.
func (w *windows) place(r *dataset.Row) (float64, bool) {
	return w.unit.place(r.Item.Values.Get(w.field))
}

// evened returns the volume of each window at the declared scale. In a small sample, windows differ more by chance
// than at the declared scale. evened therefore subtracts the variance of chance from the sample's (for a Poisson
// distribution, the mean) and adds that of chance at the declared scale. The second result corrects the rows of the
// busiest window in the same way; see [windows.volumes].
func evened(windows []int, counts map[int]float64, sum volume) (map[int]volume, float64) {
	n, rows, squares, most := float64(len(windows)), 0.0, 0.0, 0.0
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		count := counts[k]
		rows, squares, most = rows+count, squares+count*count, max(most, count)
	}
	mean, growth := rows/n, sum.rows/rows
	variance := squares/n - mean*mean
	slope := 0.0
	if variance > 0 {
		slope = math.Sqrt((max(0, variance-mean)*growth*growth + mean*growth) / variance)
	}
	even := func(count float64) float64 { return max(0, mean*growth+(count-mean)*slope) }
	all := map[int]volume{}
	for _, k := range windows {
		all[k] = volume{even(counts[k]), even(counts[k]) * sum.bytes / sum.rows}
	}
	return all, even(most) / (most * growth)
}

// A placed is a row of a value with its time.
type placed struct {
	at   float64
	part int
	row  int // index in the space
	volume
}

// busiest finds the range in which the rows of the value v have the most bytes, and sets what a request reads there.
// The range is as long as a window but may begin at any time. The pattern's own window wins a tie.
func (w *windows) busiest(v *candidate, times float64) {
	var all []placed
	for i, p := range v.parts {
		rows := p.s.space.Rows[p.low:p.high]
		each := p.s.grow.In(rows)
		for k := range rows {
			if !p.s.lists(&rows[k]) {
				continue
			}
			if at, ok := w.place(&rows[k]); ok {
				n := each(rows[k].Item)
				all = append(all, placed{at, i, p.low + k, volume{n, n * float64(rows[k].Size())}})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b placed) int { return cmp.Compare(a.at, b.at) })

	from, bytes, most := 0, 0.0, 0.0
	var rows, own []placed // of the busiest window, and of the pattern's own window
	ownBytes := 0.0
	for i := range all {
		for bytes += all[i].bytes; all[i].at-all[from].at > w.step-1; from++ {
			bytes -= all[from].bytes
		}
		if bytes > most {
			most, rows = bytes, all[from:i+1]
		}
	}
	for _, r := range all {
		if r.at >= w.begin && r.at < w.begin+w.step {
			own, ownBytes = append(own, r), ownBytes+r.bytes
		}
	}
	if v.args = w.own; ownBytes < most {
		v.args, own = w.args(rows[0].at), rows
	}
	w.add(v, own, times)
}

// add sets what the parts of v read in the window that contains the given rows.
func (w *windows) add(v *candidate, rows []placed, times float64) {
	for i, p := range v.parts {
		c := p.candidate
		c.Slice = Slice{Part: c.Part}
		var sum volume
		var read []dataset.Row
		for _, r := range rows {
			if r.part != i {
				continue
			}
			if c.Rows == 0 {
				c.From = r.row
			}
			c.From, c.To = min(c.From, r.row), max(c.To, r.row+1)
			read = append(read, p.s.space.Rows[r.row])
			sum.rows, sum.bytes = sum.rows+r.rows, sum.bytes+r.bytes
			c.Rows, c.Bytes = c.Rows+1, c.Bytes+p.s.space.Rows[r.row].Size()
		}
		if limit := p.s.q.Report.Limit; limit > 0 && c.Rows > limit {
			c.Rows, c.Bytes = limit, c.Bytes*limit/c.Rows
		}
		all := p.s.limitedTo(sum, times*p.chance)
		c.rows, c.bytes, c.units, c.held = all.rows, all.bytes, p.s.unitsOf(all.bytes), 0
		if c.Growth, c.ByteGrowth = 1, 1; c.Rows > 0 {
			c.Growth, c.ByteGrowth = all.rows/float64(c.Rows), all.bytes/float64(c.Bytes)
		}
		c.then = p.s.batched(read) * c.Growth
	}
	first, _, _ := moments(v.args[0])
	from, _ := w.unit.place(first)
	v.sum(w.shards * w.periodsFrom(from) * w.empty)
}
