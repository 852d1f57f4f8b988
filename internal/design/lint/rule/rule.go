package rule

import (
	"context"
	"slices"

	"github.com/sortkey/sortkey/internal/design/model"
)

// A Rule is a hazard that [Run] looks for.
type Rule struct {
	// ID consists of lower-case words joined by hyphens.
	ID    string
	Title string
	// Help describes the hazard and why it matters.
	Help string
	// Severity is the usual severity; findings can be more or less severe.
	Severity model.Severity

	// These functions look for the hazard at each subject of a kind, in file
	// order, or once in the whole Study. Most rules have one.
	Whole     func(*Pass)
	View      func(*Pass, *View)
	Index     func(*Pass, *View)                // a view of an index
	Member    func(*Pass, *View, *model.Entity) // an index, and an entity of its table
	Entity    func(*Pass, *model.Entity)
	Query     func(*Pass, *Query)
	Slot      func(*Pass, *Slot)
	Component func(*Pass, Component)
	// Allowance looks at an allowance of the model when all rules have run.
	Allowance func(*Pass, Allowance)
}

// An Allowance is an allowance of the model after the rules have run.
type Allowance struct {
	*model.Allowance
	Known bool // there is such a rule
	Used  bool // it accepts a finding
}

// A Pass shows one rule the subjects of a Study.
type Pass struct {
	*Study
	rule  Rule
	found []*Finding
}

// Report adds a finding. If it has no severity, that is the severity of the
// rule. If it shows no key, it gets one of its entity.
func (p *Pass) Report(f *Finding) {
	f.Rule = p.rule.ID
	if f.Severity == 0 {
		f.Severity = p.rule.Severity
	}
	if e := p.Model.Entity(f.Entity); len(f.Keys) == 0 && slices.Contains(p.Entities, e) {
		f.Keys = p.TableView(e.Table).Example(e)
	}
	p.found = append(p.found, f)
}

// look applies rules to all subjects.
func (st *Study) look(rules []Rule) (found []*Finding, err error) {
	known := map[string]bool{}
	for _, r := range rules {
		if err := context.Cause(st.ctx); err != nil {
			return nil, err
		}
		known[r.ID] = true
		p := &Pass{Study: st, rule: r}
		p.walk()
		found = append(found, p.found...)
	}
	allowances := st.accept(found, known)
	for _, r := range rules {
		p := &Pass{Study: st, rule: r}
		each(p, r.Allowance, allowances)
		found = append(found, p.found...)
	}
	return found, context.Cause(st.ctx)
}

// walk shows the rule all subjects of its kinds.
func (p *Pass) walk() {
	r := p.rule
	if r.Whole != nil {
		r.Whole(p)
	}
	for _, v := range p.Views {
		if r.View != nil {
			r.View(p, v)
		}
		if r.Index != nil && v.Index != nil {
			r.Index(p, v)
		}
		if r.Member != nil && v.Index != nil {
			for _, e := range v.Entities() {
				r.Member(p, v, e)
			}
		}
	}
	each(p, r.Entity, p.Entities)
	each(p, r.Query, p.Queries)
	each(p, r.Slot, p.Slots)
	for _, s := range p.Slots {
		each(p, r.Component, s.Components())
	}
}

// each shows a function all subjects of its kind, unless it is nil.
func each[S any](p *Pass, look func(*Pass, S), subjects []S) {
	for _, s := range subjects {
		if look != nil {
			look(p, s)
		}
	}
}

// accept turns the findings that the model accepts into notes, and returns the
// allowances.
func (st *Study) accept(found []*Finding, known map[string]bool) []Allowance {
	all := make([]Allowance, len(st.Model.Allow))
	for i, a := range st.Model.Allow {
		all[i] = Allowance{Allowance: a, Known: known[a.Rule]}
		for _, f := range found {
			if !a.Accepts(&f.Finding) {
				continue
			}
			all[i].Used = true
			if f.Accepted == "" {
				f.Severity, f.Accepted = model.Note, a.Why
			}
		}
	}
	return all
}
