package report

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sortkey/sortkey/bench"
	"github.com/sortkey/sortkey/bench/measure"
	"github.com/sortkey/sortkey/internal/text"
)

// A sheet is a table. The columns after the first left ones are numbers, which
// are aligned right.
type sheet struct {
	Head []string
	Left int
	Rows [][]string
}

func (s *sheet) add(cells ...string) { s.Rows = append(s.Rows, cells) }

// text returns the sheet for a terminal.
func (s *sheet) text() string {
	lines := append([][]string{s.Head}, s.Rows...)
	widths := make([]int, len(s.Head))
	for _, line := range lines {
		for i, cell := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}

	var b strings.Builder
	for n, line := range lines {
		var out strings.Builder
		for i, cell := range line {
			width := widths[i] // of characters; positive aligns right
			if i < s.Left {
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

// markdown returns the sheet for a document.
func (s *sheet) markdown() string {
	var b strings.Builder
	line := func(cells []string) { b.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	line(s.Head)
	b.WriteString("|" + strings.Repeat("---|", s.Left) + strings.Repeat("--:|", len(s.Head)-s.Left) + "\n")
	for _, row := range s.Rows {
		line(row)
	}
	return b.String()
}

// A grid is the results of one engine: workloads by layers.
type grid struct {
	Title, base string
	embedded    bool
	Layers      []string
	results     []*bench.Result
}

// grids groups results by engine.
func grids(results []bench.Result) (all []*grid) {
	type key struct {
		engine             string
		endpoint, embedded bool
	}

	by := map[key]*grid{}
	for i := range results {
		r := &results[i]
		k := key{r.Engine, r.Endpoint, r.Embedded}
		g := by[k]
		if g == nil {
			g = &grid{
				base:  "bare",
				Title: "Layers on " + r.Engine + ": time of an operation, as a multiple of the bare engine's",
			}
			switch {
			case r.Endpoint:
				g.base = bench.Ours
				g.Title = "HTTP, Sortkey on " + r.Engine + ": time of an operation, as a multiple of Sortkey's"
			case r.Embedded:
				g.base, g.embedded = bench.Ours, true
				g.Title = "Embedded stores, " + r.Engine +
					": processor time of an operation, as a multiple of Sortkey's"
			}
			by[k] = g
			all = append(all, g)
		}

		g.results = append(g.results, r)
		for _, f := range r.Layers {
			if !slices.Contains(g.Layers, f.Layer) {
				g.Layers = append(g.Layers, f.Layer)
			}
		}
	}
	return all
}

const canned = "-canned"

// short are the workloads that documents show when there are more.
var short = []string{
	"get", "query-10", "query-100", "deep-page", "page", "page-reverse", "filter-1000", "filter-none", "scan-parallel",
	"index-10", "index-ties", "index-multi", "put", "put-index", "update", "mixed", "transact-write",
}

// Ratios has a line for each workload: the time of the base, then ratios to it,
// and after layers with a canned yardstick their ratio to that.
func (g *grid) Ratios(workloads []string) (s sheet) {
	s.Head, s.Left = []string{"workload", g.base}, 1
	type column struct{ layer, base string }
	var columns []column
	for _, l := range g.Layers {
		if l == g.base || strings.HasSuffix(l, canned) {
			continue
		}
		s.Head, columns = append(s.Head, l), append(columns, column{l, g.base})
		if slices.Contains(g.Layers, l+canned) {
			s.Head, columns = append(s.Head, l+"/canned"), append(columns, column{l, l + canned})
		}
	}

	for _, r := range g.results {
		if workloads != nil && !slices.Contains(workloads, r.Workload) {
			continue
		}

		line := []string{r.Workload, "–"}
		if f := r.On(g.base); f != nil && f.Failed == "" {
			line[1] = measure.Duration(f.NsPerOp)
		}
		for _, c := range columns {
			cell := ""
			if f := r.On(c.layer); f != nil && f.Failed != "" {
				cell = "failed"
			} else if f != nil {
				cell = "–"
				if x, ok := f.Ratios[c.base]; ok {
					cell = measure.Times(x.Median)
				}
			}
			line = append(line, cell)
		}

		s.add(line...)
	}
	return s
}

// Failures says what failed and why, a line each.
func (g *grid) Failures() string {
	var b strings.Builder
	for _, r := range g.results {
		for _, f := range r.Layers {
			if f.Failed != "" {
				fmt.Fprintf(&b, "%s, %s failed: %s\n", f.Layer, r.Workload, f.Failed)
			}
		}
	}
	return b.String()
}

// Details has all figures, without those that a compact report leaves out.
func (g *grid) Details() (s sheet) {
	if g.embedded {
		return g.embeddedDetails()
	}
	s.Left = 2
	s.Head = []string{
		"workload", "layer", "ratio", "an op", "ops/s", "rows/s", "MB/s",
		"p50", "p90", "p99", "p99.9", "max", "allocs", "bytes", "peak",
	}

	for _, r := range g.results {
		for _, f := range r.Layers {
			l := f.Latency
			if l == nil {
				continue
			}
			ratio := ""
			if x, ok := f.Ratios[g.base]; ok {
				ratio = measure.Times(x.Median)
			}
			line := []string{
				r.Workload, f.Layer, ratio, measure.Duration(f.NsPerOp), text.Figure(f.OpsPerSec),
				text.Figure(f.RowsPerSec), text.Figure(f.BytesPerSec / 1e6),
			}
			for _, ns := range []int64{l.P50, l.P90, l.P99, l.P999, l.Max} {
				line = append(line, measure.Duration(float64(ns)))
			}
			s.add(append(line, text.Figure(f.Allocs), text.Figure(f.AllocBytes), text.Size(float64(f.Peak)))...)
		}
	}
	return s
}

// embeddedDetails has the times and allocations of embedded stores.
func (g *grid) embeddedDetails() (s sheet) {
	s.Head, s.Left = []string{"workload", "store", "ratio", "processor", "elapsed", "allocs", "bytes"}, 2
	for _, r := range g.results {
		for _, f := range r.Layers {
			ratio := ""
			if x, ok := f.Ratios[g.base]; ok {
				ratio = measure.Times(x.Median)
			}
			s.add(
				r.Workload, f.Layer, ratio, measure.Duration(f.NsPerOp), measure.Duration(f.Elapsed),
				text.Figure(f.Allocs), text.Figure(f.AllocBytes),
			)
		}
	}
	return s
}

// growth has the time of a query at each size, its ratio to the smallest table
// and its 99th percentile.
func growth(g *bench.Growth) (s sheet) {
	s.Head = []string{"items"}
	for _, l := range g.Layers {
		s.Head = append(s.Head, l, "×", "p99")
	}
	s.Head = append(s.Head, "memory")
	for _, step := range g.Steps {
		line := []string{text.Thousands(step.Items)}
		for _, p := range step.Points {
			line = append(
				line, measure.Duration(p.NsPerOp), text.Figure(p.Ratio.Median), measure.Duration(float64(p.P99)),
			)
		}
		s.add(append(line, text.Size(float64(step.Memory)))...)
	}
	return s
}

// targets has the bound of each target, what was reached and whether it is
// enough. Verdict writes the last.
func targets(ts []bench.Target, verdict func(ok bool) string) (s sheet) {
	s.Head, s.Left = []string{"measure", "must reach", "reached", "ok"}, 4
	for _, t := range ts {
		if t.Skipped != "" {
			s.add(t.Measure, t.Must, "not measured", "–")
		} else {
			s.add(t.Measure, t.Must, t.Reached, verdict(t.OK))
		}
	}
	return s
}

// summary counts the targets reached.
func summary(ts []bench.Target) string {
	skipped := 0
	for _, t := range ts {
		if t.Skipped != "" {
			skipped++
		}
	}
	s := fmt.Sprintf("%d of %d reached", len(ts)-skipped-bench.Missed(ts), len(ts)-skipped)
	if skipped > 0 {
		s += fmt.Sprintf(", %d not measured", skipped)
	}
	return s
}
