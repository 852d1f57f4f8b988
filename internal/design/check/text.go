package check

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/sortkey/sortkey/internal/design"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/text"
)

// TextOptions configure [Result.WriteText]. The zero value is ready to use.
type TextOptions struct {
	// Width is the columns at which lines wrap, between words and never in a
	// key. Default: 100.
	Width int
	// Color marks what matters with ANSI colours.
	Color bool
	// Quiet leaves out patterns that did what is expected, and tables.
	Quiet bool
}

// WriteText writes the result for people: each access pattern with what it
// asked, read and cost, then tables, then findings by severity, and a last
// line that sums up.
func (r *Result) WriteText(w io.Writer, o TextOptions) error {
	if o.Width <= 0 {
		o.Width = 100
	}
	p := &printer{r: r, o: o}
	p.print()
	_, err := w.Write(p.out.Bytes())
	return err
}

type printer struct {
	r   *Result
	o   TextOptions
	out bytes.Buffer
}

const (
	strong = "1"
	faint  = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
)

func (p *printer) paint(code, s string) string {
	if !p.o.Color || s == "" || code == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

const (
	indent     = 4
	labelWidth = 9
)

// line writes a label and what it says, wrapped behind it.
func (p *printer) line(label, code, s string) {
	for i, l := range text.Wrap(s, max(p.o.Width-indent-labelWidth, 30)) {
		if i > 0 {
			label = ""
		}
		p.whole(label, code, l)
	}
}

// whole is line for what stays on one.
func (p *printer) whole(label, code, s string) {
	head := strings.Repeat(" ", labelWidth)
	if label != "" {
		head = p.paint(faint, fmt.Sprintf("%-*s", labelWidth, label))
	}
	fmt.Fprintf(&p.out, "%*s%s%s\n", indent, "", head, p.paint(code, strings.ReplaceAll(s, "\n", " ")))
}

func (p *printer) print() {
	fmt.Fprintln(&p.out, p.paint(strong, p.r.Model.Name))
	if p.r.Model.About != "" && !p.o.Quiet {
		fmt.Fprintln(&p.out, strings.Join(text.Wrap(p.r.Model.About, p.o.Width), "\n"))
	}
	if p.r.Scale < 1 {
		fmt.Fprintln(&p.out, p.paint(yellow, strings.Join(text.Wrap(p.sample(), p.o.Width), "\n")))
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
	for _, s := range []design.Severity{design.Error, design.Warning, design.Note} {
		p.findings(s)
	}
	p.summary()
}

func (p *printer) pattern(pr *PatternResult) {
	mark := p.paint(green, "✓")
	if !pr.OK() {
		mark = p.paint(red, "✗")
	}
	fmt.Fprintf(&p.out, "%s %s\n", mark, p.paint(strong, pr.Pattern.Name))
	if pr.Compile != nil && pr.OK() {
		p.line("refused", "", design.NotARange+": "+pr.Compile.Msg)
		p.line("instead", "", pr.Compile.Advice)
	}
	if r := pr.Report; r != nil {
		p.report(pr, r)
	}
	for _, f := range pr.Failures {
		p.line("wrong", red, f.Message)
		for _, k := range f.Keys {
			p.whole("", "", k)
		}
		if f.Advice != "" {
			p.line("do", "", f.Advice)
		}
	}
}

func (p *printer) report(pr *PatternResult, r *explain.Report) {
	p.line("asks", "", asks(pr, r))
	if r.Refused != nil && !pr.OK() {
		return // what is wrong says why
	}
	if r.Refused != nil {
		p.line("refused", "", r.Refused.Code+": "+r.Refused.Message)
		if r.Refused.Rule != "" {
			p.line("rule", "", r.Refused.Rule)
		}
		if len(r.Refused.Advice) > 0 {
			p.line("instead", "", r.Refused.Advice[0].Text)
		}
		return
	}
	if r.Operation == "Query" && r.Schema != nil && len(r.Schema.Range) > 0 {
		p.line("slice", "", slice(r))
	}
	read := fmt.Sprintf("%s, %d returned", rows(r.Examined), r.Returned)
	if n := r.Examined - r.Returned; n > 0 {
		read += fmt.Sprintf(", %s", p.paint(yellow, fmt.Sprintf("%d wasted (%s of the bytes)", n, percent(pr.Waste()))))
	}
	consistency := "eventually consistent"
	if pr.Pattern.Consistent || r.Consistent {
		consistency = "strongly consistent"
	}
	read += fmt.Sprintf("; %s, %s; %s %s", count(r.Bytes+r.Fetched, "byte"), count(r.Pages, "page"), units(pr.Units()), consistency)
	p.line("reads", "", read)
	if pr.Growth >= 1.1 {
		p.line("declared", yellow, fmt.Sprintf("at the declared scale about %s times these rows, if they grow as their partition does", number(pr.Growth)))
	}
	if pr.idle() {
		p.line("note", yellow, "no item has this key, so this says nothing of the cost: give values that a sample has, or expect: {rows: 0}")
	}
	if len(r.Entities) > 1 || len(r.Entities) == 1 && r.Entities[0].Entity != "" && pr.Pattern.Entity == nil {
		var parts []string
		for _, s := range r.Entities {
			name := s.Entity
			if name == "" {
				name = "of no entity"
			}
			part := name + " " + strconv.Itoa(s.Examined)
			if s.Returned != s.Examined {
				part += fmt.Sprintf(" (%d returned)", s.Returned)
			}
			parts = append(parts, part)
		}
		p.line("rows", "", strings.Join(parts, ", "))
	}
	if r.Operation == "Query" && r.Limit > 0 && r.Last != nil {
		p.line("stops", "", r.Stop)
	}
}

// idle reports whether the pattern read no row though it does not expect to
// find none.
func (pr *PatternResult) idle() bool {
	e := &pr.Pattern.Expect
	return pr.OK() && pr.Report.Examined == 0 && e.Rows == nil && e.Keys == nil && !e.NoItem && (e.MaxRows == nil || *e.MaxRows > 0)
}

// asks is the question in words.
func asks(pr *PatternResult, r *explain.Report) string {
	s := r.Table
	if r.Operation == "Scan" {
		s = "everything in " + s
	}
	if r.Index != "" {
		s += " by " + r.Index
	}
	if r.Clauses != nil {
		s += " where " + r.KeyCondition()
	}
	if r.Filter != "" {
		s += ", keeping " + r.Filter
	}
	if r.Reverse {
		s += ", backwards"
	}
	if r.Limit > 0 {
		s += fmt.Sprintf(", reading at most %d", r.Limit)
	}
	if r.Refused != nil && r.Clauses == nil {
		s += " " + string(pr.Request)
	}
	return s
}

// slice is the range of sort positions.
func slice(r *explain.Report) string {
	low, high := "the start of the partition", "its end"
	if r.Low.Bytes != nil {
		word := "from "
		if !r.Low.Inclusive {
			word = "after "
		}
		low = word + r.Low.Text
	} else {
		low = "from " + low
	}
	if r.High.Bytes != nil {
		word := "up to "
		if !r.High.Inclusive {
			word = "before "
		}
		high = word + r.High.Text
	} else {
		high = "to " + high
	}
	return low + " " + high
}

func (p *printer) tables() {
	if len(p.r.Tables) == 0 {
		return
	}
	fmt.Fprintf(&p.out, "\n%s\n", p.paint(strong, "tables"))
	for _, s := range p.r.Tables {
		name := s.Table.Name
		if s.Index != nil {
			name += " by " + s.Index.Name
		}
		fmt.Fprintf(&p.out, "  %s\n", name)
		line := fmt.Sprintf("%s, %s in %s", count(s.Items, "item"), size(s.Bytes), count(s.Partitions, "partition"))
		if hot := s.ByBytes; hot != nil && s.Partitions > 1 {
			line += fmt.Sprintf("; the largest, %s, has %s of the bytes and %s", hot.Text(), percent(float64(hot.Bytes)/float64(s.Bytes)), count(hot.Items, "item"))
		}
		rates := ""
		if hot := s.ByReads; hot != nil {
			rates += fmt.Sprintf("; the most read, %s, %s units a second", hot.Text(), number(hot.Reads))
		}
		if hot := s.ByWrites; hot != nil {
			rates += fmt.Sprintf("; the most written, %s, %s units a second", hot.Text(), number(hot.Writes))
		}
		if p.r.Scale >= 1 || p.r.Scale <= 0 || s.Items == 0 {
			p.line("", "", line+rates)
			continue
		}
		p.line("sample", "", line)
		line = fmt.Sprintf("%s, %s", count(int(s.DeclaredItems), "item"), size(int(s.DeclaredBytes)))
		if hot := s.ByBytes; hot != nil && s.Partitions > 1 {
			line += fmt.Sprintf("; the largest partition about %s, %s", size(int(hot.DeclaredBytes)), count(int(hot.DeclaredItems), "item"))
		}
		p.line("declared", "", line+rates)
	}
}

func (p *printer) findings(s design.Severity) {
	first := true
	for _, f := range p.r.Findings {
		if f.Severity != s || f.Rule == Rule {
			continue // expectations stand with their patterns
		}
		if first {
			code := map[design.Severity]string{design.Error: red, design.Warning: yellow, design.Note: faint}[s]
			fmt.Fprintf(&p.out, "\n%s\n", p.paint(code, s.String()+"s"))
			first = false
		}
		fmt.Fprintf(&p.out, "  %s %s\n", p.paint(strong, f.Pos.String()), p.paint(faint, f.Rule))
		p.line("", "", f.Message)
		for i, k := range f.Keys {
			label := "keys"
			if i > 0 {
				label = ""
			}
			p.whole(label, "", k)
		}
		if f.Advice != "" && f.Accepted == "" {
			p.line("do", "", f.Advice)
		}
		if f.Accepted != "" {
			p.line("accepted", "", f.Accepted)
		}
	}
}

func (p *printer) summary() {
	ok := 0
	for i := range p.r.Patterns {
		if p.r.Patterns[i].OK() {
			ok++
		}
	}
	code := green
	if p.r.Failed(design.Error) {
		code = red
	}
	s := fmt.Sprintf("%s, %d as expected; %s, %s, %s", count(len(p.r.Patterns), "pattern"), ok,
		count(p.r.Count(design.Error), "error"), count(p.r.Count(design.Warning), "warning"), count(p.r.Count(design.Note), "note"))
	fmt.Fprintf(&p.out, "\n%s\n", p.paint(code, s))
}

// sample says that the figures are those of a smaller world.
func (p *printer) sample() string {
	if p.r.Scale <= 0 {
		return "none of the items declared were generated (--max-items makes more): what patterns read is of the samples alone."
	}
	return fmt.Sprintf("a sample: %s of the items declared were generated (--max-items makes more). Patterns read the sample; sizes, rates and findings are told for the declared scale.", percent(p.r.Scale))
}

func number(f float64) string { return strconv.FormatFloat(roundTo(f), 'f', -1, 64) }

// roundTo keeps three significant places of what is small.
func roundTo(f float64) float64 {
	s := strconv.FormatFloat(f, 'g', 3, 64)
	if f >= 100 {
		s = strconv.FormatFloat(f, 'f', 1, 64)
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return f
	}
	return v
}

func size(n int) string {
	switch {
	case n >= 10<<20:
		return number(float64(n)/(1<<20)) + " MB"
	case n >= 10<<10:
		return number(float64(n)/(1<<10)) + " KB"
	}
	return count(n, "byte")
}

func units(f float64) string {
	if f == 1 {
		return "1 read unit"
	}
	return number(f) + " read units"
}
