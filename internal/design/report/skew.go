package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

// Limits of a partition. Source: DG/bp-partition-key-design.html for units,
// DG/LSI.html for the size of an item collection.
const (
	maxReads      = 3000
	maxWrites     = 1000
	maxCollection = 10 << 30
)

const (
	minSkew    = 8 // partitions worth a plot
	plotWidth  = 460
	plotHeight = 230
	plotPoints = 160
	plotLeft   = 74
	plotRight  = 14
	plotTop    = 22
	plotBottom = 34
	plotEnd    = plotWidth - plotRight // of the axis of ranks
)

// A plot shows partitions by rank from left to right, with a logarithmic
// vertical scale.
type plot struct {
	Title, Label string
	Ticks        []stroke
	Ranks        []label
	Limits       []stroke
	Curves       []curve
	// Far says how far the limits are that are not drawn.
	Far []string

	unit      func(float64) string
	binary    bool // the unit is bytes
	series    []series
	low, high float64 // the ends of the vertical axis
	n         int     // the number of partitions
}

// A curve is the line of a series, which begins with a dot at X and Y.
type curve struct {
	stroke
	X, Y float64
}

// A series is the values of partitions, with the limit of a partition.
type series struct {
	name, class string
	values      []float64 // descending, above 0
	limit       float64   // 0 for none
	limitText   string
}

// Plots plots the sizes of the partitions of a space, and the units per second
// of each, in descending order.
func (s *space) Plots() (all []*plot) {
	of := func(value func(*part) float64) (values []float64) {
		for _, p := range s.Partitions {
			if v := value(p); v > 0 {
				values = append(values, v)
			}
		}
		slices.Sort(values)
		slices.Reverse(values)
		return values
	}
	if len(s.Partitions) >= minSkew {
		bytes := series{class: "series-a", values: of(func(p *part) float64 { return p.declared })}
		if s.limited() {
			bytes.limit, bytes.limitText = maxCollection, "10 GB, the limit of an item collection"
		}
		p := &plot{Title: "bytes per partition", unit: text.Size[float64], binary: true, series: []series{bytes}}
		if s.scale < 1 {
			p.Title += ", at the declared scale"
		}
		largest := slices.MaxFunc(s.Partitions, func(a, b *part) int { return cmp.Compare(a.declared, b.declared) })
		p.draw(largest.Name)
		all = append(all, p)
	}

	p := &plot{Title: "units per second per partition, at the declared rates", unit: text.Figure}
	if reads := of(func(p *part) float64 { return p.reads }); reads != nil {
		p.series = append(p.series, series{"reads", "series-a", reads, maxReads, "3,000 read units"})
	}
	if writes := of(func(p *part) float64 { return p.writes }); writes != nil {
		p.series = append(p.series, series{"writes", "series-b", writes, maxWrites, "1,000 write units"})
	}
	if p.series != nil {
		p.draw("")
		all = append(all, p)
	}
	return all
}

// limited reports whether the item collections of the space's table are limited,
// as in tables with a local index.
func (s *space) limited() bool {
	if s.Index != nil {
		return s.Index.Local
	}
	return slices.ContainsFunc(s.Table.Indexes, func(x *model.Index) bool { return x.Local })
}

// near is the largest factor between the values and a limit for which the limit
// is drawn: further away, it would flatten the curves.
const near = 1000

// draw makes the marks of the plot. Largest names the partition with the highest
// value; "" for none.
func (p *plot) draw(largest string) {
	low, high := math.Inf(1), 0.0
	for _, s := range p.series {
		low, high, p.n = min(low, s.values[len(s.values)-1]), max(high, s.values[0]), max(p.n, len(s.values))
	}
	values := p.series[0].values
	p.Label = fmt.Sprintf(
		"%s: from %s down to %s in %s",
		p.Title, p.unit(high), p.unit(values[len(values)-1]), text.Count(p.n, "partition"),
	)
	top := high
	for _, s := range p.series {
		if high*near >= s.limit {
			top = max(top, s.limit)
		} else {
			times := text.Figure(s.limit / s.values[0])
			p.Far = append(p.Far, fmt.Sprintf("The limit, %s, is %s times the largest partition.", s.limitText, times))
		}
	}
	p.low, p.high = around(low, top*1.05, p.binary)

	for _, v := range ticks(p.low, p.high, p.binary) {
		at := label{X: plotLeft - 6, Y: p.y(v) + 4, Class: "small muted end", Text: p.unit(v)}
		p.Ticks = append(p.Ticks, stroke{"grid", p.across(v), at})
	}
	for _, rank := range ranks(p.n) {
		class := "small muted mid"
		if rank == p.n && p.n > 1 {
			class = "small muted end"
		}
		at := label{X: p.x(rank - 1), Y: plotHeight - plotBottom + 16, Class: class, Text: text.Thousands(rank)}
		p.Ranks = append(p.Ranks, at)
	}
	p.Ranks = append(
		p.Ranks, label{X: plotEnd, Y: plotHeight - 4, Class: "small muted end", Text: "partitions, the largest first"},
	)
	for _, s := range p.series {
		if s.limit > 0 && high*near >= s.limit {
			y := p.y(s.limit) + [2]float64{-4, 13}[len(p.Limits)%2]
			at := label{X: plotEnd, Y: y, Class: "small end " + s.class, Text: s.limitText}
			p.Limits = append(p.Limits, stroke{"limit " + s.class, p.across(s.limit), at})
		}
	}
	for _, s := range p.series {
		p.Curves = append(p.Curves, p.curve(s, largest))
	}
}

// x returns the position of a rank, from 0.
func (p *plot) x(rank int) float64 {
	if p.n == 1 {
		return plotLeft
	}
	share := float64(rank) / float64(p.n-1)
	if p.n > 50 {
		share = math.Log(float64(rank+1)) / math.Log(float64(p.n))
	}
	return plotLeft + share*(plotEnd-plotLeft)
}

// y returns the position of a value.
func (p *plot) y(v float64) float64 {
	share := math.Log(max(v, p.low)/p.low) / math.Log(p.high/p.low)
	return plotHeight - plotBottom - share*(plotHeight-plotTop-plotBottom)
}

// across returns the path of a line at a value.
func (p *plot) across(v float64) string {
	return fmt.Sprintf("M%d %s H%d", plotLeft, text.Tenth(p.y(v)), plotEnd)
}

// curve draws a series through at most plotPoints points and the last.
func (p *plot) curve(s series, largest string) curve {
	n := len(s.values)
	path, last := "", -1
	for k := range plotPoints + 1 {
		share := float64(k) / plotPoints
		rank := int(share * float64(n))
		if n > 50 {
			rank = int(math.Pow(float64(n), share)) - 1
		}
		if k == plotPoints {
			rank = n - 1
		}
		if rank > last {
			verb := " L"
			if last < 0 {
				verb = "M"
			}
			path += verb + text.Tenth(p.x(rank)) + " " + text.Tenth(p.y(s.values[rank]))
			last = rank
		}
	}

	words := p.unit(s.values[0])
	if s.name != "" {
		words = s.name + " " + words
	}
	if largest != "" {
		words += "  " + short(largest, 34)
	}
	x, y := p.x(0), p.y(s.values[0])
	dy := -6.0
	if len(p.Curves) > 0 && math.Abs(y-p.Curves[0].Y) < 16 {
		dy = 18
	}
	return curve{stroke{s.class, path, label{X: x + 8, Y: y + dy, Class: "small over " + s.class, Text: words}}, x, y}
}

// step returns the n-th mark of a scale: a power of ten, or for bytes 1, 10 or
// 100 of a unit.
func step(n int, binary bool) float64 {
	if binary && n >= 0 {
		return math.Pow(1024, float64(n/3)) * math.Pow(10, float64(n%3))
	}
	return math.Pow(10, float64(n))
}

// around returns the marks of a scale that enclose two values.
func around(low, high float64, binary bool) (float64, float64) {
	a, b := -12, -12
	for a < 24 && step(a+1, binary) <= low {
		a++
	}
	for b < 24 && step(b, binary) < high {
		b++
	}
	return step(a, binary), step(max(b, a+1), binary)
}

// ticks returns up to seven marks of a scale between two marks.
func ticks(low, top float64, binary bool) []float64 {
	var all []float64
	for n := -12; n <= 24; n++ {
		if v := step(n, binary); v >= low*0.999 && v <= top*1.001 {
			all = append(all, v)
		}
	}
	every := (len(all)-1)/7 + 1
	var out []float64
	for i := 0; i < len(all); i += every {
		out = append(out, all[i])
	}
	return out
}

// ranks returns the labels of the axis of ranks.
func ranks(n int) []int {
	if n <= 50 {
		if n == 1 {
			return []int{1}
		}
		return []int{1, n}
	}
	var out []int
	for r := 1; r < n; r *= 10 {
		apart := math.Log(float64(n)/float64(r)) / math.Log(float64(n)) * (plotEnd - plotLeft)
		// The last label ends at its mark; the others are centred.
		if apart > 7*(float64(len(text.Thousands(n)))+float64(len(text.Thousands(r)))/2)+8 {
			out = append(out, r)
		}
	}
	return append(out, n)
}
