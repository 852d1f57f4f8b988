package lint

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
	// Severity is the severity of findings that have none of their own.
	Severity model.Severity

	// Run calls Whole once, and each of the other functions for every subject of its kind, in file order. Most rules
	// have one function.
	Whole     func(*Pass)
	View      func(*Pass, *View)
	Entity    func(*Pass, *model.Entity)
	Query     func(*Pass, *Query)
	Slot      func(*Pass, *Slot)
	Component func(*Pass, Component)
}

// A Pass gives a rule the subjects of a Study and collects its findings.
type Pass struct {
	*Study
	// Known has the IDs of all rules. Used has those allowances of the model that have accepted a finding so far.
	Known map[string]bool
	Used  map[*model.Allowance]bool
	rule  Rule
	found []*Finding
}

// Report adds a finding. If f has no severity, Report sets the rule's severity. If f has no keys, Report sets the key
// of an example item of the entity. If the model accepts f, Report makes f a note.
func (p *Pass) Report(f *Finding) {
	f.Rule = p.rule.ID
	if f.Severity == 0 {
		f.Severity = p.rule.Severity
	}
	if e := p.Model.Entity(f.Entity); len(f.Keys) == 0 && slices.Contains(p.Entities, e) {
		f.Keys = p.TableView(e.Table).Example(e)
	}
	for _, a := range p.Model.Allow {
		if !a.Accepts(&f.Finding) {
			continue
		}
		p.Used[a] = true
		if f.Accepted == "" {
			f.Severity, f.Accepted = model.Note, a.Why
		}
	}
	p.found = append(p.found, f)
}

// look applies rules to all subjects and returns their findings.
func (st *Study) look(rules []Rule) ([]*Finding, error) {
	p := &Pass{Study: st, Known: map[string]bool{}, Used: map[*model.Allowance]bool{}}
	for _, r := range rules {
		p.Known[r.ID] = true
	}
	for _, r := range rules {
		if err := context.Cause(st.ctx); err != nil {
			return nil, err
		}
		p.rule = r
		if r.Whole != nil {
			r.Whole(p)
		}
		each(p, r.View, p.Views)
		each(p, r.Entity, p.Entities)
		each(p, r.Query, p.Queries)
		each(p, r.Slot, p.Slots)
		for _, s := range p.Slots {
			each(p, r.Component, s.Components())
		}
	}
	return p.found, context.Cause(st.ctx)
}

// each calls look for every subject. look may be nil.
func each[S any](p *Pass, look func(*Pass, S), subjects []S) {
	for _, s := range subjects {
		if look != nil {
			look(p, s)
		}
	}
}
