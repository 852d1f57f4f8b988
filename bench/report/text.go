// Package report prints what package bench measured: tables for terminals and
// documents, and one HTML page that needs no other file. Ratios come first,
// because they hold on other machines while times do not.
package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/sortkey/sortkey/bench"
	"github.com/sortkey/sortkey/bench/contest"
	"github.com/sortkey/sortkey/bench/measure"
	"github.com/sortkey/sortkey/internal/text"
)

// Options configure [Table].
type Options struct {
	// Details adds a table with all figures of each workload and layer.
	Details bool
	// Bad colours the word for a target that was missed; nil leaves it as it is.
	Bad func(string) string
}

// Table writes a report for a terminal.
func Table(w io.Writer, r *bench.Report, o Options) {
	fmt.Fprintf(w, "machine  %s\ncommit   %s\n", r.Machine, r.Build)
	if r.Stores != nil {
		fmt.Fprintf(w, "stores   %s\n", stores(r.Stores))
	}

	for _, g := range grids(r.Results) {
		ratios, details := g.Ratios(nil), g.Details()
		fmt.Fprintf(w, "\n%s\n%s", g.Title, ratios.text())
		if failed := g.Failures(); failed != "" {
			fmt.Fprintf(w, "\n%s", failed)
		}
		if o.Details {
			fmt.Fprintf(w, "\n%s", details.text())
		}
	}

	if r.Growth != nil {
		s := growth(r.Growth)
		fmt.Fprintf(
			w, "\nQuery of 10 rows by the size of the table: time, and ratio to the table of 1,000\n%s", s.text(),
		)
		if r.Growth.Stopped != "" {
			fmt.Fprintln(w, r.Growth.Stopped)
		}
	}

	if r.Targets != nil {
		s := targets(r.Targets, func(ok bool) string {
			if ok {
				return "yes"
			}
			if o.Bad == nil {
				return "NO"
			}
			return o.Bad("NO")
		})
		fmt.Fprintf(w, "\n%s\n", s.text())
		for _, t := range r.Targets {
			if why := t.Detail + t.Skipped; why != "" {
				fmt.Fprintf(w, "  %s\n    %s\n", t.Measure, why)
			}
		}
		fmt.Fprintf(w, "\n%s\n", summary(r.Targets))
	}
}

// stores lists embedded stores with their versions.
func stores(all []contest.Store) string {
	list := make([]string, len(all))
	for i, s := range all {
		if s.Skipped != "" {
			list[i] = s.Name + " skipped: " + s.Skipped
		} else {
			list[i] = s.Name + " " + s.Version
		}
	}
	return strings.Join(list, ", ")
}

// Markdown writes the short tables of bench/README.md: targets, ratios, growth.
func Markdown(w io.Writer, r *bench.Report) {
	fmt.Fprintf(w, "%s, commit %s, %s.\n", r.Machine, r.Build, r.Started.Format("2006-01-02"))
	if r.Stores != nil {
		fmt.Fprintf(w, "Stores: %s.\n", stores(r.Stores))
	}
	if r.Targets != nil {
		s := targets(r.Targets, func(ok bool) string {
			if ok {
				return "yes"
			}
			return "**no**"
		})
		fmt.Fprintf(w, "\n%s", s.markdown())
	}

	for _, g := range grids(r.Results) {
		var workloads []string
		if len(g.results) > len(short) {
			workloads = short
		}
		s := g.Ratios(workloads)
		fmt.Fprintf(w, "\n%s.\n\n%s", g.Title, s.markdown())
		if more := len(g.results) - len(s.Rows); more > 0 {
			fmt.Fprintf(w, "\nThe report has %s.\n", text.Count(more, "more workload"))
		}
	}

	if r.Growth == nil {
		return
	}
	s := sheet{Head: append([]string{"items"}, r.Growth.Layers...)}
	for _, step := range r.Growth.Steps {
		line := []string{text.Thousands(step.Items)}
		for _, p := range step.Points {
			line = append(line, measure.Times(p.Ratio.Median))
		}
		s.add(line...)
	}

	fmt.Fprintf(
		w, "\nQuery of 10 rows by the size of the table, as a multiple of its time in a table of 1,000.\n\n%s",
		s.markdown(),
	)
}
