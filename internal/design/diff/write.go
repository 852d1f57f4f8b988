package diff

import (
	"bytes"
	"fmt"
	"io"

	"github.com/sortkey/sortkey/internal/design/terminal"
	"github.com/sortkey/sortkey/internal/text"
)

// WriteText writes the difference for people. Lines wrap at a width.
func (d *Diff) WriteText(w io.Writer, width int) error {
	var b bytes.Buffer
	if d.Empty() && len(d.Plan) == 0 && len(d.Questions) == 0 {
		fmt.Fprintln(&b, "nothing changed but perhaps words")
	}

	section := func(title string, n int, line func(i int) []string) {
		if n == 0 {
			return
		}
		if b.Len() > 0 {
			fmt.Fprintln(&b)
		}
		fmt.Fprintln(&b, title)
		for i := range n {
			for k, s := range line(i) {
				indent := "  "
				if k > 0 {
					indent = "      "
				}
				for j, l := range terminal.Wrap(text.Visible(s), max(width-len(indent), 40)) {
					if j == 1 {
						indent += "  "
					}
					fmt.Fprintln(&b, indent+l)
				}
			}
		}
	}
	section("changes", len(d.Changes), func(i int) []string {
		c := d.Changes[i]
		switch {
		case c.Was == "":
			return []string{"+ " + c.Subject, c.Is}
		case c.Is == "":
			return []string{"- " + c.Subject, c.Was}
		}
		return []string{"~ " + c.Subject, "was " + c.Was, "is  " + c.Is}
	})

	section("patterns", len(d.Patterns), func(i int) []string {
		p := d.Patterns[i]
		switch {
		case p.Was == nil:
			return []string{"+ " + p.Name, p.Is.Text()}
		case p.Is == nil:
			return []string{"- " + p.Name, p.Was.Text()}
		}
		return []string{"~ " + p.Name, "was " + p.Was.Text(), "is  " + p.Is.Text()}
	})
	if d.Was != nil && !d.Empty() {
		bills := []string{"was " + d.Was.String(), "is  " + d.Is.String()}
		section("money", len(bills), func(i int) []string { return bills[i : i+1] })
	}

	section("findings gained", len(d.Gained), func(i int) []string { return d.Gained[i].lines() })
	section("findings lost", len(d.Lost), func(i int) []string { return d.Lost[i].lines() })
	section("questions to answer before there is a plan", len(d.Questions), func(i int) []string {
		return []string{d.Questions[i].Ask, d.Questions[i].Answer}
	})
	section("names to change in the new version for this plan", len(d.Names), func(i int) []string {
		return []string{d.Names[i].Subject() + " → " + d.Names[i].Now, d.Names[i].Why}
	})
	section("plan", len(d.Plan), func(i int) []string {
		lines := []string{fmt.Sprintf("%d. %s", i+1, d.Plan[i].Do)}
		if s := d.Plan[i].Figures(); s != "" {
			lines = append(lines, s)
		}
		return lines
	})

	_, err := w.Write(b.Bytes())
	return err
}

func (f Finding) lines() []string { return []string{f.Severity + " " + f.Rule + ": " + f.Message} }

// WriteMarkdown writes the difference as Markdown for a pull request. Title is its heading.
func (d *Diff) WriteMarkdown(w io.Writer, title string) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "## %s\n", text.Markdown(title))
	if d.Empty() {
		fmt.Fprintln(&b, "\nNothing changed.")
	}
	if len(d.Changes) > 0 {
		fmt.Fprint(&b, "\n### Changes\n\n| | was | is |\n|---|---|---|\n")
		for _, c := range d.Changes {
			fmt.Fprintf(
				&b, "| %s | %s | %s |\n", text.Markdown(c.Subject), text.MarkdownCode(c.Was), text.MarkdownCode(c.Is),
			)
		}
	}

	if len(d.Patterns) > 0 {
		fmt.Fprint(&b, "\n### Access patterns\n\n| pattern | before | after |\n|---|---|---|\n")
		for _, p := range d.Patterns {
			mark := ""
			if p.Is != nil && !p.Is.OK {
				mark = "❌ "
			}
			fmt.Fprintf(&b, "| %s%s | %s | %s |\n", mark, text.Markdown(p.Name), p.Was.Text(), p.Is.Text())
		}
	}

	if d.Was != nil && !d.Empty() {
		fmt.Fprintf(
			&b, "\n### Money\n\n- before: %s\n- after: %s\n",
			text.Markdown(d.Was.String()), text.Markdown(d.Is.String()),
		)
	}

	for _, part := range []struct {
		title string
		list  []Finding
	}{{"Findings gained", d.Gained}, {"Findings lost", d.Lost}} {
		if len(part.list) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n### %s\n\n", part.title)
		for _, f := range part.list {
			fmt.Fprintf(&b, "- **%s** `%s`: %s\n", f.Severity, f.Rule, text.Markdown(f.Message))
		}
	}

	if len(d.Questions) > 0 {
		fmt.Fprint(&b, "\n### Questions to answer before there is a plan\n\n")
		for _, q := range d.Questions {
			fmt.Fprintf(&b, "- %s (%s)\n", text.Markdown(q.Ask), text.Markdown(q.Answer))
		}
	}

	if len(d.Names) > 0 {
		fmt.Fprint(&b, "\n### Names to change in the new version for this plan\n\n")
		for _, n := range d.Names {
			fmt.Fprintf(&b, "- %s → %s: %s\n", text.Markdown(n.Subject()), text.Markdown(n.Now), text.Markdown(n.Why))
		}
	}

	if len(d.Plan) > 0 {
		fmt.Fprint(&b, "\n### Plan\n\n")
		for i, s := range d.Plan {
			line := text.Markdown(s.Do)
			if f := s.Figures(); f != "" {
				line += " (" + text.Markdown(f) + ")"
			}
			fmt.Fprintf(&b, "%d. %s\n", i+1, line)
		}
	}

	_, err := w.Write(b.Bytes())
	return err
}
