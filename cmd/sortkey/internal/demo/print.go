package demo

import (
	"fmt"
	"io"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/show"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/terminal"
	"github.com/sortkey/sortkey/internal/text"
)

const indent = "    "

// Print writes a report for people.
func Print(w io.Writer, r *Report, style show.Style) {
	p := style.Paint
	fmt.Fprintf(w, "%s\n", p.Strong(r.Model.Name))
	fmt.Fprint(w, wrap(r.Model.About, "  "))
	for i := range r.Results {
		fmt.Fprintln(w)
		printResult(w, &r.Results[i], style)
	}
}

// maxRows is the number of items shown for each pattern.
const maxRows = 25

func printResult(w io.Writer, res *Result, style show.Style) {
	p := style.Paint
	mark := p.Good("✓")
	if !res.OK() {
		mark = p.Bad("✗")
	}

	fmt.Fprintf(w, "  %s %s\n", mark, p.Strong(res.Pattern.Name))
	if res.Compile != nil {
		line(w, p, "error", "not one request: "+res.Compile.Msg)
	} else {
		line(w, p, "asked", res.Question)
	}

	var items []attr.Item
	var first []string
	if r := res.Report; r != nil {
		items = r.Items
		printReport(w, r, p)
		if r.Schema != nil {
			for _, a := range r.Schema.Attributes() {
				first = append(first, a.Name)
			}
		}
	}

	if res.Pattern.About != "" {
		note := wrap(res.Pattern.About, indent+"      ")
		line(w, p, "note", strings.TrimSpace(note))
	}
	shown := items[:min(len(items), maxRows)]
	fmt.Fprint(w, show.Rows(shown, first, style.Width, indent, p))
	if n := len(items) - len(shown); n > 0 {
		fmt.Fprintln(w, indent+p.Faint("and "+text.Count(n, "item")+" more"))
	}
	if res.Report != nil && res.Report.Refused == nil && len(items) == 0 {
		fmt.Fprintln(w, indent+p.Faint("no items"))
	}

	for _, f := range res.Failures {
		fmt.Fprintln(w, indent+p.Bad("wrong: "+f.Message))
		for _, k := range f.Keys {
			fmt.Fprintln(w, indent+"       "+k)
		}
	}
}

func line(w io.Writer, p terminal.Paint, label, s string) {
	fmt.Fprintf(w, "%s%s %s\n", indent, p.Faint(fmt.Sprintf("%-5s", label)), s)
}

// printReport writes what a request read, or why it was refused.
func printReport(w io.Writer, r *explain.Report, p terminal.Paint) {
	for _, tr := range r.Traces {
		line(w, p, "slice", tr.Slice())
		line(w, p, "read", tr.Cost())
	}
	switch {
	case r.Refused != nil:
		line(w, p, "error", r.Refused.Code+": "+r.Refused.Message)
	case len(r.Traces) == 0:
		line(w, p, "read", "one item by its key, "+text.Amount(fmt.Sprint(r.Consumed), "read unit"))
	}
}

// wrap breaks prose into lines of 78 columns that start with prefix.
func wrap(prose, prefix string) string {
	var b strings.Builder
	for _, line := range terminal.Wrap(strings.Join(strings.Fields(prose), " "), 78-len(prefix)) {
		if line != "" {
			b.WriteString(prefix + line + "\n")
		}
	}
	return b.String()
}
