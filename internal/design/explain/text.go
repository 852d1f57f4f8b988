package explain

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/sortkey/sortkey/internal/design/terminal"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keycond"
)

// TextOptions configure [Report.WriteText]. The zero value is ready to use.
type TextOptions struct {
	// Prose is the column at which sentences wrap, between words and never inside a key. Default: 100.
	Prose int
	// Color highlights parts of the text with ANSI colours.
	Color bool
	// Rows is the number of rows to show at each end of the range. Default: 4. If negative, WriteText shows no
	// picture.
	Rows int
}

// WriteText writes the report as text for people.
func (r *Report) WriteText(w io.Writer, o TextOptions) error {
	if o.Rows == 0 {
		o.Rows = 4
	}
	p := &printer{r: r, o: o, paint: terminal.Paint(o.Color)}
	if r.Refused != nil {
		p.refused()
	} else {
		p.report()
	}
	_, err := io.WriteString(w, p.out.String())
	return err
}

// A printer writes one report.
type printer struct {
	r     *Report
	o     TextOptions
	paint terminal.Paint
	out   strings.Builder
}

// labelWidth is the width of the label before each line.
const labelWidth = 10

// line writes a label and text on one line.
func (p *printer) line(label, format string, args ...any) {
	fmt.Fprintf(&p.out, "%s %s\n", p.paint.Faint(terminal.Pad(label, labelWidth)), fmt.Sprintf(format, args...))
}

// wrapped writes a label and prose, wrapped to as many lines as necessary.
func (p *printer) wrapped(label, s string) {
	for i, l := range terminal.Wrap(s, max(cmp.Or(p.o.Prose, 100)-labelWidth-1, 20)) {
		if i > 0 {
			label = ""
		}
		p.line(label, "%s", l)
	}
}

func (p *printer) title() string {
	s := p.r.Operation
	switch {
	case s == opSelect:
		s = "SELECT from " + p.r.Table
	case p.r.Table != "":
		s += " of " + p.r.Table
	}
	if p.r.Index != "" {
		s += " by index " + p.r.Index
	}
	return p.paint.Strong(s)
}

func (p *printer) report() {
	r := p.r
	fmt.Fprintln(&p.out, p.title())
	p.line("key", "%s", p.key())
	if r.Clauses != nil {
		p.line("condition", "%s", r.KeyCondition())
	}
	if r.Filter != "" {
		p.line("filter", "%s", r.Filter)
	}
	if r.Start != nil {
		p.line("starts", "after %s", r.KeyText(r.Start))
	}
	if r.Reverse {
		p.line("order", "descending")
	}
	if p.o.Rows > 0 && (r.Operation != opGetItem || r.Examined > 0 || r.Before != nil || r.After != nil) {
		fmt.Fprintf(&p.out, "\n%s\n", r.Picture(p.o.Rows).Text(p.paint))
	}

	p.figures()
	for _, n := range r.Notes {
		p.wrapped("note", n)
	}
	p.hints("better")
}

// key describes the key attributes.
func (p *printer) key() string {
	s := p.r.Schema
	if s == nil {
		return "unknown"
	}
	attrs := func(list []keycond.Attribute) string {
		parts := make([]string, len(list))
		for i, a := range list {
			parts[i] = text.Name(a.Name) + " (" + a.Kind.String() + ")"
		}
		return strings.Join(parts, ", ")
	}
	out := "partition " + attrs(s.Partition())
	if len(s.Sort()) > 0 {
		out += "; sort " + attrs(s.Sort())
	}
	if p.r.Projection != "" {
		out += "; projects " + p.r.Projection
	}
	return out
}

func (p *printer) figures() {
	r := p.r
	wasted := ""
	if n := r.Examined - r.Returned; n > 0 {
		wasted = fmt.Sprintf(", %s wasted", text.Thousands(n))
	}
	p.line("rows", "%s examined, %s returned%s, in %s",
		text.Count(r.Examined, "row"), text.Thousands(r.Returned), wasted, text.Count(r.Pages, "page"))

	size := text.Count(r.Bytes, "byte")
	if r.Fetched > 0 {
		size += fmt.Sprintf(" of the index and %s fetched from the table", text.Count(r.Fetched, "byte"))
	}
	if r.Wasted > 0 {
		size += fmt.Sprintf(", %s wasted (%s)", text.Thousands(r.Wasted), text.Percent(r.Waste()))
	}
	p.line("size", "%s", size)
	if r.Strong == 0 && r.Index != "" {
		p.line("read units", "%v eventually consistent; a global index has no strongly consistent reads", r.Eventual)
	} else {
		p.line("read units", "%v eventually consistent, %v strongly consistent", r.Eventual, r.Strong)
	}

	p.stop()
	p.entities()
}

func (p *printer) stop() {
	r := p.r
	if r.Operation == opGetItem {
		if r.Examined == 0 {
			p.line("found", "no item with that key")
		}
		return
	}

	whole := "the range"
	if r.Operation == opScan {
		whole = "the table"
	}
	more := ", before " + r.KeyText(r.Next)
	if r.Next == nil {
		more = ", and " + whole + " ends there too: the next page is empty"
	}

	switch r.Stop {
	case keycond.StopEnd.String():
		p.line("ends", "at the end of %s", whole)
	case keycond.StopLimit.String():
		p.line("ends", "at Limit %d, counted before the filter%s", r.Limit, more)
	default:
		p.line("ends", "at %s%s", r.Stop, more)
	}

	if r.Last != nil {
		p.line("last key", "%s", r.Last.AppendJSON(nil))
	}
}

func (p *printer) entities() {
	r := p.r
	if len(r.Entities) == 0 || len(r.Entities) == 1 && r.Entities[0].Entity == "" {
		return
	}
	width := 0
	for _, s := range r.Entities {
		width = max(width, terminal.Width(entityName(s.Entity)))
	}
	label := "by entity"
	for _, s := range r.Entities {
		wasted := ""
		if s.Wasted > 0 {
			wasted = fmt.Sprintf(", %s wasted", text.Thousands(s.Wasted))
		}
		p.line(label, "%s  %s examined, %s returned, %s%s", terminal.Pad(entityName(s.Entity), width),
			text.Thousands(s.Examined), text.Thousands(s.Returned), text.Count(s.Bytes, "byte"), wasted)
		label = ""
	}
}

func entityName(name string) string {
	if name == "" {
		return "(none)"
	}
	return name
}

func (p *printer) refused() {
	f := p.r.Refused
	if f.Code == "" {
		fmt.Fprintln(&p.out, p.title()+" "+p.paint.Bad("is not one range"))
		p.wrapped("because", f.Message)
	} else {
		fmt.Fprintln(&p.out, p.title()+" "+p.paint.Bad("is refused"))
		p.wrapped("error", strings.TrimSuffix(f.Code+": "+f.Message, ": "))
	}
	if f.Where != "" {
		label := "where"
		for line := range strings.Lines(f.Where) {
			p.line(label, "%s", strings.TrimSuffix(line, "\n"))
			label = ""
		}
	}
	p.remedy()
}

// Remedy returns the part of the text that explains a refused request: the rule that the request breaks, and what to
// send instead.
func (r *Report) Remedy(o TextOptions) string {
	p := &printer{r: r, o: o, paint: terminal.Paint(o.Color)}
	p.remedy()
	return p.out.String()
}

func (p *printer) remedy() {
	f := p.r.Refused
	if f.Rule != "" {
		p.wrapped("rule", f.Rule)
		p.line("", "%s", p.paint.Faint(f.Source))
	}
	if p.r.Schema != nil {
		p.line("key", "%s", p.key())
	}
	p.hints("instead")
}

// hints writes the hints.
func (p *printer) hints(label string) {
	for i, h := range p.r.Hints {
		if len(p.r.Hints) > 1 {
			h = strconv.Itoa(i+1) + ". " + h
		}
		p.wrapped(label, h)
		label = ""
	}
}
