package diff

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/sortkey/sortkey/internal/design/terminal"
	"github.com/sortkey/sortkey/internal/text"
)

// A section is a part of the text of a difference. A row is a line and the lines that are indented below it.
type section struct {
	title string
	rows  [][]string
}

// sections returns the sections of a difference that are not empty.
func (d *Diff) sections() (all []section) {
	add := func(title string, rows [][]string) {
		if len(rows) > 0 {
			all = append(all, section{title, rows})
		}
	}
	compared := func(name, was, is string) []string {
		switch {
		case was == "":
			return []string{"+ " + name, is}
		case is == "":
			return []string{"- " + name, was}
		}
		return []string{"~ " + name, "was " + was, "is  " + is}
	}
	add("changes", rows(d.Changes, func(c Change) []string { return compared(c.Subject, c.Was, c.Is) }))
	add("patterns", rows(d.Patterns, func(p Pattern) []string { return compared(p.Name, p.Was.Text(), p.Is.Text()) }))
	if d.Was != nil && !d.Empty() {
		add("money", [][]string{{"was " + d.Was.String()}, {"is  " + d.Is.String()}})
	}
	finding := func(f Finding) []string { return []string{f.Severity + " " + f.Rule + ": " + f.Message} }
	add("findings gained", rows(d.Gained, finding))
	add("findings lost", rows(d.Lost, finding))
	add("questions to answer before there is a plan", rows(d.Questions, func(q Question) []string {
		return []string{q.Ask, q.Answer}
	}))
	add("names to change in the new version for this plan", rows(d.Names, func(n Name) []string {
		return []string{n.Subject() + " → " + n.Now, n.Why}
	}))
	add("plan", rows(d.Plan, func(s Step) []string {
		if figures := s.Figures(); figures != "" {
			return []string{s.Do, figures}
		}
		return []string{s.Do}
	}))
	for _, s := range all {
		for i := range s.rows {
			if s.title == "plan" {
				s.rows[i][0] = fmt.Sprintf("%d. %s", i+1, s.rows[i][0])
			}
		}
	}
	return all
}

func rows[T any](list []T, row func(T) []string) (all [][]string) {
	for _, v := range list {
		all = append(all, row(v))
	}
	return all
}

// WriteText writes the difference for people. Lines wrap at width columns.
func (d *Diff) WriteText(w io.Writer, width int) error {
	var b bytes.Buffer
	if d.Empty() && len(d.Plan) == 0 && len(d.Questions) == 0 {
		fmt.Fprintln(&b, "nothing changed but perhaps words")
	}
	for i, s := range d.sections() {
		if i > 0 {
			fmt.Fprintln(&b)
		}
		fmt.Fprintln(&b, s.title)
		for _, row := range s.rows {
			for k, line := range row {
				indent := "  "
				if k > 0 {
					indent = "      "
				}
				for j, l := range terminal.Wrap(text.Visible(line), max(width-len(indent), 40)) {
					if j == 1 {
						indent += "  "
					}
					fmt.Fprintln(&b, indent+l)
				}
			}
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// WriteMarkdown writes the difference as Markdown for a pull request, with the given heading.
func (d *Diff) WriteMarkdown(w io.Writer, title string) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "## %s\n", text.Markdown(title))
	if d.Empty() {
		fmt.Fprintln(&b, "\nNothing changed.")
	}
	for _, s := range d.sections() {
		fmt.Fprintf(&b, "\n### %s%s\n\n", strings.ToUpper(s.title[:1]), s.title[1:])
		for _, row := range s.rows {
			mark, line, _ := strings.Cut(row[0], " ")
			switch {
			case strings.Contains("+-~", mark):
				mark = "- `" + mark + "`"
			case s.title != "plan":
				mark, line = "-", row[0]
			}
			fmt.Fprintf(&b, "%s %s\n", mark, text.Markdown(line))
			for _, more := range row[1:] {
				fmt.Fprintf(&b, "   - %s\n", text.Markdown(more))
			}
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}
