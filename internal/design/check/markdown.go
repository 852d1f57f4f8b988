package check

import (
	"bytes"
	"fmt"
	"io"

	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

// WriteMarkdown writes the result as Markdown for a pull request: the patterns that fail, what each
// pattern costs, and the findings.
func (r *Result) WriteMarkdown(w io.Writer) error {
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
		fmt.Fprintf(&b, "\n%s\n", text.Markdown(r.look()))
	}
	if len(r.Patterns) > 0 {
		fmt.Fprint(&b, "\n| | pattern | rows | units | worst partition |\n|---|---|---:|---:|---:|\n")
	}

	for i := range r.Patterns {
		r.Patterns[i].writeRow(&b)
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
		if f.Rule == Rule || f.Accepted != "" {
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

	_, err := w.Write(b.Bytes())
	return err
}

// writeRow writes a row of the table of patterns.
func (pr *PatternResult) writeRow(b *bytes.Buffer) {
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
		if m := pr.Writes.Move; m != nil {
			worst += " of " + text.Count(int(m.Worst.Items+0.5), "item")
		}
	case pr.Spread != nil:
		worst = text.Figure(pr.Spread.Worst.DeclaredUnits())
	}
	fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", mark, text.Markdown(pr.Pattern.Name), rows, units, worst)
}
