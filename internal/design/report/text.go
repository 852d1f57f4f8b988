package report

import (
	_ "embed"
	"fmt"
	"io"
	"strings"
	"text/template"

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

//go:embed text.tmpl
var textTemplate string

// Text writes a result for people: each access pattern with its request and cost, then tables, findings by severity
// and a summary line. If the model declares rates, it also writes the bill. b can be nil.
func Text(w io.Writer, r *check.Result, b *bill.Bill, o TextOptions) error {
	if o.Width <= 0 {
		o.Width = 100
	}
	if o.Quiet {
		b = nil
	}
	p := printer{o.Width, stylesOf(terminal.Paint(o.Color))}
	t := template.Must(template.New("").Funcs(template.FuncMap{
		"error": severe, "failures": failures, "findingLines": findingLines, "lines": p.lines, "linesOf": linesOf,
		"looked": looked, "paint": p.paint, "sample": sample, "summary": summary,
		"tableLines": tableLines, "wrap": p.wrap,
	}).Parse(textTemplate))
	return t.Execute(w, struct {
		*check.Result
		Bill  *bill.Bill
		Quiet bool
	}{r, b, o.Quiet})
}

// A printer lays out lines. styles maps the classes of lines, the marks of patterns and the severities to functions
// that colour text.
type printer struct {
	width  int
	styles map[string]func(string) string
}

func stylesOf(p terminal.Paint) map[string]func(string) string {
	return map[string]func(string) string{
		"good": p.Good, "✓": p.Good,
		"bad": p.Bad, "✗": p.Bad, "error": p.Bad,
		"warn": p.Warn, "warning": p.Warn,
		"faint": p.Faint, "·": p.Faint, "–": p.Faint, "note": p.Faint,
		"strong": p.Strong,
		"":       func(s string) string { return s },
	}
}

// paint colours text, and replaces its invisible characters by visible ones.
func (p printer) paint(style, s string) string { return p.styles[style](text.Visible(s)) }

// wrap wraps text that begins in the first column.
func (p printer) wrap(style, s string) string {
	return p.styles[style](strings.Join(terminal.Wrap(text.VisibleLines(s), p.width), "\n"))
}

const (
	indent     = 4
	labelWidth = 9
)

// lines returns lines with their labels.
func (p printer) lines(all lines) string {
	var b strings.Builder
	for _, l := range all {
		parts := []string{text.Visible(l.Text)}
		if !l.Whole {
			parts = terminal.Wrap(parts[0], max(p.width-indent-labelWidth, 30))
		}
		label := l.Label
		for _, s := range parts {
			head := strings.Repeat(" ", labelWidth)
			if label != "" {
				head = p.styles["faint"](fmt.Sprintf("%-*s", labelWidth, label))
			}
			fmt.Fprintf(&b, "%*s%s%s\n", indent, "", head, p.styles[l.Class](s))
			label = ""
		}
	}
	return b.String()
}

// findingLines returns the lines that describe a finding, without its place and rule.
func findingLines(f model.Finding) (l lines) {
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
	return l
}

func summary(r *check.Result) string {
	return fmt.Sprintf(
		"%s; %s, %s, %s", r.Outcome(), text.Count(r.Count(model.Error), "error"),
		text.Count(r.Count(model.Warning), "warning"), text.Count(r.Count(model.Note), "note"),
	)
}

// severe returns the severity that fails a check.
func severe() model.Severity { return model.Error }

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
