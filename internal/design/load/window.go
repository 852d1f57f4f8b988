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

// windows are the time ranges that the requests ask for. All are as long as the pattern's own range. The first begins
// at the earliest row of all values, and each next one where the previous one ends. The last ends at the latest row,
// so it may begin earlier and overlap the one before it.
//
// Averages, and therefore bills, are taken over all windows. The worst case for a value may begin at any time, not
// only where a window begins: it is the range of this length with the most bytes. If the partition key contains a
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
	n         int

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

// reading returns the numbers of the windows that overlap a period. The requests for these windows read the period's
// partition.
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

// An average is what requests read on average. rows is an average over all windows. units is an average over all
// windows if it is for a value as a whole, and over the windows that read the partition if it is for one partition.
// each is the number of rows of one request. It is set only in a sample.
type average struct{ rows, units, each float64 }

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
		rows := p.s.listing(p.s.space.Rows[p.low:p.high])
		v.series[last].rows = append(v.series[last].rows, rows...)
	}
	counts := map[int]int{}
	sum, squares := 0, 0
	for _, one := range v.series {
		one.s.grow.Count(one.rows)
		for i := range one.rows {
			if at, ok := w.place(&one.rows[i]); ok {
				for _, k := range w.windowsAt(at) {
					sum, squares = sum+1, squares+2*counts[k]+1 // (n+1)² = n² + 2n + 1
					counts[k]++
				}
			}
		}
	}
	mean := float64(sum) / float64(w.n)
	w.means, w.variances = w.means+mean, w.variances+float64(squares)/float64(w.n)-mean*mean
}

// set sets what the requests for v read on average and in the busiest window.
func (w *windows) set(v *candidate) {
	if len(v.series) == 0 {
		w.average(v)
		w.busiest(v, nil)
		return
	}
	v.times = v.series[0].s.times(v.series[0].rows)
	sampled, all := 0, volume{}
	for _, one := range v.series {
		rows, bytes := volumeOf(one.rows, one.s.grow.In(one.rows))
		sampled, all = sampled+len(one.rows), volume{all.rows + rows, all.bytes + bytes}
	}
	w.evenly(v, all, float64(sampled))
	w.busiest(v, func(busy float64) float64 { return w.declared(busy, float64(sampled), all.rows) })
}

// evenly sets the averages of what the requests for a value of a sample read. It assumes that the value's rows at the
// declared scale divide evenly among all windows, and among the requests for each window.
func (w *windows) evenly(v *candidate, all volume, sampled float64) {
	requests, n := w.shards*w.periods, max(1, (w.high-w.low+1)/w.step)
	s := v.parts[0].s
	each := s.limitedTo(all, 1/(n*requests))
	v.held = all.rows / n
	v.average = &average{rows: requests * each.rows, units: requests * s.unitsOf(each.bytes)}
	for i := range v.parts {
		c := *v.parts[i].candidate
		share := float64(len(v.parts[i].s.listing(v.parts[i].s.space.Rows[c.low:c.high]))) / sampled
		c.held = all.rows * share
		in := s.limitedTo(all, share/float64(max(1, len(w.reading(v.parts[i].bucket)))))
		c.average = &average{v.average.rows * share, s.unitsOf(in.bytes), each.rows}
		v.parts[i].candidate = &c
	}
}

// declared estimates the rows of the busiest window at the declared scale. busy is its rows in the sample; sampled
// and declared are the value's rows in all windows of the sample and at the declared scale.
//
// The fewer rows there are, the more the windows differ by chance. If chance alone made them differ, the square roots
// of their row counts would vary equally at both scales. Chance explains a variance equal to the mean. The rest of
// the variance is a real difference between windows, which grows in proportion to the rows.
func (w *windows) declared(busy, sampled, declared float64) float64 {
	chance := math.Sqrt(declared/float64(w.n)) + math.Sqrt(busy) - math.Sqrt(sampled/float64(w.n))
	chance *= chance
	if w.variances <= w.means {
		return chance
	}
	return chance + (1-w.means/w.variances)*(busy*declared/sampled-chance)
}

// average sets the averages of what the requests for v read. It is for datasets that are not samples.
func (w *windows) average(v *candidate) {
	n, held := float64(w.n), 0.0
	v.average = &average{units: w.shards * w.periods * w.empty}
	for i := range v.parts {
		p := &v.parts[i]
		c, reading := *p.candidate, w.reading(p.bucket)
		rows, more := 0.0, 0.0 // units beyond those of the same requests without rows
		volumes := w.volumes(p.s, &c)
		// sorted, so that the floating-point sum is always the same
		for _, k := range slices.Sorted(maps.Keys(volumes)) {
			held += volumes[k].rows
			read := p.s.limitedTo(volumes[k], 1)
			rows, more = rows+read.rows, more+p.s.unitsOf(read.bytes)-w.empty
		}
		v.average.units, v.average.rows = v.average.units+more/n, v.average.rows+rows/n
		c.average = &average{rows: rows / n, units: w.empty + more/float64(max(len(reading), 1))}
		p.candidate = &c
	}
	v.held += held / n // only one division, so that rounding keeps equal candidates equal
}

// volumes returns the candidate's volume in each window.
func (w *windows) volumes(s *spreader, c *candidate) map[int]volume {
	all := map[int]volume{}
	for _, row := range s.listing(s.space.Rows[c.low:c.high]) {
		at, ok := w.place(&row)
		if !ok {
			continue
		}
		for _, k := range w.windowsAt(at) {
			all[k] = volume{all[k].rows + 1, all[k].bytes + float64(row.Size())}
		}
	}
	return all
}

// place returns the time of a row in units.
func (w *windows) place(r *dataset.Row) (float64, bool) {
	return w.unit.place(r.Item.Values.Get(w.field))
}

// A placed is a row of a value with its time.
type placed struct {
	at    float64
	part  int
	row   int // index in the space
	bytes int
}

// busiest finds the range in which the rows of the value v have the most bytes, and sets what a request reads there.
// The range is as long as a window but may begin at any time. The pattern's own window wins a tie. If declared is not
// nil, it converts the number of rows there to the declared scale.
func (w *windows) busiest(v *candidate, declared func(rows float64) float64) {
	var all []placed
	for i, p := range v.parts {
		for k := p.low; k < p.high; k++ {
			row := &p.s.space.Rows[k]
			if at, ok := w.place(row); ok && p.s.lists(row) {
				all = append(all, placed{at, i, k, row.Size()})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b placed) int { return cmp.Compare(a.at, b.at) })

	from, bytes, most := 0, 0, 0
	var rows, own []placed // rows are in the busiest window, own in the pattern's own window
	ownBytes := 0
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
	for i, p := range v.parts {
		c := p.candidate
		c.Slice = Slice{Part: c.Part}
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
			c.Rows, c.Bytes = c.Rows+1, c.Bytes+r.bytes
		}
		all := p.s.limitedTo(volume{float64(c.Rows), float64(c.Bytes)}, growth)
		sum = volume{sum.rows + float64(c.Rows), sum.bytes + float64(c.Bytes)}
		if limit := p.s.q.Report.Limit; limit > 0 && c.Rows > limit {
			c.Rows, c.Bytes = limit, c.Bytes*limit/c.Rows
		}
		c.rows, c.bytes, c.units = all.rows, all.bytes, p.s.unitsOf(all.bytes)
		if c.Growth, c.ByteGrowth = 1, 1; c.Rows > 0 {
			c.Growth, c.ByteGrowth = all.rows/float64(c.Rows), all.bytes/float64(c.Bytes)
		}
		_, c.then = p.s.batched(read, c.Growth)
	}
	first, _, _ := moments(v.args[0])
	from, _ := w.unit.place(first)
	requests := w.shards * w.periodsFrom(from)
	held := v.held
	v.sum(requests * w.empty)
	v.held = held
	if len(v.series) > 0 { // a sample may lack rows in some of the partitions
		s := v.parts[0].s
		v.units = requests * s.unitsOf(s.limitedTo(sum, growth/requests).bytes)
	}
}
