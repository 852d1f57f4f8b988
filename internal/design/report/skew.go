package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/sortkey/sortkey/internal/markup"
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
)

// skew plots the sizes of the partitions of a space, and the units per second
// of each, in descending order.
func (p *page) skew(s *space) {
	var reads, writes []float64
	for _, part := range s.parts {
		if part.reads > 0 {
			reads = append(reads, part.reads)
		}
		if part.writes > 0 {
			writes = append(writes, part.writes)
		}
	}
	if len(s.parts) < minSkew && len(reads)+len(writes) == 0 {
		return
	}
	p.Leaf("h4", "Skew")
	p.Open("div", markup.Class("plots"))
	if len(s.parts) >= minSkew {
		sizes := make([]float64, len(s.parts))
		largest := s.parts[0]
		for i, part := range s.parts {
			if sizes[i] = part.declared; part.declared > largest.declared {
				largest = part
			}
		}
		falling(sizes)
		pl := &plot{
			title: "bytes per partition", unit: text.Size[float64], binary: true,
			series: []series{{"", "series-a", sizes}},
		}
		if p.r.Scale < 1 {
			pl.title += ", at the declared scale"
		}
		if local(s) {
			pl.limits = []limit{{maxCollection, "10 GB, the limit of an item collection", "series-a"}}
		}
		p.plot(pl, largest.name)
	}
	if len(reads)+len(writes) > 0 {
		pl := &plot{title: "units per second per partition, at the declared rates", unit: text.Figure}
		if len(reads) > 0 {
			pl.series = append(pl.series, series{"reads", "series-a", falling(reads)})
			pl.limits = append(pl.limits, limit{maxReads, "3,000 read units", "series-a"})
		}
		if len(writes) > 0 {
			pl.series = append(pl.series, series{"writes", "series-b", falling(writes)})
			pl.limits = append(pl.limits, limit{maxWrites, "1,000 write units", "series-b"})
		}
		p.plot(pl, "")
	}
	p.Close()
}

func falling(v []float64) []float64 {
	slices.SortFunc(v, func(a, b float64) int {
		switch {
		case a > b:
			return -1
		case a < b:
			return 1
		}
		return 0
	})
	return v
}

// local reports whether the item collections of the space's table are limited,
// as in tables with a local index.
func local(s *space) bool {
	if s.x != nil {
		return s.x.Local
	}
	for _, x := range s.t.Indexes {
		if x.Local {
			return true
		}
	}
	return false
}

// A plot shows partitions by rank from left to right, with a logarithmic
// vertical scale.
type plot struct {
	title  string
	unit   func(float64) string
	binary bool // the unit is bytes
	series []series
	limits []limit
}

type series struct {
	name, class string
	values      []float64 // descending, above 0
}

type limit struct {
	at          float64
	text, class string
}

// near is the largest factor between the values and a limit for which the limit
// is drawn: further away, it would flatten the curves.
const near = 1000

func (p *page) plot(pl *plot, largest string) {
	low, high, n := math.Inf(1), 0.0, 0
	for _, s := range pl.series {
		low, high, n = min(low, s.values[len(s.values)-1]), max(high, s.values[0]), max(n, len(s.values))
	}
	top := high
	var far []limit
	var drawn []limit
	for _, l := range pl.limits {
		if high*near >= l.at {
			top = max(top, l.at)
			drawn = append(drawn, l)
		} else {
			far = append(far, l)
		}
	}
	low, top = around(low, top*1.05, pl.binary)
	const left, right, up, down = plotLeft, plotRight, 22, 34
	x := func(rank int) float64 { // from 0
		if n == 1 {
			return left
		}
		f := float64(rank) / float64(n-1)
		if n > 50 {
			f = math.Log(float64(rank+1)) / math.Log(float64(n))
		}
		return left + f*(plotWidth-left-right)
	}
	y := func(v float64) float64 {
		f := math.Log(max(v, low)/low) / math.Log(top/low)
		return plotHeight - down - f*(plotHeight-up-down)
	}
	p.Open("figure")
	p.Leaf("figcaption", pl.title)
	p.Open("svg", markup.A("viewBox", fmt.Sprintf("0 0 %d %d", plotWidth, plotHeight)), markup.Class("picture fluid plot"), markup.A("role", "img"),
		markup.A("aria-label", fmt.Sprintf("%s: from %s down to %s in %s", pl.title, pl.unit(high), pl.unit(pl.series[0].values[len(pl.series[0].values)-1]), text.Count(n, "partition"))))
	for _, v := range ticks(low, top, pl.binary) {
		p.Void(
			"path", markup.Class("grid"),
			markup.A("d", fmt.Sprintf("M%d %s H%d", left, markup.Coordinate(y(v)), plotWidth-right)),
		)
		p.Leaf("text", pl.unit(v), markup.Class("small muted end"), markup.Num("x", left-6), markup.Num("y", y(v)+4))
	}
	for _, rank := range ranks(n) {
		p.Leaf(
			"text", text.Thousands(rank), markup.Class("small muted "+anchor(rank == n && n > 1)),
			markup.Num("x", x(rank-1)), markup.Num("y", plotHeight-down+16),
		)
	}
	p.Leaf(
		"text", "partitions, the largest first", markup.Class("small muted end"), markup.Num("x", plotWidth-right),
		markup.Num("y", plotHeight-4),
	)
	for i, l := range drawn {
		p.Void(
			"path", markup.Class("limit "+l.class),
			markup.A("d", fmt.Sprintf("M%d %s H%d", left, markup.Coordinate(y(l.at)), plotWidth-right)),
		)
		p.Leaf(
			"text", l.text, markup.Class("small end "+l.class), markup.Num("x", plotWidth-right),
			markup.Num("y", y(l.at)+[2]float64{-4, 13}[i%2]),
		)
	}
	for i, s := range pl.series {
		var d []byte
		draw := func(rank int) {
			verb := " L"
			if d == nil {
				verb = "M"
			}
			d = append(d, verb+markup.Coordinate(x(rank))+" "+markup.Coordinate(y(s.values[rank]))...)
		}
		last := -1
		for k := range plotPoints + 1 {
			rank := len(s.values) - 1
			if k < plotPoints {
				f := float64(k) / plotPoints
				if n > 50 {
					rank = int(math.Pow(float64(len(s.values)), f)) - 1
				} else {
					rank = int(f * float64(len(s.values)))
				}
			}
			if rank > last {
				draw(rank)
				last = rank
			}
		}
		p.Void("path", markup.Class("curve "+s.class), markup.A("d", string(d)))
		p.Void(
			"circle", markup.Num("cx", x(0)), markup.Num("cy", y(s.values[0])), markup.Num("r", 4),
			markup.Class("dot "+s.class),
		)
		text := pl.unit(s.values[0])
		if s.name != "" {
			text = s.name + " " + text
		}
		if largest != "" {
			text += "  " + short(largest, 34)
		}
		dy := -6.0
		if i > 0 && math.Abs(y(s.values[0])-y(pl.series[0].values[0])) < 16 {
			dy = 18
		}
		p.Leaf(
			"text", text, markup.Class("small over "+s.class), markup.Num("x", x(0)+8),
			markup.Num("y", y(s.values[0])+dy),
		)
	}
	p.Close()
	for _, l := range far {
		p.Leaf(
			"p",
			fmt.Sprintf("The limit, %s, is %s times the largest partition.", l.text, text.Figure(l.at/reach(pl, l))),
			markup.Class("muted small"),
		)
	}
	p.Close()
}

func anchor(end bool) string {
	if end {
		return "end"
	}
	return "mid"
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

// reach returns the largest value of the series of a limit.
func reach(pl *plot, l limit) float64 {
	for _, s := range pl.series {
		if s.class == l.class {
			return s.values[0]
		}
	}
	return 1
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
		apart := math.Log(float64(n)/float64(r)) / math.Log(float64(n)) * (plotWidth - plotLeft - plotRight)
		// The last label ends at its mark; the others are centred.
		if apart > 7*(float64(len(text.Thousands(n)))+float64(len(text.Thousands(r)))/2)+8 {
			out = append(out, r)
		}
	}
	return append(out, n)
}
