package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/load"
	"github.com/sortkey/sortkey/internal/text"
)

// A line is one fact about a pattern or a table, as text with a label.
type line struct {
	Label, Text string
	Class       string // good, bad, warn or faint; "" for none
	Whole       bool   // never wrap Text, because it has keys
}

type lines []line

func (l *lines) add(label, format string, args ...any) {
	*l = append(*l, line{Label: label, Text: fmt.Sprintf(format, args...)})
}

func (l *lines) warn(label, format string, args ...any) {
	*l = append(*l, line{Label: label, Text: fmt.Sprintf(format, args...), Class: "warn"})
}

func (l *lines) whole(label, s string) { *l = append(*l, line{Label: label, Text: s, Whole: true}) }

// linesOf describes what a pattern reads or writes, and what that costs.
func linesOf(pr *check.PatternResult) (l lines) {
	if pr.Compile != nil && pr.OK() {
		l.add("refused", "%s: %s", compile.NotARange, pr.Compile.Msg)
		l.add("instead", "%s", pr.Compile.Advice)
	}
	if pr.Skipped != "" {
		l = append(l, line{Label: "not run", Text: pr.Skipped, Class: "faint"})
	}
	if pr.Report != nil {
		l.reads(pr)
	}
	if pr.Writes != nil {
		l.writes(pr)
	}
	return l
}

// failures describes the expectations that a pattern does not meet.
func failures(pr *check.PatternResult) (l lines) {
	for _, f := range pr.Failures {
		l = append(l, line{Label: "failed", Text: f.Message, Class: "bad"})
		for _, k := range f.Keys {
			l.whole("", k)
		}
		if f.Advice != "" {
			l.add("do", "%s", f.Advice)
		}
	}
	return l
}

func (l *lines) reads(pr *check.PatternResult) {
	r := pr.Report
	l.add("request", "%s", request(pr))
	if f := r.Refused; f != nil {
		if !pr.OK() {
			return // the failure says why
		}
		l.add("refused", "%s: %s", f.Code, f.Message)
		if f.Rule != "" {
			l.add("rule", "%s", f.Rule)
		}
		if len(r.Hints) > 0 {
			l.add("instead", "%s", r.Hints[0])
		}
		return
	}

	if r.Operation == "Query" && r.Schema != nil && len(r.Schema.Sort()) > 0 {
		low, high := r.Ends()
		l.add("slice", "%s %s", low, high)
	}
	if pr.Requests > 1 {
		l.add("and", "%s more like it, for other values of %s; the figures are for all",
			text.Thousands(pr.Requests-1), strings.Join(pr.Varied, " and "))
	}
	l.total(pr)
	if grows(pr.Growth) {
		l.warn("declared", "about %s times these rows at the declared scale, if they grow like their partition",
			text.Figure(pr.Growth))
	}
	if pr.Spread != nil {
		l.spread(pr)
	}
	if rate := pr.Pattern.Rate; rate > 0 {
		l.add("load", "%s a second: %s a second, %s on average", text.Figure(rate),
			units(rate*pr.MeanUnits()), text.Figure(pr.MeanUnits()))
		if e := pr.Uncounted(); e != nil {
			l.warn("", "the load of no partition is counted: nobody says how many %s there are; write count: of it",
				e.Name)
		}
	}

	if all := pr.Total.Entities; len(all) > 1 || len(all) == 1 && all[0].Entity != "" && pr.Pattern.Entity == nil {
		l.add("rows", "%s", shares(all))
	}
	if pr.Cut > 0 {
		l.warn("stops", "after %s: the pattern reads more, and costs more", text.Count(pr.Cut, "page"))
	}
	if r.Operation == "Query" && r.Limit > 0 && r.Last != nil {
		l.add("stops", "%s", r.Stop)
	}
}

// total describes what all requests of a pattern read for the values in the model.
func (l *lines) total(pr *check.PatternResult) {
	t := pr.Total
	read := fmt.Sprintf("%s, %s returned", rows(t.Examined), text.Thousands(t.Returned))
	if n := t.Examined - t.Returned; n > 0 {
		read += fmt.Sprintf(", %s wasted (%s of the bytes)", text.Thousands(n), text.Percent(pr.Waste()))
	}
	consistency := "eventually consistent"
	if pr.Pattern.Consistent || pr.Report.Consistent {
		consistency = "strongly consistent"
	}
	l.add("reads", "%s; %s, %s; %s %s", read, text.Count(t.Bytes+t.Fetched, "byte"), text.Count(t.Pages, "page"),
		units(t.Units(pr.Pattern.Consistent)), consistency)
	if b := pr.Batch; b != nil {
		l.add("then", "%s %s by key, in %s; %s, %s; %s in all", pr.Pattern.Then.Name, text.Thousands(b.Items),
			text.Count(b.Requests, "batch"), text.Count(b.Bytes, "byte"), units(pr.BatchUnits()), units(pr.Units()))
	}
}

// spread adds what a pattern reads for all values that it can ask for: a line each for the median, the 95th
// percentile and the worst.
func (l *lines) spread(pr *check.PatternResult) {
	s := pr.Spread
	where := "in " + text.Count(s.Partitions, "partition")
	if s.Values != s.Partitions {
		where = fmt.Sprintf("for %s %s", text.Count(s.Values, "value"), where)
	}
	if s.Empty > 0 {
		where += fmt.Sprintf(", %s of which %s no rows", text.Thousands(s.Empty), text.Agree(s.Empty, "has", "have"))
	}
	same := "the same request"
	if pr.Requests > 1 {
		same += "s"
	}
	l.add("spread", "%s %s, by cost:", same, where)
	l.whole("", "p50    "+reading(&s.P50))
	l.whole("", "p95    "+reading(&s.P95))
	l.whole("", "worst  "+reading(&s.Worst))
}

// reading describes what a pattern reads for one value.
func reading(r *load.Reading) string {
	s := rows(r.Rows)
	if r.Examined != r.Rows {
		s += " of " + text.Thousands(r.Examined)
	}
	s += fmt.Sprintf(", %s, %s", units(r.Units), text.Count(r.Pages, "page"))
	if grows(r.Growth) {
		s += fmt.Sprintf("; at the declared scale about %s, %s",
			rows(int(math.Round(r.DeclaredRows()))), units(r.DeclaredUnits()))
	}
	return s + ": " + r.Place()
}

// grows reports whether the declared scale differs enough from the dataset to be worth mentioning. f is the number of
// rows at the declared scale divided by the number in the dataset.
func grows(f float64) bool { return f >= 1.1 || f > 0 && f <= 0.9 }

// shares lists the entities that a pattern reads.
func shares(all []explain.Share) string {
	var parts []string
	for _, s := range all {
		name := s.Entity
		if name == "" {
			name = "(no entity)"
		}
		part := name + " " + text.Thousands(s.Examined)
		if s.Returned != s.Examined {
			part += fmt.Sprintf(" (%s returned)", text.Thousands(s.Returned))
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

// writes describes what a pattern that writes costs.
func (l *lines) writes(pr *check.PatternResult) {
	c := pr.Writes
	if c.Request != nil {
		l.add("request", "%s", c.Describe())
	}
	if c.Refused != nil || c.Items == 0 {
		return // the failure says why
	}
	l.add("writes", "%s on average: %s", writeUnits(c.Mean()), written(c, 1))
	tried := fmt.Sprintf("p50 %s, p95 %s, worst %s of %s", text.Figure(c.P50), text.Figure(c.P95),
		text.Figure(c.Worst), text.Count(c.Items, "item"))
	if c.Items == load.MostCounted {
		tried += ", drawn from " + text.Thousands(c.All)
	}
	if c.Unmet > 0 {
		tried += "; the condition refuses " + text.Thousands(c.Unmet) + text.Agree(c.Unmet, " other", " others")
	}
	l.add("", "%s", tried)
	if rate := pr.Pattern.Rate; rate > 0 {
		l.add("load", "%s a second: %s a second: %s", text.Figure(rate), writeUnits(rate*c.Mean()), written(c, rate))
	}
}

// written lists the average write units for each table and index, multiplied by rate.
func written(c *load.Cost, rate float64) string {
	var parts []string
	for _, s := range c.Spaces {
		name := s.Table.Name
		if s.Index != nil {
			name = s.Index.Name
		}
		parts = append(parts, name+" "+text.Figure(s.Mean*rate))
	}
	return strings.Join(parts, ", ")
}

// request describes the request of a pattern in words.
func request(pr *check.PatternResult) string {
	r := pr.Report
	s := r.Table
	if r.Operation == "Scan" {
		s = "all of " + s
	}
	if r.Index != "" {
		s += " by " + r.Index
	}
	if r.Clauses != nil {
		s += " where " + r.KeyCondition()
	}
	if r.Filter != "" {
		s += ", filter " + r.Filter
	}
	if r.Reverse {
		s += ", descending"
	}
	if r.Limit > 0 {
		s += fmt.Sprintf(", limit %d", r.Limit)
	}
	if r.Refused != nil && r.Clauses == nil {
		s += " " + string(pr.Request())
	}
	return s
}

// tableLines describes the size of a table or an index and its largest partitions. whole is true if all declared
// items were generated.
func tableLines(s *check.TableStats, whole bool) (l lines) {
	rates := ""
	if hot := s.ByReads; hot != nil {
		rates += fmt.Sprintf("; the most read, %s, %s per second",
			hot.Key.Text(), amount(hot.Reads, "unit"))
	}
	if hot := s.ByWrites; hot != nil {
		rates += fmt.Sprintf("; the most written, %s, %s per second",
			hot.Key.Text(), amount(hot.Writes, "unit"))
	}

	made := fmt.Sprintf("%s, %s in %s",
		text.Count(s.Items, "item"), text.Size(s.Bytes), text.Count(s.Partitions, "partition"))
	hot := s.ByBytes
	if s.Partitions == 1 {
		hot = nil
	}
	if hot != nil {
		made += fmt.Sprintf("; the largest, %s, has %s of the bytes and %s", hot.Key.Text(),
			text.Percent(float64(hot.Bytes)/float64(s.Bytes)), text.Count(hot.Items, "item"))
	}
	if whole || s.Items == 0 {
		l.add("", "%s%s", made, rates)
		return l
	}

	l.add("sample", "%s", made)
	declared := fmt.Sprintf("%s, %s", text.Count(int(s.DeclaredItems), "item"), text.Size(s.DeclaredBytes))
	if hot != nil {
		declared += fmt.Sprintf("; the largest partition has about %s, %s", text.Size(hot.DeclaredBytes),
			text.Count(int(hot.DeclaredItems), "item"))
	}
	l.add("declared", "%s%s", declared, rates)
	return l
}

func rows(n int) string { return text.Count(n, "row") }

func units(f float64) string { return amount(f, "read unit") }

func writeUnits(f float64) string { return amount(f, "write unit") }
