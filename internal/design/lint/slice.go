package lint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design"
	"github.com/sortkey/sortkey/keys"
)

var foreignRows = lint{Rule{
	ID: "foreign-rows", Title: "An entity's rows inside another's slice", Severity: design.Warning,
	Help: "A query reads all rows of its range, whatever they are. When the keys of an entity begin as those of another do, a query for the one pays for both, " +
		"its Limit counts both, and the program must sort them out.",
	Example: []string{`"ORDER#7"`, `"ORDER#7#ITEM#1"`, `"ORDER#8"`},
	Cure:    "Begin the sort keys with words of their own, ORDER#{order} and ITEM#{order}#{item}; or, when they are meant to be read together, say so: expect: {entities: [Order, Item]}.",
	Source:  "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-adjacency-graphs.html",
}, func(l *linter) {
	type found struct {
		q       *query
		foreign []*design.Entity
		rows    []string
		more    int
	}
	var order []*found
	known := map[string]*found{} // by view and entities: it is one cause
	for _, q := range l.queries {
		e := q.p.Entity
		if e == nil || q.op != "Query" || q.report == nil || q.report.Refused != nil {
			continue
		}
		o := &found{q: q}
		all := []string{e.Name}
		for _, s := range q.report.Entities {
			f := l.m.Entity(s.Entity)
			if f == nil || f == e || s.Examined == 0 || q.expects(l, f) {
				continue
			}
			o.foreign = append(o.foreign, f)
			o.rows = append(o.rows, plural(s.Examined, "row")+" of "+f.Name)
			all = append(all, f.Name)
		}
		if len(o.foreign) == 0 {
			continue
		}
		slices.Sort(all)
		key := q.v.t.Name + "\x00" + q.v.name() + "\x00" + strings.Join(all, "\x00")
		if known[key] != nil {
			known[key].more++
			continue
		}
		known[key] = o
		order = append(order, o)
	}
	for _, o := range order {
		l.addForeign(o.q, o.foreign, o.rows, o.more)
	}
}}

// addForeign adds the finding of a query that reads rows of others, as more
// queries do.
func (l *linter) addForeign(q *query, foreign []*design.Entity, rows []string, more int) {
	e := q.p.Entity
	f := q.in(design.Finding{Message: fmt.Sprintf("%q asks for rows of %s and reads %s", q.p.Name, e.Name, list(rows))})
	switch {
	case more == 1:
		f.Message += "; another pattern does so too"
	case more > 1:
		f.Message += fmt.Sprintf("; %d other patterns do so too", more)
	}
	f.Keys = l.bothRows(q, e, foreign[0])
	var named []string
	for _, o := range append([]*design.Entity{e}, foreign...) {
		named = append(named, o.Name)
	}
	f.Advice = fmt.Sprintf("if it is meant, add entities: [%s] to expect", strings.Join(named, ", "))
	if len(q.v.sort) > 0 {
		switch s := l.of(foreign[0], q.v.sort[0].Name); {
		case s == nil || s.t.Kind != attr.String:
		case natural(s.t):
			f.Advice = fmt.Sprintf("sort %s by an attribute that begins with the name of the entity; ", q.v.name()) + f.Advice
		default:
			parts := []string{strings.ToUpper(strings.ReplaceAll(foreign[0].Name, " ", "_"))}
			for _, p := range s.parts {
				if p.Name != "" {
					parts = append(parts, source([]keys.Part{p}, "", ""))
				}
			}
			f.Advice = fmt.Sprintf("give %s a beginning of its own, such as %s: %q; ", foreign[0].Name, s.t.Name, strings.Join(parts, "#")) + f.Advice
		}
	}
	l.add(f)
}

// expects reports whether the pattern says that it reads rows of an entity.
func (q *query) expects(l *linter, e *design.Entity) bool {
	x := q.p.Expect
	if slices.Contains(x.Entities, e.Name) {
		return true
	}
	t := q.v.t
	for _, key := range x.Keys {
		var b attr.Builder
		for i, a := range t.Keys() {
			if i < len(key) {
				b.Add(a.Name, key[i])
			}
		}
		if l.m.Classify(t, b.Item()) == e {
			return true
		}
	}
	return false
}

// bothRows are a row of each entity that the query reads.
func (l *linter) bothRows(q *query, e, foreign *design.Entity) (shown []string) {
	for _, want := range []*design.Entity{e, foreign} {
		for _, r := range q.report.Rows {
			if r.Entity == want.Name {
				shown = append(shown, q.v.keyOf(r.Key))
				break
			}
		}
	}
	return shown
}

var sameShape = lint{Rule{
	ID: "same-shape", Title: "Entities whose keys look alike", Severity: design.Note,
	Help: "When nothing in the key tells two entities apart, an item of the one replaces an item of the other that has the same id, without an error, " +
		"and whoever reads a row cannot say what it is.",
	Example: []string{`"e1", "root" (an employee)`, `"b1", "root" (a building)`},
	Cure:    "Begin the partition key or the sort key with the name of the entity: EMPLOYEE#{employee}.",
	Source:  "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-adjacency-graphs.html",
}, func(l *linter) {
	groups := map[string][]*design.Entity{}
	var order []string
	for _, e := range l.entities {
		var b strings.Builder
		b.WriteString(e.Table.Name)
		names, complete := 0, true
		for _, a := range e.Table.Keys() {
			t := e.Attribute(a.Name)
			if t == nil {
				complete = false
				break
			}
			b.WriteByte(1)
			if t.Template == nil {
				b.Write(t.Const.Raw())
				continue
			}
			names += len(t.Template.Components())
			b.WriteString(skeleton(t.Template.Parts()))
		}
		if !complete || names == 0 {
			continue
		}
		key := b.String()
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], e)
	}
	for _, key := range order {
		g := groups[key]
		if len(g) < 2 || sameFields(g) {
			continue
		}
		var names []string
		for _, e := range g {
			names = append(names, e.Name)
		}
		v := l.views[slices.IndexFunc(l.views, func(v *view) bool { return v.t == g[0].Table && v.x == nil })]
		a := v.hash[0]
		f := design.Finding{
			Entity:  g[1].Name,
			Message: fmt.Sprintf("nothing in the keys tells %s apart: with the same id, one replaces the other", list(names)),
			Keys:    append(l.key(v, g[0]), l.key(v, g[1])...),
		}
		t := g[1].Attribute(a.Name)
		f.Pos = g[1].Pos
		if t != nil {
			f.Pos = t.Pos
			if t.Template != nil {
				f.Advice = fmt.Sprintf("begin %s with the name of the entity: %q", a.Name, strings.ToUpper(g[1].Name)+"#"+t.Template.String())
			}
		}
		l.add(v.in(f))
	}
}}

// key is the key of an item of an entity.
func (l *linter) key(v *view, e *design.Entity) []string {
	if it := first(l.items[e]); it != nil {
		return v.shown(it)
	}
	return nonEmpty(l.suchAs(v, e, nil, nil))
}

// sameFields reports whether entities make their keys of the same fields, and
// so are the same items on purpose.
func sameFields(all []*design.Entity) bool {
	names := func(e *design.Entity) string {
		var b strings.Builder
		for _, a := range e.Table.Keys() {
			if t := e.Attribute(a.Name); t != nil && t.Template != nil {
				b.WriteString(strings.Join(t.Template.Components(), " ") + ";")
			}
		}
		return b.String()
	}
	for _, e := range all[1:] {
		if names(e) != names(all[0]) {
			return false
		}
	}
	return true
}

var mixedPartition = lint{Rule{
	ID: "mixed-partition", Title: "An index that loses the partition", Severity: design.Warning,
	Help: "An index made of names that are unique only within a partition of the table, such as the path of a file within an account, puts the rows of all partitions that use the same name into one: " +
		"a query for the folder root/ of one account reads the folders root/ of all others, and shows them.",
	Example: []string{`ByParent: "/", "root/" (of account a91)`, `ByParent: "/", "root/" (of account b07)`},
	Cure:    "Have the table's partition key in the partition key of the index, beside the name: ByParent: {partition: [PK, parent], sort: SK}; or joined to it: {drive}#{parent}.",
	Source:  "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.html (index keys need not be unique)",
}, func(l *linter) {
	for _, v := range l.views {
		if v.x == nil || v.x.Local {
			continue
		}
		for _, e := range l.entities {
			if e.Table == v.t {
				l.mixed(v, e)
			}
		}
	}
}}

// mixed looks for items of two partitions of the table that have one key in an
// index which names all that tells items of one partition apart.
func (l *linter) mixed(v *view, e *design.Entity) {
	inIndex := componentsOf(e, v.all)
	own := componentsOf(e, v.t.Partition)
	inside := componentsOf(e, v.t.Sort)
	if len(own) == 0 || len(inside) == 0 || len(inIndex) == 0 {
		return
	}
	for name := range own {
		if inIndex[name] {
			return
		}
	}
	for name := range inside {
		if !inIndex[name] {
			return
		}
	}
	var a, b *design.Item
	n := 0
	for _, p := range v.parts {
		var last *design.Item
		for _, r := range v.rows[p.from:p.to] {
			if r.it.Entity != e || r.it.Generated {
				continue // generated names coincide by chance
			}
			if last != nil && sameKey(v, last, r.it) && !attr.Equal(last.Attributes.Get(v.t.Partition[0].Name), r.it.Attributes.Get(v.t.Partition[0].Name)) {
				if n++; n == 1 {
					a, b = last, r.it
				}
			}
			last = r.it
		}
	}
	if n == 0 {
		return
	}
	table := l.views[slices.IndexFunc(l.views, func(o *view) bool { return o.t == v.t && o.x == nil })]
	if table.keyOf(b.Attributes) < table.keyOf(a.Attributes) {
		a, b = b, a
	}
	f := v.in(design.Finding{
		Pos: v.x.Pos, Entity: e.Name,
		Message: fmt.Sprintf("rows of %s and %s lie in one partition of index %s with equal keys%s: its partition key does not have %s", table.partitionOf(a), table.partitionOf(b), v.x.Name, also(n-1), list(slices.Sorted(maps.Keys(own)))),
		Keys:    table.shown(a, b),
	})
	var names []string
	for name := range own {
		names = append(names, "{"+name+"}")
	}
	slices.Sort(names)
	if t := e.Attribute(v.hash[0].Name); t != nil {
		f.Pos = t.Pos
		if t.Template != nil {
			f.Advice = fmt.Sprintf("declare %s: {partition: [%s, %s]", v.x.Name, v.t.Partition[0].Name, t.Name)
			if len(v.sort) > 0 {
				f.Advice += ", sort: " + v.sort[0].Name
			}
			f.Advice += fmt.Sprintf("}, or write %s: %q", t.Name, strings.Join(names, "#")+"#"+t.Template.String())
		}
	}
	l.add(f)
}

// sameKey reports whether two items have equal keys in the view.
func sameKey(v *view, a, b *design.Item) bool {
	for _, k := range v.all {
		if !attr.Equal(a.Attributes.Get(k.Name), b.Attributes.Get(k.Name)) {
			return false
		}
	}
	return true
}

// partitionOf is the partition key of an item, for sentences.
func (v *view) partitionOf(it *design.Item) string {
	only := view{t: v.t, x: v.x, all: v.hash}
	return only.keyOf(it.Attributes)
}

// componentsOf are the names of fields in key attributes.
func componentsOf(e *design.Entity, list []design.Attribute) map[string]bool {
	all := map[string]bool{}
	for _, a := range list {
		if t := e.Attribute(a.Name); t != nil && t.Template != nil {
			for _, name := range t.Template.Components() {
				all[name] = true
			}
		}
	}
	return all
}
