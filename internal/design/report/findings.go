package report

import (
	"strings"

	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/markup"
)

// severities are the groups of findings, most severe first.
var severities = []struct {
	severity model.Severity
	kind     string
	title    string
}{
	{model.Error, "bad", "Errors"},
	{model.Warning, "warn", "Warnings"},
	{model.Note, "note", "Notes"},
}

// findings lists all findings by severity.
func (p *page) findings() {
	p.Open("section", markup.ID("findings"))
	p.Leaf("h2", "Findings")
	if len(p.r.Findings) == 0 {
		p.Leaf("p", "No findings.", markup.Class("muted"))
	}
	for _, s := range severities {
		if p.r.Count(s.severity) == 0 {
			continue
		}
		p.Open("section", markup.ID("findings-%s", s.severity))
		p.Leaf("h3", s.title)
		for _, f := range p.r.Findings {
			if f.Severity == s.severity {
				p.finding(f, s.kind)
			}
		}
		p.Close()
	}
	p.Close()
}

func (p *page) finding(f model.Finding, kind string) {
	p.Open("article", markup.Class("finding "+kind))
	p.Open("p", markup.Class("finding-head"))
	if title := ruleOf(f.Rule).title; title != "" {
		p.Leaf("strong", title)
	} else {
		p.Leaf("strong", f.Rule)
	}
	p.Text(" ")
	p.Leaf("code", f.Pos.String(), markup.Class("muted"))
	p.Text(" ")
	p.Leaf("span", about(f), markup.Class("muted"))
	p.Close()
	p.Leaf("p", f.Message)
	p.keys(f.Keys)
	if f.Advice != "" {
		p.Open("p", markup.Class("todo"))
		p.Leaf("strong", "To do: ")
		p.Text(f.Advice)
		p.Close()
	}
	if f.Accepted != "" {
		p.Leaf("p", "Accepted: "+f.Accepted, markup.Class("muted"))
	}
	if n := p.pattern(f.Pattern); n > 0 && f.Rule == check.Rule {
		p.Leaf("a", "See the pattern", markup.To("pattern-%d", n))
	}
	p.Close()
}

// pattern returns the number of the named pattern, or 0.
func (p *page) pattern(name string) int {
	for i := range p.r.Patterns {
		if name != "" && p.r.Patterns[i].Pattern.Name == name {
			return i + 1
		}
	}
	return 0
}

// about names the subjects of a finding.
func about(f model.Finding) string {
	var words []string
	for _, w := range []struct{ what, name string }{{"table", f.Table}, {"index", f.Index}, {"entity", f.Entity}, {"pattern", f.Pattern}} {
		if w.name != "" {
			words = append(words, w.what+" "+w.name)
		}
	}
	return strings.Join(words, ", ")
}

// keys lists keys one below the other, so that their bytes can be compared.
func (p *page) keys(keys []string) {
	if len(keys) == 0 {
		return
	}
	p.Open("ul", markup.Class("keys"))
	for _, k := range keys {
		p.Open("li")
		p.Leaf("code", short(k, 120), markup.Class("key"), markup.A("title", k))
		p.Close()
	}
	p.Close()
}
