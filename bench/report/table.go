package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/sortkey/sortkey/bench"
)

// Options configure [Table].
type Options struct {
	// Details adds a table with everything of each workload and layer.
	Details bool
	// Colour marks what is missed.
	Colour bool
}

// Table writes a report as text.
func Table(w io.Writer, r *bench.Report, o Options) {
	fmt.Fprintf(w, "machine  %s\ncommit   %s\n", r.Machine, r.Build)
	for _, t := range tables(r.Results) {
		fmt.Fprintf(w, "\n%s\n%s", t.title, t.ratios())
		if failed := t.failures(); failed != "" {
			fmt.Fprintf(w, "\n%s", failed)
		}
		if o.Details {
			fmt.Fprintf(w, "\n%s", t.details())
		}
	}
	if r.Growth != nil {
		fmt.Fprintf(w, "\nQuery of 10 rows against the size of the table: time, and ratio to the table of 1,000\n%s", growth(r.Growth))
		if r.Growth.Stopped != "" {
			fmt.Fprintln(w, r.Growth.Stopped)
		}
	}
	if r.Targets != nil {
		fmt.Fprintf(w, "\n%s", targets(r.Targets, o.Colour))
	}
}

// A grid is the results of one engine: workloads by layers.
type grid struct {
	title     string
	base      string
	workloads []string
	layers    []string
	cells     map[[2]string]*bench.Result
}

// tables sorts results into grids, one for each engine.
func tables(results []bench.Result) (grids []*grid) {
	type kind struct {
		engine   string
		endpoint bool
	}
	by := map[kind]*grid{}
	for i := range results {
		r := &results[i]
		k := kind{r.Engine, r.Endpoint}
		g := by[k]
		if g == nil {
			g = &grid{base: "bare", cells: map[[2]string]*bench.Result{}}
			g.title = "Layers on " + r.Engine + ": time of an operation, as a multiple of the bare engine's"
			if r.Endpoint {
				g.base, g.title = bench.Ours, "HTTP, ours on "+r.Engine+": time of an operation elsewhere, as a multiple of ours"
			}
			by[k] = g
			grids = append(grids, g)
		}
		if !slices.Contains(g.workloads, r.Workload) {
			g.workloads = append(g.workloads, r.Workload)
		}
		if !slices.Contains(g.layers, r.Layer) {
			g.layers = append(g.layers, r.Layer)
		}
		g.cells[[2]string{r.Workload, r.Layer}] = r
	}
	return grids
}

func (g *grid) cell(workload, layer string) *bench.Result { return g.cells[[2]string{workload, layer}] }

// compared returns the columns of ratios: layers, and behind those of the SDK
// what they are against the SDK alone.
func (g *grid) compared() (names []string) {
	for _, l := range g.layers {
		if l == g.base || strings.HasSuffix(l, "-canned") {
			continue
		}
		names = append(names, l)
		if slices.Contains(g.layers, l+"-canned") {
			names = append(names, l+"/SDK")
		}
	}
	return names
}

// baseTime prints what an operation takes on the base.
func (g *grid) baseTime(workload string) string {
	if r := g.cell(workload, g.base); r != nil && r.Failed == "" {
		return Duration(r.NsPerOp)
	}
	return "–"
}

// ratios prints one line for each workload: the base's time, then ratios.
func (g *grid) ratios() string {
	t := newTable()
	head := table.Row{"workload", g.base}
	for _, name := range g.compared() {
		head = append(head, name)
	}
	t.AppendHeader(head)
	for _, w := range g.workloads {
		row := table.Row{w, g.baseTime(w)}
		for _, name := range g.compared() {
			base := g.base
			if l, sdk := strings.CutSuffix(name, "/SDK"); sdk {
				name, base = l, l+"-canned"
			}
			row = append(row, g.ratio(w, name, base))
		}
		t.AppendRow(row)
	}
	return render(t, len(head), 1)
}

func (g *grid) ratio(workload, layer, base string) string {
	r := g.cell(workload, layer)
	if r == nil {
		return ""
	}
	if r.Failed != "" {
		return "failed"
	}
	x, ok := r.Ratios[base]
	if !ok {
		return "–"
	}
	return Times(x.Median)
}

// failures says what failed and why, one line each.
func (g *grid) failures() string {
	var b strings.Builder
	for _, w := range g.workloads {
		for _, l := range g.layers {
			if r := g.cell(w, l); r != nil && r.Failed != "" {
				fmt.Fprintf(&b, "%s, %s failed: %s\n", l, w, r.Failed)
			}
		}
	}
	return b.String()
}

func (g *grid) details() string {
	t := newTable()
	t.AppendHeader(table.Row{"workload", "layer", "ratio", "an op", "ops/s", "rows/s", "MB/s", "p50", "p90", "p99", "p99.9", "max", "allocs", "bytes", "peak MB"})
	for _, w := range g.workloads {
		for _, l := range g.layers {
			r := g.cell(w, l)
			if r == nil || r.Failed != "" {
				continue
			}
			ratio := ""
			if x, ok := r.Ratios[g.base]; ok {
				ratio = Times(x.Median)
			}
			d := func(ns int64) string { return Duration(float64(ns)) }
			t.AppendRow(table.Row{
				w, l, ratio, Duration(r.NsPerOp), Count(r.OpsPerSec), Count(r.RowsPerSec), fmt.Sprintf("%.1f", r.BytesPerSec/1e6),
				d(r.Latency.P50), d(r.Latency.P90), d(r.Latency.P99), d(r.Latency.P999), d(r.Latency.Max),
				Count(r.Allocs), Count(r.AllocBytes), fmt.Sprintf("%.0f", float64(r.Peak)/1e6),
			})
		}
	}
	return render(t, 15, 2)
}

func growth(g *bench.Growth) string {
	t := newTable()
	head := table.Row{"items"}
	for _, l := range g.Layers {
		head = append(head, l, "×", "p99")
	}
	t.AppendHeader(append(head, "memory MB"))
	for _, s := range g.Steps {
		row := table.Row{Count(float64(s.Items))}
		for _, p := range s.Points {
			row = append(row, Duration(p.NsPerOp), fmt.Sprintf("%.2f", p.Ratio.Median), Duration(float64(p.P99)))
		}
		t.AppendRow(append(row, fmt.Sprintf("%.0f", float64(s.Memory)/1e6)))
	}
	return render(t, len(head)+1, 0)
}

// targets prints what must be reached, what was, and whether that is enough.
func targets(ts []bench.Target, colour bool) string {
	t := newTable()
	t.AppendHeader(table.Row{"measure", "must reach", "reached", "ok"})
	var details strings.Builder
	skipped := 0
	for _, x := range ts {
		ok, reached := "yes", x.Reached
		switch {
		case x.Skipped != "":
			ok, reached = "–", "not measured"
			skipped++
		case !x.OK:
			ok = "NO"
			if colour {
				ok = text.FgRed.Sprint(ok)
			}
		}
		t.AppendRow(table.Row{x.Measure, x.Must, reached, ok})
		if why := x.Detail + x.Skipped; why != "" {
			fmt.Fprintf(&details, "  %s\n    %s\n", x.Measure, why)
		}
	}
	missed := bench.Missed(ts)
	summary := fmt.Sprintf("%d of %d reached", len(ts)-missed-skipped, len(ts)-skipped)
	if skipped > 0 {
		summary += fmt.Sprintf(", %d not measured", skipped)
	}
	return render(t, 4, 4) + "\n" + details.String() + "\n" + summary + "\n"
}

func newTable() table.Writer {
	w := table.NewWriter()
	style := table.StyleDefault
	style.Box = table.BoxStyle{MiddleVertical: "  ", MiddleHorizontal: "─", MiddleSeparator: "  "}
	style.Format.Header = text.FormatDefault
	style.Options = table.Options{SeparateColumns: true, SeparateHeader: true}
	w.SetStyle(style)
	w.SuppressTrailingSpaces()
	return w
}

// render prints a table whose columns after the first left ones are numbers.
func render(t table.Writer, columns, left int) string {
	var configs []table.ColumnConfig
	for c := left + 1; c <= columns; c++ {
		configs = append(configs, table.ColumnConfig{Number: c, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(configs)
	var b strings.Builder
	for line := range strings.Lines(t.Render()) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return b.String()
}

// Times prints a ratio.
func Times(x float64) string {
	switch {
	case x < 10:
		return fmt.Sprintf("%.2f ×", x)
	case x < 100:
		return fmt.Sprintf("%.1f ×", x)
	default:
		return fmt.Sprintf("%.0f ×", x)
	}
}

// Duration prints nanoseconds with three digits.
func Duration(ns float64) string {
	units := []struct {
		size float64
		name string
	}{{float64(time.Second), "s"}, {float64(time.Millisecond), "ms"}, {float64(time.Microsecond), "µs"}, {1, "ns"}}
	for _, u := range units {
		if ns >= u.size*0.9995 || u.size == 1 {
			return digits(ns/u.size) + " " + u.name
		}
	}
	return ""
}

func digits(x float64) string {
	switch {
	case x >= 99.95:
		return fmt.Sprintf("%.0f", x)
	case x >= 9.995:
		return fmt.Sprintf("%.1f", x)
	default:
		return fmt.Sprintf("%.2f", x)
	}
}

// Count prints a number with commas between thousands; small ones with a
// fraction.
func Count(x float64) string {
	if x < 100 && x != float64(int64(x)) {
		return fmt.Sprintf("%.1f", x)
	}
	s := fmt.Sprintf("%.0f", x)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
