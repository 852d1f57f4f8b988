package explain

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/keycond"
)

// TextOptions configure [Report.WriteText]. The zero value is ready to use.
type TextOptions struct {
	// Width is the columns of the terminal; lines that would be longer are
	// cut, but for requests. 0 cuts none.
	Width int
	// Prose is the columns at which sentences wrap, between words and never in
	// a key. Default: Width, and 100 at most.
	Prose int
	// Color marks what matters with ANSI colours.
	Color bool
	// Rows is how many rows of a slice to show at each of its ends. Default: 4.
	// Negative shows none.
	Rows int
	// Command writes a request of the advice as a person would run it.
	// Default: the operation and its JSON.
	Command func(op string, request json.RawMessage) string
}

// WriteText writes the report for people. It ends in a newline.
func (r *Report) WriteText(w io.Writer, o TextOptions) error {
	if o.Rows == 0 {
		o.Rows = 4
	}
	p := &printer{r: r, o: o}
	if r.Refused != nil {
		p.refused()
	} else {
		p.report()
	}
	_, err := w.Write(p.out.Bytes())
	return err
}

// A printer writes one report.
type printer struct {
	r   *Report
	o   TextOptions
	out bytes.Buffer
}

const (
	strong = "1"
	faint  = "2"
	bad    = "31"
	good   = "32"
)

func (p *printer) paint(code, s string) string {
	if !p.o.Color || s == "" || code == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// labelWidth is that of the words before each line.
const labelWidth = 10

// line writes a label and what it says, cut to the width.
func (p *printer) line(label, format string, args ...any) {
	p.long(label, p.cut(fmt.Sprintf(format, args...), labelWidth+1))
}

// long is line without a cut.
func (p *printer) long(label, s string) {
	fmt.Fprintf(&p.out, "%s %s\n", p.paint(faint, text.Pad(label, labelWidth, ' ')), s)
}

// cut shortens s, which begins at a column, to the width.
func (p *printer) cut(s string, column int) string {
	if p.o.Width <= 0 {
		return s
	}
	return text.Snip(s, max(p.o.Width-column, 16), "…")
}

// wrapped writes words over as many lines as they take.
func (p *printer) wrapped(label, s string) {
	width := p.o.Prose
	if width <= 0 {
		if width = p.o.Width; width <= 0 || width > 100 {
			width = 100
		}
	}
	for i, l := range Wrap(s, max(width-labelWidth-1, 20)) {
		if i > 0 {
			label = ""
		}
		p.long(label, l)
	}
}

func (p *printer) title() string {
	s := p.r.Operation + " of " + p.r.Table
	if p.r.Operation == opSelect {
		s = "SELECT from " + p.r.Table
	}
	if p.r.Index != "" {
		s += " by index " + p.r.Index
	}
	return s
}

func (p *printer) report() {
	r := p.r
	fmt.Fprintln(&p.out, p.paint(strong, p.title()))
	p.line("key", "%s", p.key())
	if r.Clauses != "" {
		p.line("asks", "%s", r.Clauses)
	}
	if r.Filter != "" {
		p.line("filter", "%s", r.Filter)
	}
	if r.Operation != opScan {
		p.bound("partition", "", r.Partition)
		if r.Schema != nil && len(r.Schema.Range) > 0 {
			from, to := "from", "up to"
			if !r.Low.Inclusive {
				from = "after"
			}
			if !r.High.Inclusive {
				to = "before"
			}
			p.bound("range", from, r.Low)
			p.bound("", to, r.High)
		}
	}
	if r.Start != nil {
		p.line("begins", "after %s", p.keyText(r.Start))
	}
	if r.Reverse {
		p.line("order", "backwards")
	}
	p.picture()
	p.figures()
	for _, n := range r.Notes {
		p.wrapped("note", n)
	}
	p.advice("better", r.Advice)
}

// key names the key attributes.
func (p *printer) key() string {
	s := p.r.Schema
	if s == nil {
		return "unknown"
	}
	attrs := func(list []keycond.Attribute) string {
		parts := make([]string, len(list))
		for i, a := range list {
			parts[i] = Name(a.Name) + " (" + a.Kind.String() + ")"
		}
		return strings.Join(parts, ", ")
	}
	out := "partition " + attrs(s.Hash)
	if len(s.Range) > 0 {
		out += "; sort " + attrs(s.Range)
	}
	if p.r.Projection != "" {
		out += "; holds " + p.r.Projection
	}
	return out
}

// bound writes a bound with its bytes.
func (p *printer) bound(label, word string, b Bound) {
	if b.Bytes == nil {
		if word == "from" || word == "after" {
			p.line(label, "from the start of the partition")
		} else {
			p.line(label, "to the end of the partition")
		}
		return
	}
	hex := hexOf(b.Bytes)
	switch word { // the bytes are those of a range without its upper end
	case "up to":
		hex = "below " + hex
	case "after":
		hex = "from " + hex
	}
	if word != "" {
		word += " "
	}
	p.line(label, "%s%s  %s", word, b.Text, p.paint(faint, hex))
}

// hexOf writes bytes in groups that can be read.
func hexOf(b []byte) string {
	const most = 24
	s := Hex(b[:min(len(b), most)])
	if len(b) > most {
		s += "… (" + strconv.Itoa(len(b)) + " bytes)"
	}
	return s
}

func (p *printer) figures() {
	r := p.r
	examined := plural(r.Examined, "row") + " examined, " + strconv.Itoa(r.Returned) + " returned"
	if n := r.Examined - r.Returned; n > 0 {
		examined += ", " + p.paint(bad, strconv.Itoa(n)+" wasted")
	}
	p.line("rows", "%s, in %s", examined, plural(r.Pages, "page"))
	size := plural(r.Bytes, "byte")
	if r.Fetched > 0 {
		size += " of the index and " + plural(r.Fetched, "byte") + " fetched from the table"
	}
	if r.Wasted > 0 {
		size += ", " + p.paint(bad, fmt.Sprintf("%d wasted (%.0f%%)", r.Wasted, 100*float64(r.Wasted)/float64(max(r.Bytes+r.Fetched, 1))))
	}
	p.line("size", "%s", size)
	units := fmt.Sprintf("%v eventually consistent", r.Eventual)
	switch {
	case r.Strong == 0 && r.Index != "":
		units += "; a global index cannot be read strongly"
	default:
		units += fmt.Sprintf(", %v strongly", r.Strong)
	}
	p.line("read units", "%s", units)
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
	switch r.Stop {
	case string(table.StopEnd):
		p.line("ends", "at the end of %s", p.whole())
	case string(table.StopLimit):
		p.line("ends", "at Limit %d, counted before the filter%s", r.Limit, p.more())
	default:
		p.line("ends", "at %s%s", r.Stop, p.more())
	}
	if r.Last != nil {
		p.line("last key", "%s", r.Last.AppendJSON(nil))
	}
}

// whole names what is read to its end.
func (p *printer) whole() string {
	if p.r.Operation == opScan {
		return "the table"
	}
	return "the range"
}

func (p *printer) more() string {
	if p.r.Next == nil {
		return ", where " + p.whole() + " ends too: the next page is empty"
	}
	return ", before " + p.keyText(p.r.Next)
}

func (p *printer) entities() {
	r := p.r
	if len(r.Entities) == 0 || len(r.Entities) == 1 && r.Entities[0].Entity == "" {
		return
	}
	width := 0
	for _, s := range r.Entities {
		width = max(width, text.StringWidthWithoutEscSequences(entityName(s.Entity)))
	}
	label := "by entity"
	for _, s := range r.Entities {
		waste := ""
		if s.Wasted > 0 {
			waste = ", " + p.paint(bad, fmt.Sprintf("%d wasted", s.Wasted))
		}
		p.line(label, "%s  %d examined, %d returned, %s%s", text.Pad(entityName(s.Entity), width, ' '), s.Examined, s.Returned, plural(s.Bytes, "byte"), waste)
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
		fmt.Fprintln(&p.out, p.paint(strong, p.title())+" "+p.paint(bad, "is not one range"))
		p.wrapped("because", f.Message)
	} else {
		fmt.Fprintln(&p.out, p.paint(strong, p.title())+" "+p.paint(bad, "is refused"))
		p.wrapped("error", strings.TrimSuffix(f.Code+": "+f.Message, ": "))
	}
	if f.Rule != "" {
		p.wrapped("rule", f.Rule)
		p.long("", p.paint(faint, f.Source))
	}
	if p.r.Schema != nil {
		p.line("key", "%s", p.key())
	}
	p.advice("instead", f.Advice)
}

// advice writes a list of advice, each with its request.
func (p *printer) advice(label string, list []Advice) {
	for i, a := range list {
		n := ""
		if len(list) > 1 {
			n = strconv.Itoa(i+1) + ". "
		}
		p.wrapped(label, p.paint(good, n)+a.Text)
		label = ""
		if a.Request == nil {
			continue
		}
		command := a.Operation + " " + string(a.Request)
		if p.o.Command != nil {
			command = p.o.Command(a.Operation, a.Request)
		}
		p.long("", p.paint(faint, "  "+command))
	}
}
