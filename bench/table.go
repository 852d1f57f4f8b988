package bench

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sortkey/sortkey/bench/measure"
	"github.com/sortkey/sortkey/internal/text"
)

// Print writes the report as tables. Ratios come first, because they also hold on other machines, while times do not.
// Details adds a table with all figures of each workload and layer.
func (r *Report) Print(w io.Writer, details bool) {
	fmt.Fprintf(w, "machine  %s\ncommit   %s\n", machine(), build())
	if r.Stores != nil {
		fmt.Fprintf(w, "stores   %s\n", r.stores())
	}
	for _, g := range grids(r.Results) {
		fmt.Fprintf(w, "\n%s\n%s", g.title, g.ratios())
		if details {
			fmt.Fprintf(w, "\n%s", g.details())
		}
	}
}

// stores lists the embedded stores with their versions.
func (r *Report) stores() string {
	list := make([]string, len(r.Stores))
	for i, s := range r.Stores {
		list[i] = s.Name + " " + s.Version
		if s.Skipped != "" {
			list[i] = s.Name + " skipped: " + s.Skipped
		}
	}
	return strings.Join(list, ", ")
}

// A table has a head and rows. Its first left columns are text. The others are numbers, aligned right.
type table struct {
	left  int
	lines [][]string
}

func (t *table) add(cells ...string) { t.lines = append(t.lines, cells) }

// String returns the table for a terminal.
func (t *table) String() string {
	widths := make([]int, len(t.lines[0]))
	for _, line := range t.lines {
		for i, cell := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}

	var b strings.Builder
	for n, line := range t.lines {
		var out strings.Builder
		for i, cell := range line {
			width := widths[i] // in characters; Printf aligns right for a positive and left for a negative width
			if i < t.left {
				width = -width
			}
			fmt.Fprintf(&out, "%*s  ", width, cell)
		}
		b.WriteString(strings.TrimRight(out.String(), " ") + "\n")
		if n == 0 {
			for i, w := range widths {
				b.WriteString(strings.Repeat("  ", min(i, 1)) + strings.Repeat("─", w))
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

// A grid has the results of one engine, by workload and layer.
type grid struct {
	title, base string
	embedded    bool
	layers      []string
	results     []*Result
}

// grids groups results by engine.
func grids(results []Result) (all []*grid) {
	by := map[string]*grid{}
	for i := range results {
		r := &results[i]
		g := by[r.Engine]
		if g == nil {
			g = &grid{
				base:  "bare",
				title: "Layers on " + r.Engine + ": time of an operation, as a multiple of the bare engine's",
			}
			if r.Embedded {
				g.base, g.embedded = ours, true
				g.title = "Embedded stores, " + r.Engine +
					": processor time of an operation, as a multiple of Sortkey's"
			}
			by[r.Engine] = g
			all = append(all, g)
		}
		g.results = append(g.results, r)
		for _, f := range r.Layers {
			if !slices.Contains(g.layers, f.Layer) {
				g.layers = append(g.layers, f.Layer)
			}
		}
	}
	return all
}

// ratios returns a table with a line for each workload: the time of the base layer, then the ratios to it.
func (g *grid) ratios() *table {
	others := slices.DeleteFunc(slices.Clone(g.layers), func(l string) bool { return l == g.base })
	t := &table{left: 1}
	t.add(append([]string{"workload", g.base}, others...)...)
	for _, r := range g.results {
		line := []string{r.Workload, measure.Duration(r.On(g.base).NsPerOp)}
		for _, l := range others {
			cell := ""
			if f := r.On(l); f != nil {
				cell = f.ratio()
			}
			line = append(line, cell)
		}
		t.add(line...)
	}
	return t
}

// ratio returns the ratio of a layer as text, or "–" if the layer has none.
func (f *Figures) ratio() string {
	if f.Ratio > 0 {
		return measure.Times(f.Ratio)
	}
	return "–"
}

// details has all figures.
func (g *grid) details() *table {
	t := &table{left: 2}
	if g.embedded {
		t.add("workload", "store", "ratio", "processor", "elapsed", "allocs", "bytes")
	} else {
		t.add(
			"workload", "layer", "ratio", "an op", "ops/s", "rows/s", "MB/s", "p50", "p90", "p99", "p99.9", "max",
			"allocs", "bytes",
		)
	}
	for _, r := range g.results {
		for i := range r.Layers {
			f := &r.Layers[i]
			line := []string{r.Workload, f.Layer, f.ratio(), measure.Duration(f.NsPerOp)}
			if g.embedded {
				line = append(line, measure.Duration(f.Elapsed))
			} else {
				line = append(
					line, text.Figure(f.OpsPerSec), text.Figure(f.RowsPerSec), text.Figure(f.BytesPerSec/1e6),
				)
				for _, ns := range f.Latency {
					line = append(line, measure.Duration(float64(ns)))
				}
			}
			t.add(append(line, text.Figure(f.Allocs), text.Figure(f.AllocBytes))...)
		}
	}
	return t
}
