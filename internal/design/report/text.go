package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/sortkey/sortkey/internal/design/bill"
	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/terminal"
	"github.com/sortkey/sortkey/internal/text"
)

// TextOptions configure [Text]. The zero value is ready to use.
type TextOptions struct {
	// Width is the column at which lines wrap. They wrap between words and never inside a key. Default: 100.
	Width int
	// Color highlights parts of the text with ANSI colours.
	Color bool
	// Quiet omits tables, the bill, and patterns that meet their expectations.
	Quiet bool
}

// Text writes a result for people: each access pattern with its request and cost, then tables, findings by severity
// and a summary line. If the model declares rates, it also writes the bill. b can be nil.
func Text(w io.Writer, r *check.Result, b *bill.Bill, o TextOptions) error {
	if o.Width <= 0 {
		o.Width = 100
	}
	paint := terminal.Paint(o.Color)
	p := &printer{r: r, o: o, paint: map[string]func(string) string{
		"good": paint.Good, "bad": paint.Bad, "warn": paint.Warn, "faint": paint.Faint, "strong": paint.Strong,
		"": func(s string) string { return s },
	}}
	p.write()
	if !o.Quiet {
		p.bill(b)
	}
	_, err := w.Write(p.out.Bytes())
	return err
}

type printer struct {
	r     *check.Result
	o     TextOptions
	paint map[string]func(string) string
	out   bytes.Buffer
}

const (
	indent     = 4
	labelWidth = 9
)

// print writes lines with their labels. It replaces invisible characters by visible ones.
func (p *printer) print(all lines) {
	for _, l := range all {
		parts := []string{text.Visible(l.Text)}
		if !l.Whole {
			parts = terminal.Wrap(parts[0], max(p.o.Width-indent-labelWidth, 30))
		}
		label := l.Label
		for _, s := range parts {
			head := strings.Repeat(" ", labelWidth)
			if label != "" {
				head = p.paint["faint"](fmt.Sprintf("%-*s", labelWidth, label))
			}
			fmt.Fprintf(&p.out, "%*s%s%s\n", indent, "", head, p.paint[l.Class](s))
			label = ""
		}
	}
}

// paragraph writes text that begins in the first column, and wraps it.
func (p *printer) paragraph(class, s string) {
	fmt.Fprintln(&p.out, p.paint[class](strings.Join(terminal.Wrap(text.VisibleLines(s), p.o.Width), "\n")))
}

func (p *printer) write() {
	fmt.Fprintln(&p.out, p.paint["strong"](text.Visible(p.r.Model.Name)))
	if p.r.Model.About != "" && !p.o.Quiet {
		p.paragraph("", p.r.Model.About)
	}
	if p.r.Scale < 1 {
		p.paragraph("warn", sample(p.r))
	}
	if len(p.r.Looked) > 0 && !p.o.Quiet {
		p.paragraph("", looked(p.r))
	}

	for i := range p.r.Patterns {
		pr := &p.r.Patterns[i]
		if p.o.Quiet && pr.OK() {
			continue
		}
		mark := pr.Mark()
		fmt.Fprintf(&p.out, "\n%s %s\n",
			p.paint[markClass[mark]](mark), p.paint["strong"](text.Visible(pr.Pattern.Name)))
		p.print(linesOf(pr))
		p.print(failures(pr))
	}
	if len(p.r.Tables) > 0 && !p.o.Quiet {
		fmt.Fprintf(&p.out, "\n%s\n", p.paint["strong"]("tables"))
		for i := range p.r.Tables {
			s := &p.r.Tables[i]
			fmt.Fprintf(&p.out, "  %s\n", s.Name())
			p.print(tableLines(s, p.r.Scale >= 1 || p.r.Scale <= 0))
		}
	}
	for _, s := range []model.Severity{model.Error, model.Warning, model.Note} {
		p.findings(s)
	}
	p.summary()
}

// markClass maps the marks of patterns to the classes of their colours.
var markClass = map[string]string{"✓": "good", "✗": "bad", "·": "faint", "–": "faint"}

func (p *printer) findings(s model.Severity) {
	first := true
	for _, f := range p.r.Findings {
		if f.Severity != s || f.Rule == check.Rule {
			continue // printed with the pattern
		}
		if first {
			class := map[model.Severity]string{model.Error: "bad", model.Warning: "warn", model.Note: "faint"}[s]
			fmt.Fprintf(&p.out, "\n%s\n", p.paint[class](s.String()+"s"))
			first = false
		}

		fmt.Fprintf(&p.out, "  %s %s\n", p.paint["strong"](text.Visible(f.Pos.String())), p.paint["faint"](f.Rule))
		var l lines
		l.add("", "%s", f.Message)
		for i, k := range f.Keys {
			l.whole([]string{"keys", ""}[min(i, 1)], k)
		}
		switch {
		case f.Accepted != "":
			l.add("accepted", "%s", f.Accepted)
		case f.Advice != "":
			l.add("do", "%s", f.Advice)
		}
		p.print(l)
	}
}

func (p *printer) summary() {
	o, class := p.r.Outcome(), "good"
	switch {
	case p.r.Failed(model.Error):
		class = "bad"
	case o.Met == 0:
		class = "strong"
	}
	s := fmt.Sprintf(
		"%s; %s, %s, %s", o, text.Count(p.r.Count(model.Error), "error"),
		text.Count(p.r.Count(model.Warning), "warning"), text.Count(p.r.Count(model.Note), "note"),
	)
	fmt.Fprintf(&p.out, "\n%s\n", p.paint[class](s))
}

// bill writes the bill if the model declares rates.
func (p *printer) bill(b *bill.Bill) {
	if b == nil || !b.Declared() {
		return
	}
	fmt.Fprintf(&p.out, "\n%s\n", b)
	if caveat := b.Caveat(); caveat != "" {
		fmt.Fprintln(&p.out, caveat)
	}
}

// sample returns a sentence that says which fraction of the declared items was generated.
func sample(r *check.Result) string {
	if r.Scale <= 0 {
		return "no declared items were generated (--max-items generates more): patterns read only the samples."
	}
	more := "--max-items generates more"
	if r.Bytes {
		more = "their size is the limit, " + text.Size(dataset.DefaultMaxBytes)
	}
	return fmt.Sprintf(
		"a sample: %s of the declared items were generated (%s). Patterns read the sample; "+
			"budgets, sizes, rates and findings are for the declared scale.",
		text.Percent(r.Scale), more,
	)
}

// looked returns a sentence that says how many items of each running table the check read.
func looked(r *check.Result) string {
	var parts []string
	for _, l := range r.Looked {
		part := fmt.Sprintf("%s of table %s", text.Count(l.Items, "item"), l.Table.Name)
		switch {
		case l.Empty():
			part = "table " + l.Table.Name + ", which is empty"
		case l.All:
			part += ", which are all"
		default:
			part += ", which has more"
		}
		parts = append(parts, part)
	}
	return "running tables: looked at " + strings.Join(parts, "; at ") + "."
}
