package design

import (
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"
)

// An Allowance accepts findings of a lint, with the reason.
type Allowance struct {
	Pos Pos
	// Rule is the id of the lint.
	Rule string
	// On is the name of the table, index, entity or pattern that the findings
	// are about; "" is any.
	On string
	// Why is the reason, for those who read the model.
	Why string
}

// Accepts reports whether the allowance is for a finding.
func (a *Allowance) Accepts(f *Finding) bool {
	if a.Rule != f.Rule {
		return false
	}
	switch a.On {
	case "", f.Table, f.Index, f.Entity, f.Pattern:
		return true
	}
	return false
}

var ruleID = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

func (p *parser) allowances(n *yaml.Node) {
	if !p.present(n) {
		return
	}
	known := p.subjects()
	for _, e := range p.list(n, "allow") {
		o := p.object(e, "an allowance", "rule", "on", "why")
		if o == nil || p.deref(e) == nil {
			continue
		}
		a := &Allowance{Pos: p.pos(e)}
		if o["rule"] == nil {
			p.fail(e, "name the lint, as in rule: unpadded-number", "the allowance has no rule")
		} else if a.Rule, _ = p.text(o["rule"], "the rule"); a.Rule != "" && !ruleID.MatchString(a.Rule) {
			p.fail(o["rule"], "findings begin with theirs", "%s is no rule: they are lower-case words joined by hyphens", clip(a.Rule))
		}
		if o["on"] != nil {
			a.On, _ = p.text(o["on"], "on")
			if a.On != "" && !contains(known, a.On) {
				p.fail(o["on"], nearest(a.On, known), "there is no table, index, entity or pattern %s", clip(a.On))
			}
		}
		if o["why"] != nil {
			a.Why, _ = p.text(o["why"], "why")
		}
		if strings.TrimSpace(a.Why) == "" {
			p.fail(e, "add why: and the reason, for those who read the model", "the allowance of %s has no reason", clip(a.Rule))
		}
		p.m.Allow = append(p.m.Allow, a)
	}
}

// subjects are the names that findings can be about.
func (p *parser) subjects() (all []string) {
	for _, t := range p.m.Tables {
		all = append(all, t.Name)
		for _, x := range t.Indexes {
			all = append(all, x.Name)
		}
	}
	for _, e := range p.m.Entities {
		all = append(all, e.Name)
	}
	for _, q := range p.m.Patterns {
		all = append(all, q.Name)
	}
	return all
}

func (p *writer) allowances() {
	if len(p.m.Allow) == 0 {
		return
	}
	p.section("Findings that are accepted, and why.")
	p.line(0, "allow:")
	for _, a := range p.m.Allow {
		on := ""
		if a.On != "" {
			on = ", on: " + flowText(a.On)
		}
		p.line(1, "- {rule: %s%s, why: %s}", flowText(a.Rule), on, flowText(a.Why))
	}
}
