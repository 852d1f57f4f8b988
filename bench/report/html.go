package report

import (
	_ "embed"
	"fmt"
	"io"
	"strings"

	"github.com/sortkey/sortkey/bench"
	"github.com/sortkey/sortkey/internal/markup"
)

//go:embed page.css
var sheet string

// A page is the HTML file in the making.
type page struct{ markup.Writer }

// HTML writes a report as one page that refers to nothing outside it.
func HTML(w io.Writer, r *bench.Report) error {
	p := &page{}
	p.Doctype()
	p.Open("html", markup.A("lang", "en"))
	p.Open("head")
	p.Void("meta", markup.A("charset", "utf-8"))
	p.Void("meta", markup.A("name", "viewport"), markup.A("content", "width=device-width, initial-scale=1"))
	p.Leaf("title", "sortkey bench")
	p.Style(sheet)
	p.Close()
	p.Open("body")
	p.about(r)
	p.targets(r.Targets)
	p.growth(r.Growth)
	for _, g := range tables(r.Results) {
		p.grid(g)
	}
	_, err := p.WriteTo(w)
	return err
}

// about says what was measured where.
func (p *page) about(r *bench.Report) {
	p.Leaf("h1", "sortkey bench")
	p.Open("dl")
	for _, l := range [][2]string{
		{"machine", r.Machine.String()},
		{"commit", r.Build.String()},
		{"started", fmt.Sprintf("%s, %.0f s", r.Started.Format("2006-01-02 15:04 UTC"), r.Seconds)},
	} {
		p.Leaf("dt", l[0])
		p.Leaf("dd", l[1])
	}
	if len(r.Args) > 0 {
		p.Leaf("dt", "command")
		p.Open("dd")
		p.Leaf("code", strings.Join(r.Args, " "))
		p.Close()
	}
	p.Close()
}

func (p *page) targets(ts []bench.Target) {
	if len(ts) == 0 {
		return
	}
	p.Leaf("h2", "What must be reached")
	if missed := bench.Missed(ts); missed > 0 {
		p.Leaf("p", fmt.Sprintf("%d of %d missed.", missed, len(ts)))
	} else {
		p.Leaf("p", "None of those measured is missed.")
	}
	p.table(4, "measure", "must reach", "reached", "ok")
	for _, t := range ts {
		p.Open("tr")
		p.Open("td")
		p.Text(t.Measure)
		for _, why := range []string{t.Detail, t.Skipped} {
			if why != "" {
				p.Leaf("small", why)
			}
		}
		p.Close()
		p.Leaf("td", t.Must)
		if t.Skipped != "" {
			p.Leaf("td", "not measured")
		} else {
			p.Leaf("td", t.Reached)
		}
		p.Open("td")
		switch {
		case t.Skipped != "":
			p.Text("–")
		case t.OK:
			p.Leaf("span", "yes", markup.Class("yes"))
		default:
			p.Leaf("span", "no", markup.Class("no"))
		}
		p.Close()
		p.Close()
	}
	p.endTable()
}

func (p *page) growth(g *bench.Growth) {
	if g == nil || len(g.Steps) == 0 {
		return
	}
	p.Leaf("h2", "Cost against the size of the table")
	p.legend(g.Layers)
	p.plots(growthPlot(g, false), growthPlot(g, true))
	if g.Stopped != "" {
		p.Leaf("p", g.Stopped)
	}
	p.Open("details")
	p.Leaf("summary", "numbers")
	p.Leaf("pre", growth(g))
	p.Close()
}

// grid is one engine's part of the page.
func (p *page) grid(g *grid) {
	p.Leaf("h2", g.title)
	p.legend(g.layers)
	p.plot(g.dots())
	p.Leaf("pre", g.ratios())
	if failed := g.failures(); failed != "" {
		p.Leaf("pre", failed)
	}
	var plots []*plot
	for _, name := range g.workloads {
		if l := g.latency(name); l != nil {
			plots = append(plots, l)
		}
	}
	p.Open("details", markup.A("open", "open"))
	p.Leaf("summary", "latency by percentile, of all rounds")
	p.plots(plots...)
	p.Close()
	p.everything(g)
}

func (p *page) everything(g *grid) {
	p.Open("details")
	p.Leaf("summary", "everything measured")
	p.table(2, "workload", "layer", "ratio", "an op", "ops/s", "rows/s", "MB/s", "p50", "p90", "p99", "p99.9", "max", "allocs", "bytes")
	for _, name := range g.workloads {
		for _, l := range g.layers {
			if r := g.cell(name, l); r != nil && r.Failed == "" {
				p.result(r, g.base)
			}
		}
	}
	p.endTable()
	p.Close()
}

func (p *page) result(r *bench.Result, base string) {
	ns := func(n int64) string { return Duration(float64(n)) }
	ratio := ""
	if x := r.Ratios[base]; x.Median != 0 {
		ratio = Times(x.Median)
	}
	p.Open("tr")
	p.Leaf("td", r.Workload)
	p.Leaf("td", r.Layer)
	for _, text := range []string{
		ratio, Duration(r.NsPerOp), Count(r.OpsPerSec), Count(r.RowsPerSec), fmt.Sprintf("%.1f", r.BytesPerSec/1e6),
		ns(r.Latency.P50), ns(r.Latency.P90), ns(r.Latency.P99), ns(r.Latency.P999), ns(r.Latency.Max),
		Count(r.Allocs), Count(r.AllocBytes),
	} {
		p.Leaf("td", text, markup.Class("r"))
	}
	p.Close()
}

// table begins a table, which endTable ends. The columns after the first left
// ones are numbers, which stand to the right.
func (p *page) table(left int, columns ...string) {
	p.Open("div", markup.Class("wide"))
	p.Open("table")
	p.Open("thead")
	p.Open("tr")
	for i, c := range columns {
		if i >= left {
			p.Leaf("th", c, markup.Class("r"))
		} else {
			p.Leaf("th", c)
		}
	}
	p.Close()
	p.Close()
	p.Open("tbody")
}

func (p *page) endTable() {
	p.Close()
	p.Close()
	p.Close()
}

func (p *page) legend(layers []string) {
	class := classes(layers)
	p.Open("ul", markup.Class("legend"))
	for _, l := range layers {
		p.Open("li")
		p.Open("svg", markup.Num("width", 26), markup.Num("height", 10), markup.A("viewBox", "0 0 26 10"), markup.A("aria-hidden", "true"))
		p.Void("path", markup.Class("line "+class[l]), markup.A("d", "M1 5L25 5"))
		p.Close()
		p.Text(l)
		p.Close()
	}
	p.Close()
}
