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
var css string

// A page is an HTML file under construction.
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
	p.Style(css)
	p.Close()
	p.Open("body")
	p.about(r)
	p.targets(r.Targets)
	p.growth(r.Growth)
	for _, g := range grids(r.Results) {
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
		{"command", strings.Join(r.Args, " ")},
	} {
		p.Leaf("dt", l[0])
		p.Leaf("dd", l[1])
	}
	p.Close()
}

func (p *page) targets(ts []bench.Target) {
	if len(ts) == 0 {
		return
	}
	p.Leaf("h2", "Targets")
	p.Leaf("p", summary(ts)+".")
	s := targets(ts, func(ok bool) string {
		if ok {
			return "yes"
		}
		return "no"
	})
	p.sheet(s, func(row, column int, cell string) {
		switch why := ts[row].Detail + ts[row].Skipped; {
		case column == 0 && why != "":
			p.Text(cell)
			p.Leaf("small", why)
		case column == 3:
			p.Leaf("span", cell, markup.Class(cell))
		default:
			p.Text(cell)
		}
	})
}

func (p *page) growth(g *bench.Growth) {
	if g == nil || len(g.Steps) == 0 {
		return
	}
	p.Leaf("h2", "Cost by the size of the table")
	p.legend(g.Layers)
	p.plots(growthPlot(g, false), growthPlot(g, true))
	if g.Stopped != "" {
		p.Leaf("p", g.Stopped)
	}
	p.details("figures", growth(g))
}

// grid writes the part of one engine.
func (p *page) grid(g *grid) {
	p.Leaf("h2", g.title)
	p.legend(g.layers)
	p.plot(g.dots())
	p.sheet(g.ratios(nil), nil)
	if failed := g.failures(); failed != "" {
		p.Leaf("pre", failed)
	}
	var plots []*plot
	for _, r := range g.results {
		if l := g.latency(r); l != nil {
			plots = append(plots, l)
		}
	}
	if plots == nil { // of a compact report
		return
	}
	p.Open("details", markup.A("open", "open"))
	p.Leaf("summary", "latency by percentile, of all rounds")
	p.plots(plots...)
	p.Close()
	p.details("all figures", g.details())
}

func (p *page) details(title string, s sheet) {
	p.Open("details")
	p.Leaf("summary", title)
	p.sheet(s, nil)
	p.Close()
}

// sheet writes a table. Cell writes a cell's content; nil is its text.
func (p *page) sheet(s sheet, cell func(row, column int, text string)) {
	right := func(column int) []markup.Attr {
		if column < s.left {
			return nil
		}
		return []markup.Attr{markup.Class("r")}
	}
	p.Open("div", markup.Class("wide"))
	p.Open("table")
	p.Open("thead")
	p.Open("tr")
	for i, name := range s.head {
		p.Leaf("th", name, right(i)...)
	}
	p.Close()
	p.Close()
	p.Open("tbody")
	for n, row := range s.rows {
		p.Open("tr")
		for i, text := range row {
			p.Open("td", right(i)...)
			if cell != nil {
				cell(n, i, text)
			} else {
				p.Text(text)
			}
			p.Close()
		}
		p.Close()
	}
	p.Close()
	p.Close()
	p.Close()
}

func (p *page) legend(layers []string) {
	class := classes(layers)
	p.Open("ul", markup.Class("legend"))
	for _, l := range layers {
		p.Open("li")
		p.Open(
			"svg", markup.Num("width", 26), markup.Num("height", 10), markup.A("viewBox", "0 0 26 10"),
			markup.A("aria-hidden", "true"),
		)
		p.Void("path", markup.Class("line "+class[l]), markup.A("d", "M1 5L25 5"))
		p.Close()
		p.Text(l)
		p.Close()
	}
	p.Close()
}
