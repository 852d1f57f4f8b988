package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/bench"
	"github.com/sortkey/sortkey/bench/measure"
	"github.com/sortkey/sortkey/internal/text"
)

// A plot is a picture in SVG: axes with ticks, and lines or dots over them. Its
// coordinates are in the picture's own units.
type plot struct {
	Title         string
	Width, Height int
	Left, Right   float64 // ends of the x axis
	Top, Bottom   float64 // ends of the y axis
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
	Path  string
}

type dot struct {
	X, Y         float64
	Class, Title string
}

// An axis maps values to a range of the picture by their logarithms.
type axis struct{ lo, hi, from, to float64 }

// newAxis returns an axis that holds some values, with room below and above.
func newAxis(values []float64, below, above, from, to float64) axis {
	values = slices.DeleteFunc(slices.Clone(values), func(x float64) bool { return !(x > 0) })
	if len(values) == 0 {
		values = []float64{1}
	}
	return axis{slices.Min(values) * below, slices.Max(values) * above, from, to}
}

func (a axis) at(x float64) float64 {
	if a.hi <= a.lo {
		return a.from
	}
	f := (math.Log(max(x, a.lo)) - math.Log(a.lo)) / (math.Log(a.hi) - math.Log(a.lo))
	return math.Round((a.from+f*(a.to-a.from))*10) / 10
}

// ticks returns the powers of ten on an axis and, if there are few, also 2 and 5
// times these.
func (a axis) ticks(write func(float64) string) (all []tick) {
	steps := []float64{1}
	if a.hi/a.lo < 50 {
		steps = []float64{1, 2, 5}
	}
	for p := math.Floor(math.Log10(a.lo)); p <= math.Ceil(math.Log10(a.hi)); p++ {
		for _, s := range steps {
			if x := s * math.Pow(10, p); x >= a.lo*0.999 && x <= a.hi*1.001 {
				all = append(all, tick{a.at(x), write(x)})
			}
		}
	}
	return all
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

// classes assigns colours to layers. A canned layer has the colour of its layer,
// dashed.
func classes(layers []string) map[string]string {
	fixed := map[string]string{
		"bare": "c0", "store": "c1", "table": "c2", "api": "c3", "http": "c4", "client": "c5", "direct": "c6",
		"keycond": "c7", "go": "c8",
		bench.Ours: "c1",
	}
	m, next := map[string]string{}, 0
	others := []string{"c3", "c4", "c5", "c6", "c2", "c0"}
	for _, l := range layers {
		of, dashed := strings.CutSuffix(l, canned)
		c, ok := fixed[of]
		if !ok {
			c = others[next%len(others)]
			next++
		}
		if dashed {
			c += " dash"
		}
		m[l] = c
	}
	return m
}

// Latencies draws the latencies of all workloads. A compact report has none.
func (g *grid) Latencies() (all []*plot) {
	for _, r := range g.results {
		if p := g.latency(r); p != nil {
			all = append(all, p)
		}
	}
	return all
}

// latency draws the latencies of one workload by percentile, a line for each
// layer.
func (g *grid) latency(r *bench.Result) *plot {
	p := &plot{Title: r.Workload, Width: 340, Height: 220, Left: 52, Right: 330, Top: 28, Bottom: 192}
	var all []float64
	for _, f := range r.Layers {
		if f.Latency != nil {
			for _, ns := range f.Latency.Curve {
				all = append(all, float64(ns))
			}
		}
	}
	if all == nil {
		return nil
	}

	percentiles := bench.Percentiles()
	rarity := func(percent float64) float64 { return 1 / (1 - percent/100) }
	x := axis{1, rarity(slices.Max(percentiles)), p.Left, p.Right}
	y := newAxis(all, 0.9, 1.1, p.Bottom, p.Top)
	for _, percent := range []float64{0, 50, 90, 99, 99.9, 99.99} {
		p.XTicks = append(p.XTicks, tick{x.at(rarity(percent)), fmt.Sprint(percent)})
	}

	p.YTicks = y.ticks(measure.Duration)
	class := classes(g.Layers)
	for _, f := range r.Layers {
		if f.Latency == nil {
			continue
		}
		var xs, ys []float64
		for i, ns := range f.Latency.Curve {
			xs, ys = append(xs, x.at(rarity(percentiles[i]))), append(ys, y.at(float64(ns)))
		}
		title := fmt.Sprintf(
			"%s: 50%% below %s, 99%% below %s", f.Layer, measure.Duration(float64(f.Latency.P50)),
			measure.Duration(float64(f.Latency.P99)),
		)
		p.Lines = append(p.Lines, line{class[f.Layer], title, path(xs, ys)})
	}
	return p
}

// Dots draws all ratios to the base: a line for each workload, a dot for each
// layer.
func (g *grid) Dots() *plot {
	const step = 22
	p := &plot{
		Width: 900, Left: 130, Right: 880, Top: 24, XLabel: "time of an operation, as a multiple of that on " + g.base,
	}
	p.Bottom = p.Top + float64(step*len(g.results))
	p.Height = int(p.Bottom) + 40
	all := []float64{1}
	for _, r := range g.results {
		for _, f := range r.Layers {
			all = append(all, f.Ratios[g.base].Median)
		}
	}

	x := newAxis(all, 0.9, 1.15, p.Left, p.Right)
	p.XTicks = x.ticks(func(v float64) string { return fmt.Sprintf("%g×", v) })
	class := classes(g.Layers)
	for i, r := range g.results {
		at := p.Top + float64(step*i+step/2)
		p.YTicks = append(p.YTicks, tick{at, r.Workload})
		for _, f := range r.Layers {
			title := fmt.Sprintf("%s, %s: %s", r.Workload, f.Layer, measure.Duration(f.NsPerOp))
			ratio, ok := f.Ratios[g.base]
			switch {
			case f.Failed != "" || strings.HasSuffix(f.Layer, canned):
				continue
			case ok:
				title += fmt.Sprintf(", %s (rounds %.2f–%.2f)", measure.Times(ratio.Median), ratio.Low, ratio.High)
			case f.Layer == g.base:
				ratio.Median = 1
			default:
				continue
			}
			p.Dots = append(p.Dots, dot{x.at(ratio.Median), at, class[f.Layer], title})
		}
	}
	return p
}

// growthPlot draws the time of a query, or its ratio to that in the smallest
// table, by the size of the table.
func growthPlot(g *bench.Growth, ratios bool) *plot {
	p := &plot{
		Width: 440, Height: 300, Left: 60, Right: 425, Top: 28, Bottom: 250, XLabel: "items in the table",
		Title: "time of a query of 10 rows",
	}

	value, write := func(x bench.GrowthPoint) float64 { return x.NsPerOp }, measure.Duration
	var all []float64
	if ratios {
		p.Title = "the same, as a multiple of that in a table of 1,000 items"
		value = func(x bench.GrowthPoint) float64 { return x.Ratio.Median }
		write = func(v float64) string { return fmt.Sprintf("%g×", v) }
		all = []float64{0.5, 2}
	}

	for _, s := range g.Steps {
		for _, x := range s.Points {
			all = append(all, value(x))
		}
	}

	x := axis{float64(g.Steps[0].Items), float64(g.Steps[len(g.Steps)-1].Items), p.Left, p.Right}
	y := newAxis(all, 0.9, 1.1, p.Bottom, p.Top)
	p.XTicks, p.YTicks = x.ticks(text.Figure), y.ticks(write)
	class := classes(g.Layers)
	for i, l := range g.Layers {
		var xs, ys []float64
		for _, s := range g.Steps {
			title := fmt.Sprintf(
				"%s, %s: %s, %s", l, text.Count(s.Items, "item"), measure.Duration(s.Points[i].NsPerOp),
				measure.Times(s.Points[i].Ratio.Median),
			)
			at := dot{x.at(float64(s.Items)), y.at(value(s.Points[i])), class[l], title}
			xs, ys, p.Dots = append(xs, at.X), append(ys, at.Y), append(p.Dots, at)
		}
		p.Lines = append(p.Lines, line{class[l], l, path(xs, ys)})
	}
	return p
}
