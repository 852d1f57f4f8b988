package check

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/load"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/terminal"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/internal/text"
)

// TextOptions configure [Result.WriteText]. The zero value is ready to use.
type TextOptions struct {
	// Width is the column at which lines wrap, between words and never inside a
	// key. Default: 100.
	Width int
	// Color highlights parts of the text with ANSI colours.
	Color bool
	// Quiet omits patterns that meet their expectations, and tables.
	Quiet bool
}

// WriteText writes the result for people: each access pattern with its request,
// reads and cost, then tables, then findings by severity, and a summary line.
func (r *Result) WriteText(w io.Writer, o TextOptions) error {
	if o.Width <= 0 {
		o.Width = 100
	}
	p := &printer{r: r, o: o, paint: terminal.Paint(o.Color)}
	p.write()
	_, err := w.Write(p.out.Bytes())
	return err
}

type printer struct {
	r     *Result
	o     TextOptions
	paint terminal.Paint
	out   bytes.Buffer
}

const (
	indent     = 4
	labelWidth = 9
)

// line writes a label and wrapped text. Names in it may have any characters.
func (p *printer) line(label string, paint func(string) string, s string) {
	p.painted(label, paint, text.Visible(s))
}

// painted is line for text that has colours and only characters that can be shown.
func (p *printer) painted(label string, paint func(string) string, s string) {
	for i, l := range terminal.Wrap(s, max(p.o.Width-indent-labelWidth, 30)) {
		if i > 0 {
			label = ""
		}
		p.print(label, paint, l)
	}
}

// whole writes a label and text on one line.
func (p *printer) whole(label string, paint func(string) string, s string) {
	p.print(label, paint, text.Visible(s))
}

func (p *printer) print(label string, paint func(string) string, s string) {
	head := strings.Repeat(" ", labelWidth)
	if label != "" {
		head = p.paint.Faint(fmt.Sprintf("%-*s", labelWidth, label))
	}
	if paint != nil {
		s = paint(s)
	}
	fmt.Fprintf(&p.out, "%*s%s%s\n", indent, "", head, s)
}

func (p *printer) write() {
	fmt.Fprintln(&p.out, p.paint.Strong(text.Visible(p.r.Model.Name)))
	if p.r.Model.About != "" && !p.o.Quiet {
		fmt.Fprintln(&p.out, strings.Join(terminal.Wrap(text.VisibleLines(p.r.Model.About), p.o.Width), "\n"))
	}
	if p.r.Scale < 1 {
		fmt.Fprintln(&p.out, p.paint.Warn(strings.Join(terminal.Wrap(p.sample(), p.o.Width), "\n")))
	}
	if len(p.r.Looked) > 0 && !p.o.Quiet {
		fmt.Fprintln(&p.out, strings.Join(terminal.Wrap(text.Visible(p.r.look()), p.o.Width), "\n"))
	}
	for i := range p.r.Patterns {
		if pr := &p.r.Patterns[i]; !p.o.Quiet || !pr.OK() {
			fmt.Fprintln(&p.out)
			p.pattern(pr)
		}
	}
	if !p.o.Quiet {
		p.tables()
	}
	for _, s := range []model.Severity{model.Error, model.Warning, model.Note} {
		p.findings(s)
	}
	p.summary()
}

func (p *printer) pattern(pr *PatternResult) {
	paint := p.paint.Faint
	switch pr.Mark() {
	case "✓":
		paint = p.paint.Good
	case "✗":
		paint = p.paint.Bad
	}
	fmt.Fprintf(&p.out, "%s %s\n", paint(pr.Mark()), p.paint.Strong(text.Visible(pr.Pattern.Name)))
	if pr.Compile != nil && pr.OK() {
		p.line("refused", nil, compile.NotARange+": "+pr.Compile.Msg)
		p.line("instead", nil, pr.Compile.Advice)
	}
	if pr.Skipped != "" {
		p.line("not run", p.paint.Faint, pr.Skipped)
	}
	if r := pr.Report; r != nil {
		p.report(pr, r)
	}
	if c := pr.Writes; c != nil {
		p.writes(pr, c)
	}

	for _, f := range pr.Failures {
		p.line("failed", p.paint.Bad, f.Message)
		for _, k := range f.Keys {
			p.whole("", nil, k)
		}
		if f.Advice != "" {
			p.line("do", nil, f.Advice)
		}
	}
}

func (p *printer) report(pr *PatternResult, r *explain.Report) {
	p.line("request", nil, request(pr, r))
	if r.Refused != nil && !pr.OK() {
		return // the failure says why
	}
	if r.Refused != nil {
		p.line("refused", nil, r.Refused.Code+": "+r.Refused.Message)
		if r.Refused.Rule != "" {
			p.line("rule", nil, r.Refused.Rule)
		}
		if len(r.Refused.Advice) > 0 {
			p.line("instead", nil, r.Refused.Advice[0].Text)
		}
		return
	}

	if r.Operation == "Query" && r.Schema != nil && len(r.Schema.Sort()) > 0 {
		low, high := r.Ends()
		p.line("slice", nil, low+" "+high)
	}
	if pr.Requests > 1 {
		p.line("and", nil, pr.alike())
	}

	total := pr.Total
	read := fmt.Sprintf("%s, %s returned", rows(total.Examined), text.Thousands(total.Returned))
	if n := total.Examined - total.Returned; n > 0 {
		read += fmt.Sprintf(
			", %s",
			p.paint.Warn(fmt.Sprintf("%s wasted (%s of the bytes)", text.Thousands(n), text.Percent(pr.Waste()))),
		)
	}

	consistency := "eventually consistent"
	if pr.Pattern.Consistent || r.Consistent {
		consistency = "strongly consistent"
	}
	read += fmt.Sprintf(
		"; %s, %s; %s %s", text.Count(total.Bytes+total.Fetched, "byte"), text.Count(total.Pages, "page"),
		units(total.Units(pr.Pattern.Consistent)), consistency,
	)
	p.painted("reads", nil, read)
	if b := pr.Batch; b != nil {
		p.line("then", nil, fmt.Sprintf(
			"%s by key, in %s; %s, %s; %s in all", pr.Pattern.Then.Name+" "+text.Thousands(b.Items),
			text.Count(b.Requests, "batch"), text.Count(b.Bytes, "byte"), units(pr.BatchUnits()), units(pr.Units()),
		))
	}

	if pr.Growth >= 1.1 || pr.Growth > 0 && pr.Growth <= 0.9 {
		p.line(
			"declared", p.paint.Warn,
			fmt.Sprintf(
				"about %s times these rows at the declared scale, if they grow like their partition",
				text.Figure(pr.Growth),
			),
		)
	}

	if s := pr.Spread; s != nil {
		where := "in " + text.Count(s.Partitions, "partition")
		if s.Values != s.Partitions {
			where = fmt.Sprintf("for %s %s", text.Count(s.Values, "value"), where)
		}
		if s.Empty > 0 {
			verb := text.Agree(s.Empty, "has", "have")
			where += fmt.Sprintf(", %s of which %s no rows", text.Thousands(s.Empty), verb)
		}
		same := "the same request"
		if pr.Requests > 1 {
			same += "s"
		}
		p.line("spread", nil, fmt.Sprintf("%s %s, by cost:", same, where))
		p.reading("p50", &s.P50)
		p.reading("p95", &s.P95)
		p.reading("worst", &s.Worst)
	}

	if rate := pr.Pattern.Rate; rate > 0 {
		p.line("load", nil, fmt.Sprintf(
			"%s a second: %s a second, %s on average", text.Figure(rate),
			text.Amount(text.Figure(rate*pr.MeanUnits()), "read unit"), text.Figure(pr.MeanUnits()),
		))
	}

	if all := total.Entities; len(all) > 1 || len(all) == 1 && all[0].Entity != "" && pr.Pattern.Entity == nil {
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
		p.line("rows", nil, strings.Join(parts, ", "))
	}

	if pr.cut > 0 {
		p.line("stops", p.paint.Warn, "after "+text.Count(pr.cut, "page")+": the pattern reads more, and costs more")
	}
	if r.Operation == "Query" && r.Limit > 0 && r.Last != nil {
		p.line("stops", nil, r.Stop)
	}
}

// writes writes what a pattern that writes costs.
func (p *printer) writes(pr *PatternResult, c *load.Cost) {
	if c.Request != nil || c.Move != nil {
		p.line("request", nil, c.Describe())
	}
	if c.Refused != nil || c.Items == 0 {
		return // the failure says why
	}
	p.line("writes", nil, writeUnits(c.Mean())+" on average: "+spaces(c, 1))
	if c.Move != nil {
		p.move(c.Move)
		p.writeLoad(pr, c)
		return
	}
	tried := fmt.Sprintf("p50 %s, p95 %s, worst %s of %s", text.Figure(c.P50), text.Figure(c.P95), text.Figure(c.Worst),
		text.Count(c.Items, "item"))
	if c.Items == load.MostCounted {
		tried += fmt.Sprintf(", drawn from %s", text.Thousands(c.All))
	}
	if c.Unmet > 0 {
		tried += fmt.Sprintf("; the condition refuses %s others", text.Thousands(c.Unmet))
	}
	p.line("", nil, tried)
	p.writeLoad(pr, c)
}

// move writes what it costs to move a value, and for how long that writes.
func (p *printer) move(m *load.Move) {
	count := text.Count(m.Values, "value")
	if m.Path {
		count = text.Count(m.Values, "path")
	}

	switch {
	case m.Values == 1:
		p.line("moves", nil, count+": "+m.Worst.String())
	case m.P50.Units == m.Worst.Units && m.P50.Items == m.Worst.Items:
		p.line("moves", nil, count+": "+m.Worst.String()+" each")
	default:
		items := text.Amount(text.Figure(m.MeanItems), "item")
		p.line("moves", nil, fmt.Sprintf("%s, with %s on average; by cost:", count, items))
		p.moved("p50", &m.P50)
		p.moved("p95", &m.P95)
		p.moved("worst", &m.Worst)
	}
	if m.Generated {
		p.line("but", p.paint.Warn, "generated paths hardly share folders: list samples, or make the folder an "+
			"entity to which its items belong")
	}
}

// moved writes what it costs to move one value.
func (p *printer) moved(label string, m *load.Moved) {
	p.whole("", nil, fmt.Sprintf("%-5s  %s: %s", label, m, m.Name))
}

// writeLoad writes what a pattern that writes costs at its rate.
func (p *printer) writeLoad(pr *PatternResult, c *load.Cost) {
	if rate := pr.Pattern.Rate; rate > 0 {
		p.line("load", nil, fmt.Sprintf(
			"%s a second: %s a second: %s", text.Figure(rate), writeUnits(rate*c.Mean()), spaces(c, rate),
		))
	}
}

// spaces lists the write units of tables and indexes, times a rate.
func spaces(c *load.Cost, rate float64) string {
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

// alike describes the requests of a pattern beside the first.
func (pr *PatternResult) alike() string {
	return fmt.Sprintf("%s more like it, for other values of %s; the figures are for all",
		text.Thousands(pr.Requests-1), strings.Join(pr.varied, " and "))
}

// reading writes what a pattern reads in a partition.
func (p *printer) reading(label string, r *load.Reading) {
	read := rows(r.Rows)
	if r.Examined != r.Rows {
		read += fmt.Sprintf(" of %s", text.Thousands(r.Examined))
	}
	read += fmt.Sprintf(", %s, %s", units(r.Units), text.Count(r.Pages, "page"))
	if r.Growth >= 1.1 || r.Growth > 0 && r.Growth <= 0.9 {
		read += fmt.Sprintf(
			"; at the declared scale about %s, %s", rows(int(math.Round(r.DeclaredRows()))), units(r.DeclaredUnits()),
		)
	}
	p.whole("", nil, fmt.Sprintf("%-5s  %s: %s", label, read, r.Place()))
}

// request describes the request in words.
func request(pr *PatternResult, r *explain.Report) string {
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

func (p *printer) tables() {
	if len(p.r.Tables) == 0 {
		return
	}

	fmt.Fprintf(&p.out, "\n%s\n", p.paint.Strong("tables"))
	for _, s := range p.r.Tables {
		name := s.Table.Name
		if s.Index != nil {
			name += " by " + s.Index.Name
		}

		fmt.Fprintf(&p.out, "  %s\n", name)
		line := fmt.Sprintf(
			"%s, %s in %s", text.Count(s.Items, "item"), text.Size(s.Bytes), text.Count(s.Partitions, "partition"),
		)
		if hot := s.ByBytes; hot != nil && s.Partitions > 1 {
			line += fmt.Sprintf(
				"; the largest, %s, has %s of the bytes and %s", hot.Key.Text(),
				text.Percent(float64(hot.Bytes)/float64(s.Bytes)), text.Count(hot.Items, "item"),
			)
		}

		rates := ""
		if hot := s.ByReads; hot != nil {
			rates += fmt.Sprintf("; the most read, %s, %s per second",
				hot.Key.Text(), text.Amount(text.Figure(hot.Reads), "unit"))
		}
		if hot := s.ByWrites; hot != nil {
			rates += fmt.Sprintf("; the most written, %s, %s per second",
				hot.Key.Text(), text.Amount(text.Figure(hot.Writes), "unit"))
		}
		if p.r.Scale >= 1 || p.r.Scale <= 0 || s.Items == 0 {
			p.line("", nil, line+rates)
			continue
		}

		p.line("sample", nil, line)
		line = fmt.Sprintf("%s, %s", text.Count(int(s.DeclaredItems), "item"), text.Size(s.DeclaredBytes))
		if hot := s.ByBytes; hot != nil && s.Partitions > 1 {
			line += fmt.Sprintf(
				"; the largest partition has about %s, %s", text.Size(hot.DeclaredBytes),
				text.Count(int(hot.DeclaredItems), "item"),
			)
		}

		p.line("declared", nil, line+rates)
	}
}

func (p *printer) findings(s model.Severity) {
	first := true
	for _, f := range p.r.Findings {
		if f.Severity != s || f.Rule == Rule {
			continue // shown with the pattern
		}
		if first {
			paint := map[model.Severity]func(string) string{
				model.Error:   p.paint.Bad,
				model.Warning: p.paint.Warn,
				model.Note:    p.paint.Faint,
			}[s]
			fmt.Fprintf(&p.out, "\n%s\n", paint(s.String()+"s"))
			first = false
		}

		fmt.Fprintf(&p.out, "  %s %s\n", p.paint.Strong(text.Visible(f.Pos.String())), p.paint.Faint(f.Rule))
		p.line("", nil, f.Message)
		for i, k := range f.Keys {
			label := "keys"
			if i > 0 {
				label = ""
			}
			p.whole(label, nil, k)
		}

		if f.Advice != "" && f.Accepted == "" {
			p.line("do", nil, f.Advice)
		}
		if f.Accepted != "" {
			p.line("accepted", nil, f.Accepted)
		}
	}
}

func (p *printer) summary() {
	o, paint := p.r.Outcome(), p.paint.Good
	switch {
	case p.r.Failed(model.Error):
		paint = p.paint.Bad
	case o.Met == 0:
		paint = p.paint.Strong
	}
	s := fmt.Sprintf(
		"%s; %s, %s, %s", o, text.Count(p.r.Count(model.Error), "error"),
		text.Count(p.r.Count(model.Warning), "warning"), text.Count(p.r.Count(model.Note), "note"),
	)
	fmt.Fprintf(&p.out, "\n%s\n", paint(s))
}

// sample says that the figures come from a sample of the items.
func (p *printer) sample() string {
	if p.r.Scale <= 0 {
		return "no declared items were generated (--max-items generates more): patterns read only the samples."
	}
	more := "--max-items generates more"
	if p.r.Bytes {
		more = "their size is the limit, " + text.Size(world.DefaultMaxBytes)
	}
	return fmt.Sprintf(
		"a sample: %s of the declared items were generated (%s). Patterns read the sample; "+
			"budgets, sizes, rates and findings are for the declared scale.",
		text.Percent(p.r.Scale), more,
	)
}

func units(f float64) string {
	return text.Amount(text.Figure(f), "read unit")
}
