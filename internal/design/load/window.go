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
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/keys"
)

// windows are the times with which a range of time is asked: of its length, one after the other from the first row of
// all values to the last, with which the last one ends. The mean, and so the bill, is that of all of them. What a value
// reads at most is in the busiest time of that length, wherever it begins. A window reads several partitions if a
// period of the time is in their key, such as the month, or a shard.
type windows struct {
	at        int // of the range among the conditions
	field     string
	own       []string // its bounds
	unit      unit
	begin     float64
	step      float64
	bucket    keys.Type // the period in the partition key, or the zero value
	low, high float64   // of the rows
	n         int

	shards  float64 // requests for each period
	periods float64 // in a window, on average
}

// windowsOf returns the windows of a pattern, or nil if it has no range of time.
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

// moments returns the first and the last time of what a text names, such as a month.
func moments(text string) (first, last string, ok bool) {
	if first, last, ok := compile.Period(keys.Type{Name: "nanos"}, text); ok {
		return first, last, true
	}
	_, err := time.Parse(time.RFC3339Nano, text)
	return text, text, err == nil
}

// reach sets how many windows there are. The items of a file may lie years away from those that are generated.
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
}

// start returns where a window begins.
func (w *windows) start(k int) float64 {
	if k > 0 && k == w.n-1 {
		return w.high - w.step + 1
	}
	return w.low + float64(k)*w.step
}

// windowsAt returns the windows that have a time: the last two can overlap.
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

// args returns the bounds of a window.
func (w *windows) args(from float64) []string {
	return []string{w.unit.text(from), w.unit.text(from + w.step - 1)}
}

// periodsFrom returns the number of periods of the partition key that a window touches.
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

// reading returns the windows that read a period.
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

// bucketUnit returns what periods of a type count.
func bucketUnit(t keys.Type) unit {
	switch t.Name {
	case "year":
		return "2006"
	case "month":
		return "2006-01"
	}
	return time.DateOnly
}

// A volume is rows with their bytes, at the declared scale.
type volume struct{ rows, bytes float64 }

// limitedTo returns what one request reads.
func (s *spreader) limitedTo(v volume, times dataset.Stand) volume {
	v.rows, v.bytes = v.rows*times.Rows, v.bytes*times.Bytes
	if limit := float64(s.q.Report.Limit); limit > 0 && v.rows > limit {
		v.rows, v.bytes = limit, v.bytes*limit/v.rows
	}
	return v
}

// An average is what a request reads on average over all windows: the rows, the rows that there are without a limit,
// and the read units in a partition, over those that read it.
type average struct{ rows, units, held float64 }

// values returns the values that the pattern can be asked with, each with the partitions that have rows of it.
func (w *windows) values(spreaders []*spreader) (list []*asked) {
	w.reach(spreaders)
	byID := map[string]*asked{}
	for i, s := range spreaders {
		for k := range s.all {
			c := &s.all[k]
			if c.row == nil {
				if i == 0 {
					list = append(list, &asked{times: c.times})
				}
				continue
			}
			id := s.valuesOf(c)
			if byID[id] == nil {
				byID[id] = &asked{id: id, row: c.row, times: c.times}
				list = append(list, byID[id])
			}
			if !c.empty {
				byID[id].parts = append(byID[id].parts, portion{s: s, c: c})
			}
		}
	}

	found := list
	list = nil
	for _, v := range found {
		stands := []dataset.Stand{{Times: v.times, Rows: 1, Bytes: 1}}
		if len(v.parts) > 0 {
			if all, ok := v.parts[0].s.stands(v.parts[0].c); ok && len(all) > 0 && all[0].Rows > 0 {
				stands = all
			}
		}
		for k, stand := range stands {
			next := *v
			next.times, next.again, next.parts = stand.Times, k, slices.Clone(v.parts)
			w.average(&next, stand)
			w.busiest(&next, stand)
			list = append(list, &next)
		}
	}
	return list
}

// average sets what the requests for a value read on average.
func (w *windows) average(v *asked, stand dataset.Stand) {
	n := float64(w.n)
	for i := range v.parts {
		p := &v.parts[i]
		c, empty := *p.c, table.ReadUnits(0, p.s.consistent())
		a, reading := &average{}, w.reading(c.bucket)
		more := 0.0 // than empty requests cost
		var volumes map[int]volume
		volumes, p.chance = w.volumes(p.s, &c, reading)
		for _, k := range slices.Sorted(maps.Keys(volumes)) { // so that the sum is always the same
			volume := volumes[k]
			a.held += volume.rows * stand.Rows
			read := p.s.limitedTo(volume, stand)
			a.rows += read.rows
			more += table.ReadUnits(int(read.bytes), p.s.consistent()) - empty
		}
		v.units, v.rows, v.held = v.units+more, v.rows+a.rows, v.held+a.held
		a.units = empty + more/float64(max(len(reading), 1))
		a.rows, a.held = a.rows/n, a.held/n
		c.average, c.times, c.again = a, v.times, v.again
		p.c = &c
	}
	v.units, v.rows, v.held = v.units/n, v.rows/n, v.held/n
}

// volumes returns what a candidate has in each of the windows that read it, and by how much the busiest has fewer rows
// at the declared scale than if it grew like all.
func (w *windows) volumes(s *spreader, c *candidate, reading []int) (map[int]volume, float64) {
	each := s.grow.In(s.space.Rows[c.low:c.high])
	rows := s.listing(s.space.Rows[c.low:c.high])
	all := map[int]volume{}
	counts := map[int]float64{} // in the sample
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

// place returns where a row lies in time.
func (w *windows) place(r *dataset.Row) (float64, bool) {
	return w.unit.place(r.Item.Values.Get(w.field))
}

// evened returns what lies in each window at the declared scale, where the windows differ less by chance than in a
// sample: by the variance of the sample without that of chance, and with that of chance at the declared scale.
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

// A placed row is one of a value, with its place in time.
type placed struct {
	at   float64
	part int
	row  int // in the space
	volume
}

// busiest sets what the requests for a value read at most.
func (w *windows) busiest(v *asked, stand dataset.Stand) {
	var all []placed
	for i, p := range v.parts {
		rows := p.s.space.Rows[p.c.low:p.c.high]
		each := p.s.grow.In(rows)
		for k := range rows {
			if !p.s.lists(&rows[k]) {
				continue
			}
			if at, ok := w.place(&rows[k]); ok {
				n := each(rows[k].Item)
				all = append(all, placed{at, i, p.c.low + k, volume{n, n * float64(rows[k].Size())}})
			}
		}
	}
	if len(all) == 0 {
		v.most.args = w.own
		return
	}
	slices.SortStableFunc(all, func(a, b placed) int { return cmp.Compare(a.at, b.at) })

	from, bytes, most := 0, 0.0, 0.0
	var rows, own []placed // of the busiest window, and of the pattern's own
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
	if v.most.args = w.args(rows[0].at); ownBytes >= most {
		v.most.args, rows = w.own, own
	}
	w.add(v, rows, stand)
}

// add adds the rows of the busiest window of a value.
func (w *windows) add(v *asked, rows []placed, stand dataset.Stand) {
	for i, p := range v.parts {
		c := p.c
		c.From, c.To, c.Rows, c.Bytes = 0, 0, 0, 0
		var sum volume
		var read []dataset.Row
		for _, r := range rows {
			if r.part != i {
				continue
			}
			read = append(read, p.s.space.Rows[r.row])
			if c.Rows == 0 {
				c.From, c.To = r.row, r.row
			}
			c.From, c.To = min(c.From, r.row), max(c.To, r.row+1)
			sum.rows, sum.bytes = sum.rows+r.rows, sum.bytes+r.bytes
			c.Rows, c.Bytes = c.Rows+1, c.Bytes+p.s.space.Rows[r.row].Size()
		}
		if c.Rows == 0 {
			continue
		}
		if limit := p.s.q.Report.Limit; limit > 0 && c.Rows > limit {
			c.Rows, c.Bytes = limit, c.Bytes*limit/c.Rows
		}
		all := p.s.limitedTo(sum, dataset.Stand{Rows: stand.Rows * p.chance, Bytes: stand.Bytes * p.chance})
		c.Growth, c.ByteGrowth = all.rows/float64(c.Rows), all.bytes/float64(max(c.Bytes, 1))
		c.rows, c.bytes = all.rows, all.bytes
		v.most.rows, v.most.bytes = v.most.rows+all.rows, v.most.bytes+all.bytes
		v.most.then += p.s.batched(read) * c.Growth
		v.most.sampled, v.most.sampledBytes = v.most.sampled+c.Rows, v.most.sampledBytes+c.Bytes
		v.most.units += table.ReadUnits(int(all.bytes), p.s.consistent()) - table.ReadUnits(0, p.s.consistent())
	}
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
