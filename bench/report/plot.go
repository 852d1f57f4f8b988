package report

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/sortkey/sortkey/bench"
)

// A plot is a picture in SVG: axes with ticks, and lines or dots over them.
// Everything in it is already in the picture's own units.
type plot struct {
	Title         string
	Width, Height int
	Left, Right   int // ends of the x axis
	Top, Bottom   int // ends of the y axis
	XTicks        []tick
	YTicks        []tick
	XLabel        string
	Lines         []line
	Dots          []dot
}

type tick struct {
	At   float64
	Text string
}

type line struct {
	Class string // its colour, as in the legend
	Title string
	D     string // path
}

type dot struct {
	X, Y         float64
	Class, Title string
}

// An axis maps values to a range of the picture, by their logarithms.
type axis struct{ lo, hi, from, to float64 }

func (a axis) at(x float64) float64 {
	if a.hi <= a.lo {
		return a.from
	}
	f := (math.Log(x) - math.Log(a.lo)) / (math.Log(a.hi) - math.Log(a.lo))
	return math.Round((a.from+f*(a.to-a.from))*10) / 10
}

// span widens [lo, hi] to hold x.
func span(lo, hi *float64, x float64) {
	if x > 0 {
		*lo, *hi = min(*lo, x), max(*hi, x)
	}
}

// decades returns the powers of ten, and if they are few also 2 and 5 times
// them, that lie on an axis.
func decades(a axis) (xs []float64) {
	steps := []float64{1}
	if a.hi/a.lo < 50 {
		steps = []float64{1, 2, 5}
	}
	for p := math.Floor(math.Log10(a.lo)); p <= math.Ceil(math.Log10(a.hi)); p++ {
		for _, s := range steps {
			if x := s * math.Pow(10, p); x >= a.lo*0.999 && x <= a.hi*1.001 {
				xs = append(xs, x)
			}
		}
	}
	return xs
}

// path draws a line through points.
func path(xs, ys []float64) string {
	var b strings.Builder
	for i := range xs {
		c := 'L'
		if i == 0 {
			c = 'M'
		}
		fmt.Fprintf(&b, "%c%.1f %.1f", c, xs[i], ys[i])
	}
	return b.String()
}

// classes gives every layer its colour. What is canned has that of what it is
// compared with, dashed.
func classes(layers []string) map[string]string {
	fixed := map[string]string{
		"bare": "c0", "store": "c1", "table": "c2", "api": "c3", "http": "c4", "client": "c5", "client-canned": "c5 dash",
		"direct": "c6", "direct-canned": "c6 dash", bench.Ours: "c1",
	}
	m, next := map[string]string{}, 0
	others := []string{"c3", "c4", "c5", "c6", "c2", "c0"}
	for _, l := range layers {
		c, ok := fixed[l]
		if !ok {
			c = others[next%len(others)]
			next++
		}
		m[l] = c
	}
	return m
}

// quantiles are where latency curves are drawn.
var quantiles = []struct {
	p    float64
	text string
}{
	{0, "0"}, {25, ""}, {50, "50"}, {75, ""}, {90, "90"}, {95, ""}, {99, "99"}, {99.5, ""}, {99.9, "99.9"}, {99.99, "99.99 %"},
}

// latency draws the distribution of one workload: latency by percentile, one
// line for each layer.
func (g *grid) latency(workload string) *plot {
	p := &plot{Title: workload, Width: 340, Height: 220, Left: 52, Right: 330, Top: 28, Bottom: 192}
	lo, hi := math.Inf(1), 0.0
	for _, l := range g.layers {
		if r := g.cell(workload, l); r != nil && r.Hist != nil {
			for _, q := range quantiles {
				span(&lo, &hi, float64(r.Hist.Percentile(q.p)))
			}
		}
	}
	if hi == 0 {
		return nil
	}
	last := quantiles[len(quantiles)-1].p
	x := axis{1, 1 / (1 - last/100), float64(p.Left), float64(p.Right)}
	y := axis{lo * 0.9, hi * 1.1, float64(p.Bottom), float64(p.Top)}
	for _, q := range quantiles {
		if q.text != "" {
			p.XTicks = append(p.XTicks, tick{x.at(1 / (1 - q.p/100)), q.text})
		}
	}
	for _, v := range decades(y) {
		p.YTicks = append(p.YTicks, tick{y.at(v), Short(v)})
	}
	class := classes(g.layers)
	for _, l := range g.layers {
		r := g.cell(workload, l)
		if r == nil || r.Hist == nil {
			continue
		}
		var xs, ys []float64
		for _, q := range quantiles {
			if float64(r.Hist.Count())*(1-q.p/100) < 1 {
				break // nothing was that rare
			}
			xs = append(xs, x.at(1/(1-q.p/100)))
			ys = append(ys, y.at(max(float64(r.Hist.Percentile(q.p)), 1)))
		}
		p.Lines = append(p.Lines, line{class[l], fmt.Sprintf("%s: half below %s, 99 %% below %s", l, Duration(float64(r.Latency.P50)), Duration(float64(r.Latency.P99))), path(xs, ys)})
	}
	return p
}

// dots draws every ratio to the base: a line for each workload, a dot for each
// layer.
func (g *grid) dots() *plot {
	const step = 22
	p := &plot{Width: 900, Left: 130, Right: 880, Top: 24}
	p.Bottom = p.Top + step*len(g.workloads)
	p.Height = p.Bottom + 40
	p.XLabel = "time of an operation, as a multiple of that on " + g.base
	lo, hi := 1.0, 1.0
	for _, r := range g.cells {
		if x, ok := r.Ratios[g.base]; ok {
			span(&lo, &hi, x.Median)
		}
	}
	x := axis{lo * 0.9, hi * 1.15, float64(p.Left), float64(p.Right)}
	for _, v := range decades(x) {
		p.XTicks = append(p.XTicks, tick{x.at(v), fmt.Sprintf("%g×", v)})
	}
	class := classes(g.layers)
	for i, w := range g.workloads {
		at := float64(p.Top + step*i + step/2)
		p.YTicks = append(p.YTicks, tick{at, w})
		for _, l := range g.layers {
			r := g.cell(w, l)
			if r == nil || strings.HasSuffix(l, "-canned") {
				continue
			}
			if ratio, ok := r.Ratios[g.base]; ok {
				p.Dots = append(p.Dots, dot{x.at(ratio.Median), at, class[l], fmt.Sprintf("%s, %s: %s (rounds %.2f–%.2f), %s", w, l, Times(ratio.Median), ratio.Low, ratio.High, Duration(r.NsPerOp))})
			} else if l == g.base && r.Failed == "" {
				p.Dots = append(p.Dots, dot{x.at(1), at, class[l], fmt.Sprintf("%s, %s: %s", w, l, Duration(r.NsPerOp))})
			}
		}
	}
	return p
}

// growthPlot draws the cost of a query, or its ratio to that in the smallest
// table, against the size of the table.
func growthPlot(g *bench.Growth, ratios bool) *plot {
	p := &plot{Width: 440, Height: 300, Left: 60, Right: 425, Top: 28, Bottom: 250, XLabel: "items in the table"}
	p.Title = "time of a query of 10 rows"
	value := func(x bench.GrowthPoint) float64 { return x.NsPerOp }
	text := Short
	if ratios {
		p.Title = "the same, as a multiple of that in 1,000 items"
		value = func(x bench.GrowthPoint) float64 { return x.Ratio.Median }
		text = func(v float64) string { return fmt.Sprintf("%g×", v) }
	}
	lo, hi := math.Inf(1), 0.0
	if ratios {
		lo, hi = 0.5, 2
	}
	for _, s := range g.Steps {
		for _, x := range s.Points {
			span(&lo, &hi, value(x))
		}
	}
	if len(g.Steps) == 0 {
		return nil
	}
	x := axis{float64(g.Steps[0].Items), float64(g.Steps[len(g.Steps)-1].Items), float64(p.Left), float64(p.Right)}
	y := axis{lo * 0.9, hi * 1.1, float64(p.Bottom), float64(p.Top)}
	for _, v := range decades(axis{x.lo, x.hi, 0, 1}) {
		p.XTicks = append(p.XTicks, tick{x.at(v), Items(v)})
	}
	for _, v := range decades(y) {
		p.YTicks = append(p.YTicks, tick{y.at(v), text(v)})
	}
	class := classes(g.Layers)
	for i, l := range g.Layers {
		var xs, ys []float64
		for _, s := range g.Steps {
			v := value(s.Points[i])
			xs, ys = append(xs, x.at(float64(s.Items))), append(ys, y.at(v))
			p.Dots = append(p.Dots, dot{xs[len(xs)-1], ys[len(ys)-1], class[l], fmt.Sprintf("%s, %s items: %s, %s", l, Count(float64(s.Items)), Duration(s.Points[i].NsPerOp), Times(s.Points[i].Ratio.Median))})
		}
		p.Lines = append(p.Lines, line{class[l], l, path(xs, ys)})
	}
	return p
}

// Short prints nanoseconds on an axis.
func Short(ns float64) string {
	switch {
	case ns < 1e3:
		return fmt.Sprintf("%.3g ns", ns)
	case ns < 1e6:
		return fmt.Sprintf("%.3g µs", ns/1e3)
	case ns < 1e9:
		return fmt.Sprintf("%.3g ms", ns/1e6)
	default:
		return fmt.Sprintf("%.3g s", time.Duration(ns).Seconds())
	}
}

// Items prints a number of items on an axis.
func Items(n float64) string {
	switch {
	case n >= 1e6:
		return fmt.Sprintf("%gM", n/1e6)
	case n >= 1e3:
		return fmt.Sprintf("%gk", n/1e3)
	default:
		return fmt.Sprintf("%g", n)
	}
}
