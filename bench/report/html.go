package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"sync"

	"github.com/sortkey/sortkey/bench"
)

//go:embed page.html
var pageText string

// page is parsed when it is needed: most commands do not.
var page = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"times": Times, "duration": Duration, "count": Count,
		"add": func(a, b int) int { return a + b },
		"ns":  func(n int64) string { return Duration(float64(n)) },
		"mb":  func(n float64) string { return fmt.Sprintf("%.1f", n/1e6) },
	}).Parse(pageText))
})

// A section is one engine's part of the page.
type section struct {
	Title   string
	Legend  []key
	Dots    *plot
	Table   string
	Plots   []*plot
	Results []*bench.Result
	Failed  string
	Base    string
}

// A key is a line of a legend.
type key struct{ Class, Text string }

// HTML writes a report as one page that refers to nothing outside it.
func HTML(w io.Writer, r *bench.Report) error {
	data := struct {
		*bench.Report
		Sections     []section
		GrowthPlots  []*plot
		GrowthLegend []key
		GrowthTable  string
		Missed       int
		Command      string
	}{Report: r, Missed: bench.Missed(r.Targets), Command: strings.Join(r.Args, " ")}
	for _, g := range tables(r.Results) {
		s := section{Title: g.title, Legend: legend(g.layers), Dots: g.dots(), Table: g.ratios(), Failed: g.failures(), Base: g.base}
		for _, name := range g.workloads {
			if p := g.latency(name); p != nil {
				s.Plots = append(s.Plots, p)
			}
			for _, l := range g.layers {
				if c := g.cell(name, l); c != nil && c.Failed == "" {
					s.Results = append(s.Results, c)
				}
			}
		}
		data.Sections = append(data.Sections, s)
	}
	if g := r.Growth; g != nil && len(g.Steps) > 0 {
		data.GrowthPlots = []*plot{growthPlot(g, false), growthPlot(g, true)}
		data.GrowthLegend, data.GrowthTable = legend(g.Layers), growth(g)
	}
	return page().Execute(w, data)
}

func legend(layers []string) (keys []key) {
	class := classes(layers)
	for _, l := range layers {
		keys = append(keys, key{class[l], l})
	}
	return keys
}
