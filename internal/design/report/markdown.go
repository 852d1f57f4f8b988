package report

import (
	"bytes"
	"fmt"
	"io"

	"github.com/sortkey/sortkey/internal/design/bill"
	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

// Markdown writes a result for a pull request: the patterns that fail, the cost of each pattern, and the findings. If
// the model declares rates, it adds the bill. cost can be nil.
func Markdown(w io.Writer, r *check.Result, cost *bill.Bill) error {
	var b bytes.Buffer
	o, mark := r.Outcome(), ""
	switch {
	case r.Failed(model.Error):
		mark = "❌ "
	case o.Met > 0:
		mark = "✅ "
	}
	fmt.Fprintf(&b, "## %sDesign: %s\n\n%s.\n", mark, text.Markdown(r.Model.Name), o)
	if len(r.Looked) > 0 {
		fmt.Fprintf(&b, "\n%s\n", text.Markdown(looked(r)))
	}
	if len(r.Patterns) > 0 {
		fmt.Fprint(&b, "\n| | pattern | rows | units | worst partition |\n|---|---|---:|---:|---:|\n")
	}

	for i := range r.Patterns {
		writeRow(&b, &r.Patterns[i])
	}
	for i := range r.Patterns {
		for _, f := range r.Patterns[i].Failures {
			fmt.Fprintf(&b, "\n❌ **%s**: %s\n", text.Markdown(r.Patterns[i].Pattern.Name), text.Markdown(f.Message))
			if f.Advice != "" {
				fmt.Fprintf(&b, "\n> %s\n", text.Markdown(f.Advice))
			}
		}
	}

	first := true
	for _, f := range r.Findings {
		if f.Rule == check.Rule || f.Accepted != "" {
			continue
		}
		if first {
			fmt.Fprint(&b, "\n### Findings\n\n")
			first = false
		}
		fmt.Fprintf(
			&b, "- **%s** `%s` at %s: %s",
			f.Severity, f.Rule, text.MarkdownCode(f.Pos.String()), text.Markdown(f.Message),
		)
		if f.Advice != "" {
			fmt.Fprintf(&b, " — %s", text.Markdown(f.Advice))
		}
		fmt.Fprintln(&b)
	}

	p := printer{}
	p.bill(cost)
	b.Write(p.out.Bytes())
	_, err := w.Write(b.Bytes())
	return err
}

// writeRow writes a row of the table of patterns.
func writeRow(b *bytes.Buffer, pr *check.PatternResult) {
	mark, rows, units, worst := pr.Mark(), "", text.Figure(pr.Units()), ""
	switch mark {
	case "–":
		units = ""
	case "✓":
		mark = "✅"
	case "✗":
		mark = "❌"
	}
	if pr.Total != nil && pr.Total.Refused == nil {
		rows = text.Thousands(pr.Total.Returned)
	}
	switch {
	case pr.Writes != nil:
		units, worst = text.Figure(pr.Writes.Mean())+" write", text.Figure(pr.Writes.Worst)
	case pr.Spread != nil:
		worst = text.Figure(pr.Spread.Worst.DeclaredUnits())
	}
	fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", mark, text.Markdown(pr.Pattern.Name), rows, units, worst)
}
