package lint

import (
	"cmp"
	"slices"

	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keys"
)

var componentOrder = Rule{
	ID: "component-order", Title: "Key components in the wrong order for a pattern", Severity: model.Error,
	Help: "Rows are ordered by the first component of the sort key, then by the second, and so on. So a query " +
		"can give the first components, a range of the next one, and nothing after it: with " +
		"ORDER#{status}#{placed:date}, the orders of January are in one place per status. Put components " +
		"that are compared with = first, then the one with a range.",

	Query: checkFailed,
}

// checkFailed reports a query that does not read one range of keys, because the components of the sort key are in the
// wrong order for it.
func checkFailed(p *Pass, q *Query) {
	if q.Failed == nil || q.Entity == nil || q.View == nil || q.Operation != "Query" {
		return
	}
	s := p.Slot(q.Entity, q.Failed.Attribute)
	if s == nil || slices.Contains(keyNames(q.View.Hash), s.Name) ||
		!slices.ContainsFunc(s.Parts, func(p keys.Part) bool { return p.Name == q.Failed.Component }) ||
		!outOfOrder(p, q, s) {
		return
	}
	f := q.Finding("%s has its components in the wrong order for %q: %s", s.Name, q.Name, q.Failed.Msg)
	f.Pos, f.Advice = q.Failed.Pos, q.Failed.Advice
	if q.Expect.Error != "" {
		f.Severity = model.Note
	}

	for _, x := range q.View.Table.Indexes {
		there := *q.Pattern
		there.Index = x
		if _, err := compile.Pattern(&there); err == nil && x != q.View.Index {
			through := func(_ *model.Model, o *model.Pattern) bool {
				o.Table, o.Index = o.Entity.Table, o.Entity.Table.Index(x.Name)
				return o.Index != nil
			}
			f.Propose("query index "+x.Name+" instead", onPattern(q.Name, through))
		}
	}
	adviseOrder(f, p, q, s)
	p.Report(f)
}

// adviseOrder looks for an order of the components of s with which every pattern that gives a value for one of them
// reads one range of keys. It adds this order to the finding as advice, or says that there is none.
func adviseOrder(f *Finding, p *Pass, q *Query, s *Slot) {
	askers := slices.DeleteFunc(givers(p, q, s), func(o *Query) bool {
		return o.Failed == nil && o.Expect.Error != ""
	})
	order := orderFor(s, askers...)
	for _, o := range askers {
		if !serves(order, o) {
			f.Say("; no order of these components serves all patterns that give one")
			return
		}
	}

	better := s.Reordered(order)
	if _, err := keys.Parse(better); err != nil || better == s.Template.String() {
		return
	}
	f.Advice = writing(s.Name, better) + ", or add an index with that sort key"
	if n := len(askers); n > 1 {
		f.Advice = writing(s.Name, better) + ", which serves " + text.Count(n, "pattern") +
			", or add an index with that sort key"
	}
}

// givers returns the queries for the same entity and view as q that give a value for a component of s.
func givers(p *Pass, q *Query, s *Slot) (all []*Query) {
	for _, o := range p.Queries {
		gives := slices.ContainsFunc(s.Components(), func(c Component) bool {
			_, ok := o.Given(c.Name)
			return ok
		})
		if o.View == q.View && o.Entity == q.Entity && gives {
			all = append(all, o)
		}
	}
	return all
}

// orderFor sorts the components of s for the given queries. The component that most queries compare with = comes
// first. Among equals, the component to which most queries give a range comes first.
func orderFor(s *Slot, queries ...*Query) []Component {
	weight := func(c Component) (equal, ranged int) {
		for _, q := range queries {
			given, ok := q.Given(c.Name)
			switch {
			case !ok:
			case given.Op == ast.Equal:
				equal++
			default:
				ranged++
			}
		}
		return equal, ranged
	}
	all := s.Components()
	slices.SortStableFunc(all, func(a, b Component) int {
		equalA, rangedA := weight(a)
		equalB, rangedB := weight(b)
		return cmp.Or(cmp.Compare(equalB, equalA), cmp.Compare(rangedB, rangedA))
	})
	return all
}

// serves reports whether a query reads a single range of keys if the key has the components in this order. This is so
// if the query gives values for the first components and compares all of these except the last with =.
func serves(order []Component, q *Query) bool {
	open := false
	for _, c := range order {
		given, ok := q.Given(c.Name)
		if ok && open {
			return false
		}
		open = open || !ok || given.Op != ast.Equal
	}
	return true
}

// outOfOrder reports whether q gives a value for a component although it does not compare an earlier component with
// =.
func outOfOrder(p *Pass, q *Query, s *Slot) bool {
	var all []Component
	for _, a := range q.View.Sort {
		if o := p.Slot(q.Entity, a.Name); o != nil {
			all = append(all, o.Components()...)
		}
		if a.Name == s.Name {
			break
		}
	}
	return !serves(all, q)
}
