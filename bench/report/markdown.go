package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/bench"
)

// short are the workloads of a table when there are more.
var short = []string{
	"get", "query-10", "query-100", "deep-page", "page", "page-reverse", "filter-1000", "filter-none", "scan-parallel",
	"index-10", "index-ties", "index-multi", "put", "put-index", "update", "mixed", "transact-write",
}

// Markdown writes the short tables that bench/README.md shows: what must be
// reached, then ratios, then growth.
func Markdown(w io.Writer, r *bench.Report) {
	fmt.Fprintf(w, "%s, commit %s, %s.\n", r.Machine, r.Build, r.Started.Format("2006-01-02"))
	if r.Targets != nil {
		fmt.Fprintf(w, "\n| measure | must reach | reached | ok |\n|---|---|---|---|\n")
		for _, t := range r.Targets {
			ok, reached := "yes", t.Reached
			switch {
			case t.Skipped != "":
				ok, reached = "–", "not measured"
			case !t.OK:
				ok = "**no**"
			}
			fmt.Fprintf(w, "| %s | %s | %s | %s |\n", t.Measure, t.Must, reached, ok)
		}
	}
	for _, g := range tables(r.Results) {
		fmt.Fprintf(w, "\n%s.\n\n", g.title)
		head := append([]string{"workload", g.base}, g.compared()...)
		fmt.Fprintf(w, "| %s |\n|---%s|\n", strings.Join(head, " | "), strings.Repeat("|--:", len(head)-1))
		left := 0
		for _, name := range g.workloads {
			if len(g.workloads) > len(short) && !slices.Contains(short, name) {
				left++
				continue
			}
			cells := []string{name, g.baseTime(name)}
			for _, l := range g.compared() {
				base := g.base
				if layer, sdk := strings.CutSuffix(l, "/SDK"); sdk {
					l, base = layer, layer+"-canned"
				}
				cells = append(cells, g.ratio(name, l, base))
			}
			fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | "))
		}
		if left > 0 {
			fmt.Fprintf(w, "\n%d more workloads are in the report.\n", left)
		}
	}
	if r.Growth == nil {
		return
	}
	fmt.Fprint(w, "\nQuery of 10 rows against the size of the table, as a multiple of its time in 1,000 items.\n\n| items |")
	for _, l := range r.Growth.Layers {
		fmt.Fprintf(w, " %s |", l)
	}
	fmt.Fprintf(w, "\n|--:%s|\n", strings.Repeat("|--:", len(r.Growth.Layers)))
	for _, s := range r.Growth.Steps {
		fmt.Fprintf(w, "| %s |", Count(float64(s.Items)))
		for _, p := range s.Points {
			fmt.Fprintf(w, " %s |", Times(p.Ratio.Median))
		}
		fmt.Fprintln(w)
	}
}
