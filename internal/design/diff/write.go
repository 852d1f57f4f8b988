package diff

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/sortkey/sortkey/internal/design/terminal"
	"github.com/sortkey/sortkey/internal/text"
)

// WriteText writes the difference for people. Lines wrap at width columns.
func (d *Diff) WriteText(w io.Writer, width int) error {
	var b bytes.Buffer
	if d.Empty() && len(d.Plan) == 0 && len(d.Questions) == 0 {
		fmt.Fprintln(&b, "nothing changed but perhaps words")
	}
	compared := func(name, was, is string) []string {
		switch {
		case was == "":
			return []string{"+ " + name, is}
		case is == "":
			return []string{"- " + name, was}
		}
		return []string{"~ " + name, "was " + was, "is " + is}
	}
	section(&b, width, "changes", d.Changes, func(_ int, c Change) []string { return compared(c.Subject, c.Was, c.Is) })
	section(&b, width, "patterns", d.Patterns, func(_ int, p Pattern) []string {
		return compared(p.Name, p.Was.Text(), p.Is.Text())
	})
	if d.Was != nil && !d.Empty() {
		bills := []string{"was " + d.Was.String(), "is " + d.Is.String()}
		section(&b, width, "money", bills, func(_ int, s string) []string { return []string{s} })
	}
	finding := func(_ int, f Finding) []string { return []string{f.Severity + " " + f.Rule + ": " + f.Message} }
	section(&b, width, "findings gained", d.Gained, finding)
	section(&b, width, "findings lost", d.Lost, finding)
	section(&b, width, "questions to answer before there is a plan", d.Questions, func(_ int, q Question) []string {
		return []string{q.Ask, q.Answer}
	})
	section(&b, width, "names to change in the new version for this plan", d.Names, func(_ int, n Name) []string {
		return []string{n.Subject() + " → " + n.Now, n.Why}
	})
	section(&b, width, "plan", d.Plan, func(i int, s Step) []string {
		return []string{fmt.Sprintf("%d. %s", i+1, s.Do), s.Figures()}
	})
	_, err := w.Write(b.Bytes())
	return err
}

// section writes a title and, for each element of list, the lines that row returns. It indents all but the first of
// them and omits empty ones. It writes nothing if list is empty.
func section[T any](b *bytes.Buffer, width int, title string, list []T, row func(i int, v T) []string) {
	if len(list) == 0 {
		return
	}
	if b.Len() > 0 {
		fmt.Fprintln(b)
	}
	fmt.Fprintln(b, title)
	for i, v := range list {
		for k, line := range row(i, v) {
			if line == "" {
				continue
			}
			indent := "  "
			if k > 0 {
				indent = "      "
			}
			for j, l := range terminal.Wrap(text.Visible(line), max(width-len(indent), 40)) {
				if j == 1 {
					indent += "  "
				}
				fmt.Fprintln(b, indent+l)
			}
		}
	}
}

// WriteMarkdown writes the difference for a pull request: the given heading, and the text in a code block.
func (d *Diff) WriteMarkdown(w io.Writer, title string) error {
	var b strings.Builder
	if err := d.WriteText(&b, 100); err != nil {
		return err
	}
	fence := "```"
	for strings.Contains(b.String(), fence) {
		fence += "`"
	}
	_, err := fmt.Fprintf(w, "## %s\n\n%stext\n%s%s\n", text.Markdown(title), fence, b.String(), fence)
	return err
}
