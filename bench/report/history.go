package report

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/sortkey/sortkey/bench"
)

var notName = regexp.MustCompile(`[^A-Za-z0-9.]+`)

// History writes the measured targets in Go's benchmark format, a line each, so that
// benchstat can say what moved between commits:
// https://go.googlesource.com/proposal/+/master/design/14313-benchmark-format.md
func History(w io.Writer, r *bench.Report) error {
	var b strings.Builder
	fmt.Fprintf(&b, "commit: %.12s\nmachine: %s\ndate: %s\n", r.Build.Commit, r.Machine, r.Started.Format("2006-01-02"))
	for _, t := range r.Targets {
		if t.Skipped == "" {
			name := strings.Trim(notName.ReplaceAllString(t.Measure, "-"), "-")
			fmt.Fprintf(&b, "BenchmarkTarget/%s 1 %.6g %s\n", name, t.Value, historyUnit(t))
		}
	}
	_, err := io.WriteString(w, b.String()+"\n")
	return err
}

// historyUnit returns the unit of a target's value for benchstat.
func historyUnit(t bench.Target) string {
	switch {
	case strings.Contains(t.Reached, "×") && !strings.Contains(t.Reached, "second"):
		return "times"
	case strings.Contains(t.Reached, "second"), strings.Contains(t.Reached, "/s"):
		return "ops/s"
	case strings.HasSuffix(t.Reached, "B"):
		return "bytes"
	case strings.Contains(t.Reached, "s"):
		return "ns/op"
	}
	return "count"
}
