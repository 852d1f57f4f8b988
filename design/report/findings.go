package report

import (
	"strings"

	"github.com/sortkey/sortkey/design"
	"github.com/sortkey/sortkey/design/check"
)

// severities are the groups of findings, the worst first.
var severities = []struct {
	severity design.Severity
	kind     string
	title    string
}{
	{design.Error, "bad", "Errors"},
	{design.Warning, "warn", "Warnings"},
	{design.Note, "note", "Notes"},
}

// findings lists all findings by severity.
func (p *page) findings() {
	p.open("section", id("findings"))
	p.leaf("h2", "Findings")
	if len(p.r.Findings) == 0 {
		p.leaf("p", "There are no findings.", class("muted"))
	}
	for _, s := range severities {
		if p.r.Count(s.severity) == 0 {
			continue
		}
		p.open("section", id("findings-%s", s.severity))
		p.leaf("h3", s.title)
		for _, f := range p.r.Findings {
			if f.Severity == s.severity {
				p.finding(f, s.kind)
			}
		}
		p.close()
	}
	p.close()
}

func (p *page) finding(f design.Finding, kind string) {
	p.open("article", class("finding "+kind))
	p.open("p", class("finding-head"))
	if title := ruleOf(f.Rule).title; title != "" {
		p.leaf("strong", title)
	} else {
		p.leaf("strong", f.Rule)
	}
	p.text(" ")
	p.leaf("code", f.Pos.String(), class("muted"))
	p.text(" ")
	p.leaf("span", about(f), class("muted"))
	p.close()
	p.leaf("p", f.Message)
	p.keys(f.Keys)
	if f.Advice != "" {
		p.open("p", class("todo"))
		p.leaf("strong", "To do: ")
		p.text(f.Advice)
		p.close()
	}
	if f.Accepted != "" {
		p.leaf("p", "Accepted: "+f.Accepted, class("muted"))
	}
	if n := p.pattern(f.Pattern); n > 0 && f.Rule == check.Rule {
		p.leaf("a", "See the pattern", to("pattern-%d", n))
	}
	p.close()
}

// pattern is the number of the pattern called name, 0 if there is none.
func (p *page) pattern(name string) int {
	for i := range p.r.Patterns {
		if name != "" && p.r.Patterns[i].Pattern.Name == name {
			return i + 1
		}
	}
	return 0
}

// about says what a finding is about.
func about(f design.Finding) string {
	var words []string
	for _, w := range []struct{ what, name string }{{"table", f.Table}, {"index", f.Index}, {"entity", f.Entity}, {"pattern", f.Pattern}} {
		if w.name != "" {
			words = append(words, w.what+" "+w.name)
		}
	}
	return strings.Join(words, ", ")
}

// keys shows keys below each other, so that their bytes can be compared.
func (p *page) keys(keys []string) {
	if len(keys) == 0 {
		return
	}
	p.open("ul", class("keys"))
	for _, k := range keys {
		p.open("li")
		p.leaf("code", short(k, 120), class("key"), at{"title", k})
		p.close()
	}
	p.close()
}
