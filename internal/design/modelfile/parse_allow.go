package modelfile

import (
	"regexp"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/design/model"

	"go.yaml.in/yaml/v4"

	"github.com/sortkey/sortkey/internal/text"
)

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
		a := &model.Allowance{Pos: p.pos(e)}
		if o["rule"] == nil {
			p.fail(e, "name the rule, as in rule: unpadded-number", "the allowance has no rule")
		} else if a.Rule, _ = p.text(o["rule"], "the rule"); a.Rule != "" && !ruleID.MatchString(a.Rule) {
			p.fail(
				o["rule"], "each finding begins with the name of its rule",
				"%s is not the name of a rule: names are lower-case words joined by hyphens", clip(a.Rule),
			)
		}
		if o["on"] != nil {
			a.On, _ = p.text(o["on"], "on")
			if a.On != "" && !slices.Contains(known, a.On) {
				p.fail(o["on"], text.DidYouMean(a.On, known), "unknown table, index, entity or pattern %s", clip(a.On))
			}
		}
		if o["why"] != nil {
			a.Why, _ = p.text(o["why"], "why")
		}
		if strings.TrimSpace(a.Why) == "" {
			p.fail(e, "add why: with the reason", "the allowance of %s has no reason", clip(a.Rule))
		}
		p.m.Allow = append(p.m.Allow, a)
	}
}

// subjects returns the names that findings can have.
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
	p.section("Accepted findings, with the reasons.")
	p.line(0, "allow:")
	for _, a := range p.m.Allow {
		on := ""
		if a.On != "" {
			on = ", on: " + flowText(a.On)
		}
		p.line(1, "- {rule: %s%s, why: %s}", flowText(a.Rule), on, flowText(a.Why))
	}
}
