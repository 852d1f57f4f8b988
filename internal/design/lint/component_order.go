package lint

import (
	"slices"

	"github.com/sortkey/sortkey/internal/ast"
	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/keys"
)

var componentOrder = rule.Rule{
	ID: "component-order", Title: "Key components in the wrong order for a pattern", Severity: model.Error,
	Help: "Rows are ordered by the first component of the sort key, then by the second, and so on. So a query can " +
		"give the first components, a range of the next one, and nothing after it: with " +
		"ORDER#{status}#{placed:date}, the orders of January are in one place per status. A pattern whose name " +
		"implies an order of time (newest, latest, recent, timeline, last ten) gets a warning if another component " +
		"comes first, and a pattern that declares order: desc with a limit gets a note: its last rows are those " +
		"with the last value, not the latest time.",
	Example: []string{`"ORDER#NEW#2026-02-01"`, `"ORDER#PAID#2026-01-05"`},
	Cure: "Put components that are compared with = first, then the one with a range, and the most specific last. " +
		"For another question, add another index.",
	Source: guide + "bp-sort-keys.html",

	Query: func(p *rule.Pass, q *rule.Query) {
		if q.Failed != nil {
			checkFailed(p, q)
			return
		}
		compareOrders(p, q, false)
	},
}

// checkFailed reports a pattern that is not one range because of the order of the
// components in a sort key.
func checkFailed(p *rule.Pass, q *rule.Query) {
	if q.Entity == nil || q.View == nil || q.Operation != "Query" {
		return
	}
	s := p.Slot(q.Entity, q.Failed.Attribute)
	if s == nil || slices.Contains(rule.Names(q.View.Hash), s.Name) ||
		!slices.ContainsFunc(s.Parts, func(p keys.Part) bool { return p.Name == q.Failed.Component }) {
		return
	}
	f := q.Finding("%s has its components in the wrong order for %q: %s", s.Name, q.Name, q.Failed.Msg)
	f.Pos, f.Advice = q.Failed.Pos, q.Failed.Advice
	if q.Expect.Error != "" {
		f.Severity = model.Note
	}
	for _, it := range p.Items(q.Entity) {
		if q.View.Holds(it) && len(f.Keys) < 2 {
			f.Keys = append(f.Keys, q.View.Shown(it)...)
		}
	}

	for _, x := range q.View.Table.Indexes {
		there := *q.Pattern
		there.Index = x
		if _, err := compile.Pattern(p.Model, &there); err == nil && x != q.View.Index {
			fix := rule.Proposal{Text: "query index " + x.Name + " instead", Index: x}
			fix.Edits = []rule.Edit{rule.ThroughIndex(q.Name, x.Name)}
			f.Proposals = append(f.Proposals, fix)
		}
	}
	better, known := reorderedParts(q, s)
	if _, err := keys.Parse(better); err == nil && better != s.Template.String() {
		asAsked := rule.OnPattern(q.Name, func(*model.Model, *model.Pattern) bool { return true })
		s.Propose(f, "", better, ", or add an index with that sort key", asAsked)
	}
	byFields, _ := q.View.ByFields(q.Entity, nil, known, q.Name)
	f.Proposals = append(f.Proposals, byFields)
	p.Report(f)
}

// reorderedParts returns the template with the components that a pattern gives
// first: those with an equality, then the one with a range. It also returns the
// names of these.
func reorderedParts(q *rule.Query, s *rule.Slot) (better string, known []string) {
	var equal, ranged, rest []rule.Component
	for _, c := range s.Components() {
		switch given, ok := q.Given(c.Name); {
		case !ok:
			rest = append(rest, c)
		case given.Op == ast.Equal:
			equal = append(equal, c)
		default:
			ranged = append(ranged, c)
		}
	}
	parts := s.Template.Parts()
	for i, to := range s.Components() {
		parts[to.At] = s.Parts[slices.Concat(equal, ranged, rest)[i].At]
	}
	for _, c := range slices.Concat(equal, ranged) {
		known = append(known, c.Name)
	}
	return rule.Source(parts), known
}
