package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

var foreignRows = rule.Rule{
	ID: "foreign-rows", Title: "Rows of one entity inside the slice of another", Severity: model.Warning,
	Help: "A query reads all rows in its range, whatever their entity. If the keys of one entity begin like those " +
		"of another, a query for the first pays for both, its Limit counts both, and the program must separate " +
		"them.",
	Example: []string{`"ORDER#7"`, `"ORDER#7#ITEM#1"`, `"ORDER#8"`},
	Cure: "Give each entity's sort key its own first word, ORDER#{order} and ITEM#{order}#{item}. If they are " +
		"meant to be read together, say so: expect: {entities: [Order, Item]}.",
	Source: guide + "bp-adjacency-graphs.html",

	Whole: checkForeignRows,
}

// A foreignVisit is a query that reads rows of foreign entities.
type foreignVisit struct {
	*rule.Query
	foreign []*model.Entity
	rows    []string // of each of them
	more    int      // further queries with the same cause
}

func checkForeignRows(p *rule.Pass) {
	var visits []*foreignVisit
	known := map[string]*foreignVisit{} // by view and entities, which have one cause
	for _, q := range p.Queries {
		if q.Entity == nil || q.Operation != "Query" || !q.Ran() {
			continue
		}

		v := &foreignVisit{Query: q}
		for _, s := range q.Report.Entities {
			e := p.Model.Entity(s.Entity)
			if e != nil && e != q.Entity && s.Examined > 0 && !expectsEntity(p, q, e) {
				v.foreign = append(v.foreign, e)
				v.rows = append(v.rows, text.Count(s.Examined, "row")+" of "+e.Name)
			}
		}

		if len(v.foreign) == 0 {
			continue
		}
		cause := append([]string{q.View.Table.Name, q.View.String()}, slices.Sorted(slices.Values(v.names()))...)
		key := strings.Join(cause, "\x00")
		if known[key] != nil {
			known[key].more++
			continue
		}

		known[key] = v
		visits = append(visits, v)
	}

	for _, v := range visits {
		reportForeignRows(p, v)
	}
}

// names returns the names of all entities that the query reads.
func (v *foreignVisit) names() []string {
	all := []string{v.Entity.Name}
	for _, e := range v.foreign {
		all = append(all, e.Name)
	}
	return all
}

// reportForeignRows reports a query that reads rows of foreign entities.
func reportForeignRows(p *rule.Pass, v *foreignVisit) {
	f := v.Finding("%q asks for rows of %s and reads %s", v.Name, v.Entity.Name, v.rows)
	if v.more > 0 {
		f.Say("; %d other %s too", v.more, text.Agree(v.more, "pattern does", "patterns do"))
	}
	for _, e := range []*model.Entity{v.Entity, v.foreign[0]} {
		for _, r := range v.Report.Rows {
			if r.Entity == e.Name {
				f.Keys = append(f.Keys, v.View.KeyOf(r.Key))
				break
			}
		}
	}

	named := v.names()
	expect := func(m *model.Model) bool {
		for _, o := range m.Patterns {
			if o.Name == v.Name || v.more > 0 && o.Entity != nil && slices.Contains(named, o.Entity.Name) {
				o.Expect.Entities = named
			}
		}
		return true
	}
	both := fmt.Sprintf("if the pattern should read both, add entities: [%s] to expect", strings.Join(named, ", "))
	f.Advice = "give each entity its own first word in the sort key"
	var s *rule.Slot
	if len(v.View.Sort) > 0 {
		s = p.Slot(v.foreign[0], v.View.Sort[0].Name)
	}
	if s != nil && s.Kind == attr.String {
		if rule.Natural(s.Name, s.Template) {
			both = fmt.Sprintf("sort %s by an attribute that begins with the entity name; %s", v.View, both)
		} else {
			better := ownWord(s)
			f.ProposeFewer(
				fmt.Sprintf("begin the keys of %s differently, for example %s: %q; %s", s.Entity.Name, s, better, both),
				s.Write(better),
			)
		}
	}
	f.Propose(both, expect)
	p.Report(f)
}

// ownWord returns a template with the components of the slot that begins with
// the name of its entity.
func ownWord(s *rule.Slot) string {
	words := []string{strings.ToUpper(strings.ReplaceAll(s.Entity.Name, " ", "_"))}
	for _, c := range s.Components() {
		words = append(words, rule.Source(s.Parts[c.At:c.At+1]))
	}
	return strings.Join(words, "#")
}

// expectsEntity reports whether the pattern declares that it reads rows of an
// entity.
func expectsEntity(p *rule.Pass, q *rule.Query, e *model.Entity) bool {
	if slices.Contains(q.Expect.Entities, e.Name) {
		return true
	}
	for _, key := range q.Expect.Keys {
		var b attr.Builder
		for i, a := range q.View.Table.Keys() {
			if i < len(key) {
				b.Add(a.Name, key[i])
			}
		}
		if p.Model.Classify(q.View.Table, b.Item()) == e {
			return true
		}
	}
	return false
}
