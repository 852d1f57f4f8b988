package load

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/keys"
)

// windows are the time ranges that the requests ask for. All are as long as the pattern's own range.
//
// Averages, and therefore bills, are taken over all windows between the first and the last row of all values: one
// begins in each unit of time, such as each second or each day. The worst case for a value is the range of this length
// that costs most and begins at one of the value's rows, or the pattern's own range. If the partition key contains a
// shard, or a period of the time such as the month, a window spans several partitions.
type windows struct {
	at        int // index of the time range among the conditions
	field     string
	own       []string // bounds of the pattern's own window
	unit      unit
	begin     float64
	step      float64
	bucket    keys.Type // type of the period in the partition key, or the zero value
	low, high float64   // first and last time of the rows
	last      float64   // beginning of the last window; the first begins at low
	count     float64   // number of windows

	shards  float64 // number of requests for each period
	empty   float64 // read units of a request that reads nothing
	periods float64 // average number of periods in a window

	// means and variances are sums over the values of a sample. For each value, they contain the mean and the
	// variance of the number of rows in a window.
	means, variances float64
}

// ignored returns the name of the time field, in which the rows of one value may differ, or "" without windows.
func (w *windows) ignored() string {
	if w == nil {
		return ""
	}
	return w.field
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

// reach sets the earliest and latest time and the number of windows from the times of the generated rows. If there
// are no generated rows, it uses the items in the file. It does not mix the two, because the times in the file may be
// years away from the generated ones.
func (w *windows) reach(spreaders []*spreader) {
	for _, generated := range []bool{true, false} {
		w.low, w.high = math.Inf(1), math.Inf(-1)
		for _, s := range spreaders {
			for i := range s.all {
				for _, row := range s.listing(s.space.Rows[s.all[i].low:s.all[i].high]) {
					if at, ok := w.unit.place(row.Item.Values.Get(w.field)); ok && row.Item.Generated == generated {
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
	w.last = max(w.low, w.high-w.step+1)
	w.count = w.last - w.low + 1

	const most = 1000
	sum := 0.0
	_ = spreadOver(int(w.count), most, func(k int) error {
		sum += w.periodsFrom(w.low + float64(k))
		return nil
	})
	w.shards, w.periods = float64(len(spreaders)), sum/min(w.count, most)
	w.empty = spreaders[0].unitsOf(0)
}

// begins returns how many windows begin at or after from, and before to.
func (w *windows) begins(from, to float64) float64 {
	return max(0, min(to, w.last+1)-max(from, w.low))
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

// readers returns the number of windows that overlap a period. The requests for these windows read the period's
// partition.
func (w *windows) readers(period string) float64 {
	first, last, ok := moments(period)
	if !ok {
		return w.count
	}
	from, _ := w.unit.place(first)
	to, _ := w.unit.place(last)
	return max(1, w.begins(from-w.step+1, to+1))
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

// An average is what requests read on average. rows is an average over all windows. units is an average over all
// windows if it is for a value as a whole, and over the windows that read the partition if it is for one partition.
type average struct{ rows, units float64 }

// A series has the rows of one value that one spreader's requests read in all windows together.
type series struct {
	s    *spreader
	rows []dataset.Row
}

// gather sets the series of a value in a sample, and counts each series as one group for the growth. It does not
// count periods separately, because a sample may lack some of the periods in which a value has rows.
func (w *windows) gather(v *candidate) {
	for _, p := range v.parts {
		last := len(v.series) - 1
		if last < 0 || v.series[last].s != p.s {
			v.series, last = append(v.series, series{s: p.s}), last+1
		}
		v.series[last].rows = append(v.series[last].rows, p.s.listing(p.s.space.Rows[p.low:p.high])...)
	}
	for _, one := range v.series {
		one.s.grow.Count(one.rows)
	}
	sum, squares := 0.0, 0.0
	w.slide(w.rows(v), func(i, k, _ int, from, to float64) {
		n, times := float64(k-i), w.begins(from, to)
		sum, squares = sum+n*times, squares+n*n*times
	})
	mean := sum / w.count
	w.means, w.variances = w.means+mean, w.variances+squares/w.count-mean*mean
}

// set sets what the requests for v read on average and in the busiest window.
func (w *windows) set(v *candidate) {
	rows := w.rows(v)
	if len(v.series) == 0 {
		w.average(v, rows)
		w.busiest(v, rows, nil)
		return
	}
	v.times = v.series[0].s.times(v.series[0].rows)
	all := volume{}
	for _, one := range v.series {
		n, bytes := volumeOf(one.rows, one.s.grow.In(one.rows))
		all = volume{all.rows + n, all.bytes + bytes}
	}
	w.evenly(v, all, rows)
	w.busiest(v, rows, func(busy float64) float64 { return w.declared(busy, float64(len(rows)), all.rows) })
}

// evenly sets the averages of what the requests for a value of a sample read. It assumes that the value's rows at the
// declared scale divide evenly among all windows, and among the requests for each window.
func (w *windows) evenly(v *candidate, all volume, rows []placed) {
	requests, n := w.shards*w.periods, max(1, (w.high-w.low+1)/w.step)
	s := v.parts[0].s
	each := s.limitedTo(all, 1/(n*requests))
	v.held = all.rows / n
	v.average = &average{rows: requests * each.rows, units: requests * s.unitsByChance(each)}
	in := make([]float64, len(v.parts))
	for _, r := range rows {
		in[r.part]++
	}
	for i := range v.parts {
		c := *v.parts[i].candidate
		share := in[i] / float64(len(rows))
		c.held = all.rows * share
		read := s.limitedTo(all, share*min(w.step, w.count)/w.readers(v.parts[i].bucket)) // each row is in step windows
		c.average = &average{v.average.rows * share, s.unitsByChance(read)}
		v.parts[i].candidate = &c
	}
}

// unitsByChance returns the average read units of requests that read the given volume on average. Their numbers of
// rows vary by chance, in a Poisson distribution. This matters because the units of each request are rounded up.
func (s *spreader) unitsByChance(v volume) (units float64) {
	const most = 500 // rows, for which the probabilities do not underflow
	if v.rows == 0 || v.rows > most || s.q.Report.Limit > 0 {
		return s.unitsOf(v.bytes)
	}
	left, chance := 1.0, math.Exp(-v.rows)
	for n := 0.0; left > 1e-9 && n < 3*most; n++ {
		units += chance * s.unitsOf(n*v.bytes/v.rows)
		left, chance = left-chance, chance*v.rows/(n+1)
	}
	return units
}

// declared estimates the rows of the busiest window at the declared scale. busy is its rows in the sample; sampled
// and declared are the value's rows in all windows of the sample and at the declared scale.
//
// The fewer rows there are, the more the windows differ by chance. If chance alone made them differ, the square roots
// of their row counts would vary equally at both scales. Chance explains a variance equal to the mean. The rest of
// the variance is a real difference between windows, which grows in proportion to the rows.
func (w *windows) declared(busy, sampled, declared float64) float64 {
	n := max(1, (w.high-w.low+1)/w.step)
	chance := math.Sqrt(declared/n) + math.Sqrt(busy) - math.Sqrt(sampled/n)
	chance *= chance
	if w.variances <= w.means {
		return chance
	}
	return chance + (1-w.means/w.variances)*(busy*declared/sampled-chance)
}

// average sets the averages of what the requests for v read. It is for datasets that are not samples.
func (w *windows) average(v *candidate, rows []placed) {
	v.average = &average{units: w.shards * w.periods * w.empty}
	in := make([][]placed, len(v.parts))
	for _, r := range rows {
		in[r.part] = append(in[r.part], r)
	}
	all, held, units := 0.0, 0.0, 0.0
	for i := range v.parts {
		p := &v.parts[i]
		read, more := 0.0, 0.0 // more are the units beyond those of requests without rows
		w.slide(in[i], func(from, to, bytes int, begin, end float64) {
			times := w.begins(begin, end)
			one := p.s.limitedTo(volume{float64(to - from), float64(bytes)}, 1)
			held, read = held+times*float64(to-from), read+times*one.rows
			more += times * (p.s.unitsOf(one.bytes) - w.empty)
		})
		c := *p.candidate
		c.average = &average{rows: read / w.count, units: w.empty + more/w.readers(p.bucket)}
		p.candidate = &c
		all, units = all+read, units+more
	}
	// only one division, so that rounding keeps equal candidates equal
	v.average.rows, v.held = all/w.count, held/w.count
	v.average.units += units / w.count
}

// A placed is a row of a value with its time.
type placed struct {
	dataset.Row
	at   float64
	part int // index of the candidate's part
	row  int // index in the space
}

// rows returns the rows of the value v in order of time.
func (w *windows) rows(v *candidate) (all []placed) {
	for i, p := range v.parts {
		for k := p.low; k < p.high; k++ {
			row := &p.s.space.Rows[k]
			if at, ok := w.unit.place(row.Item.Values.Get(w.field)); ok && p.s.lists(row) {
				all = append(all, placed{*row, at, i, k})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b placed) int { return cmp.Compare(a.at, b.at) })
	return all
}

// rowsOf returns the rows without their times.
func rowsOf(all []placed) []dataset.Row {
	rows := make([]dataset.Row, len(all))
	for i := range all {
		rows[i] = all[i].Row
	}
	return rows
}

// slide moves a window over rows, which must be in order of time. It calls f once for all beginnings with which a
// window has the same rows. The window begins at or after begin and before end; its rows are those from index from up
// to index to, and have the given number of bytes.
func (w *windows) slide(rows []placed, f func(from, to, bytes int, begin, end float64)) {
	if len(rows) == 0 {
		return
	}
	from, to, bytes := 0, 0, 0
	at, last := min(w.low, rows[0].at), max(w.last, rows[len(rows)-1].at)
	for at <= last {
		for ; to < len(rows) && rows[to].at < at+w.step; to++ {
			bytes += rows[to].Size()
		}
		for ; from < to && rows[from].at < at; from++ {
			bytes -= rows[from].Size()
		}
		end := last + 1
		if to < len(rows) {
			end = min(end, rows[to].at-w.step+1)
		}
		if from < to {
			end = min(end, rows[from].at+1)
		}
		f(from, to, bytes, at, end)
		at = end
	}
}

// firstsOf returns, for each row, the share of the windows in which it is the first row that leads to its key. n is
// the average number of keys in a window.
func (w *windows) firstsOf(rows []placed, keys []string) (firsts []float64, n float64) {
	firsts = make([]float64, len(rows))
	before := map[string]float64{} // time of the previous row of a key
	for i, key := range keys {
		if key == "" {
			continue
		}
		from := rows[i].at - w.step + 1
		if at, ok := before[key]; ok {
			from = max(from, at+1)
		}
		before[key] = rows[i].at
		firsts[i] = w.begins(from, rows[i].at+1) / w.count
		n += firsts[i]
	}
	return firsts, n
}

// busiest finds the window in which the requests for the value v cost most, with their follow-up reads, and sets what
// they read there. The pattern's own window wins a tie. If declared is not nil, it converts the number of rows there
// to the declared scale.
func (w *windows) busiest(v *candidate, rows []placed, declared func(rows float64) float64) {
	var s *spreader
	keys, items := make([]string, len(rows)), map[string]*dataset.Item{}
	if len(rows) > 0 {
		s = v.parts[0].s
	}
	if s != nil && s.p.Then != nil {
		keys, items = followed(s.p.Then, rowsOf(rows)), keyedItems(s.w, s.p.Then)
	}
	found := map[string]int{} // number of rows that lead to a key
	low, high, then := 0, 0, 0.0
	var busy, own []placed
	most, ownCost := 0.0, 0.0
	w.slide(rows, func(from, to, bytes int, begin, end float64) {
		for ; high < to; high++ {
			if found[keys[high]]++; keys[high] != "" && found[keys[high]] == 1 {
				then += fetchUnits(s.p, items[keys[high]])
			}
		}
		for ; low < from; low++ {
			if found[keys[low]]--; keys[low] != "" && found[keys[low]] == 0 {
				then -= fetchUnits(s.p, items[keys[low]])
			}
		}
		cost := float64(bytes)/(4<<10)*s.unitsOf(0) + then // without rounding
		if from < to && begin <= rows[from].at && rows[from].at < end && cost > most {
			most, busy = cost, rows[from:to]
		}
		if begin <= w.begin && w.begin < end {
			own, ownCost = rows[from:to], cost
		}
	})
	if v.args = w.own; ownCost < most {
		v.args, own = w.args(busy[0].at), busy
	}
	growth := 1.0
	if declared != nil && len(own) > 0 {
		growth = declared(float64(len(own))) / float64(len(own))
	}
	w.add(v, own, growth)
}

// add sets what the parts of v read in a window. rows are the window's rows in the dataset. At the declared scale,
// the window has growth times as many.
func (w *windows) add(v *candidate, rows []placed, growth float64) {
	var sum volume
	var read []dataset.Row
	for i, p := range v.parts {
		c := p.candidate
		c.Slice = Slice{Part: c.Part}
		var in []dataset.Row
		for _, r := range rows {
			if r.part != i {
				continue
			}
			if c.Rows == 0 {
				c.From = r.row
			}
			c.From, c.To = min(c.From, r.row), max(c.To, r.row+1)
			in = append(in, r.Row)
			c.Rows, c.Bytes = c.Rows+1, c.Bytes+r.Size()
		}
		read = append(read, p.s.limited(in)...)
		all := p.s.limitedTo(volume{float64(c.Rows), float64(c.Bytes)}, growth)
		sum = volume{sum.rows + float64(c.Rows), sum.bytes + float64(c.Bytes)}
		if limit := p.s.q.Report.Limit; limit > 0 && c.Rows > limit {
			c.Rows, c.Bytes = limit, c.Bytes*limit/c.Rows
		}
		c.rows, c.bytes, c.units = all.rows, all.bytes, p.s.unitsOf(all.bytes)
		if c.Growth, c.ByteGrowth = 1, 1; c.Rows > 0 {
			c.Growth, c.ByteGrowth = all.rows/float64(c.Rows), all.bytes/float64(c.Bytes)
		}
	}
	first, _, _ := moments(v.args[0])
	from, _ := w.unit.place(first)
	requests := w.shards * w.periodsFrom(from)
	held := v.held
	v.sum(requests*w.empty, read)
	v.held = held
	if len(v.series) > 0 { // a sample may lack rows in some of the partitions
		s := v.parts[0].s
		v.units = requests * s.unitsOf(s.limitedTo(sum, growth/requests).bytes)
	}
}
