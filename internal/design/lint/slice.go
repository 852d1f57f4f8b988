package lint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keys"
)

var foreignRows = lint{Rule{
	ID: "foreign-rows", Title: "Rows of one entity inside the slice of another", Severity: model.Warning,
	Help: "A query reads all rows in its range, whatever their entity. If the keys of one entity begin like those of another, a query for the first pays for both, " +
		"its Limit counts both, and the program must separate them.",
	Example: []string{`"ORDER#7"`, `"ORDER#7#ITEM#1"`, `"ORDER#8"`},
	Cure:    "Give each entity's sort key its own first word, ORDER#{order} and ITEM#{order}#{item}. If they are meant to be read together, say so: expect: {entities: [Order, Item]}.",
	Source:  "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-adjacency-graphs.html",
}, func(l *linter) {
	type found struct {
		q       *query
		foreign []*model.Entity
		rows    []string
		more    int
	}
	var order []*found
	known := map[string]*found{} // by view and entities, which have one cause
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
			o.rows = append(o.rows, text.Count(s.Examined, "row")+" of "+f.Name)
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

// addForeign adds the finding of a query that reads rows of other entities;
// more counts further queries with the same cause.
func (l *linter) addForeign(q *query, foreign []*model.Entity, rows []string, more int) {
	e := q.p.Entity
	f := q.in(model.Finding{Message: fmt.Sprintf("%q asks for rows of %s and reads %s", q.p.Name, e.Name, list(rows))})
	switch {
	case more == 1:
		f.Message += "; 1 other pattern does too"
	case more > 1:
		f.Message += fmt.Sprintf("; %d other patterns do too", more)
	}
	f.Keys = l.bothRows(q, e, foreign[0])
	var named []string
	for _, o := range append([]*model.Entity{e}, foreign...) {
		named = append(named, o.Name)
	}
	both := fmt.Sprintf("if the pattern should read both, add entities: [%s] to expect", strings.Join(named, ", "))
	expects := func(m *model.Model) bool {
		for _, p := range m.Patterns {
			if p.Name == q.p.Name || more > 0 && p.Entity != nil && slices.Contains(named, p.Entity.Name) {
				p.Expect.Entities = named
			}
		}
		return true
	}
	fixes := []proposal{{text: both, edits: []edit{expects}}}
	f.Advice = "give each entity its own first word in the sort key"
	if len(q.v.sort) > 0 {
		switch s := l.slotOf(foreign[0], q.v.sort[0].Name); {
		case s == nil || s.t.Kind != attr.String:
		case natural(s.t):
			fixes[0].text = fmt.Sprintf("sort %s by an attribute that begins with the entity name; ", q.v.name()) + both
		default:
			parts := []string{strings.ToUpper(strings.ReplaceAll(foreign[0].Name, " ", "_"))}
			for _, p := range s.parts {
				if p.Name != "" {
					parts = append(parts, source([]keys.Part{p}, "", ""))
				}
			}
			better := strings.Join(parts, "#")
			fixes = slices.Insert(fixes, 0, proposal{
				text:  fmt.Sprintf("begin the keys of %s differently, for example %s: %q; ", foreign[0].Name, s.t.Name, better) + both,
				edits: []edit{writeTemplate(foreign[0].Name, s.t.Name, better)},
			})
		}
	}
	l.propose(f, fixes...)
}

// expects reports whether the pattern declares that it reads rows of an entity.
func (q *query) expects(l *linter, e *model.Entity) bool {
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

// bothRows returns the keys of one row of each of two entities that the query
// reads.
func (l *linter) bothRows(q *query, e, foreign *model.Entity) (shown []string) {
	for _, want := range []*model.Entity{e, foreign} {
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
	ID: "same-shape", Title: "Entities whose keys look alike", Severity: model.Note,
	Help: "If nothing in the key distinguishes two entities, an item of one silently replaces an item of the other with the same id, " +
		"and readers of a row cannot tell which entity it is.",
	Example: []string{`"e1", "root" (an employee)`, `"b1", "root" (a building)`},
	Cure:    "Begin the partition key or the sort key with the entity name: EMPLOYEE#{employee}.",
	Source:  "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-adjacency-graphs.html",
}, func(l *linter) {
	groups := map[string][]*model.Entity{}
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
		v := l.tableView(g[0].Table)
		a := v.hash[0]
		f := model.Finding{
			Entity:  g[1].Name,
			Message: fmt.Sprintf("the keys of %s look alike: an item of one replaces an item of the other with the same id", list(names)),
			Keys:    append(l.key(v, g[0]), l.key(v, g[1])...),
		}
		f.Advice = "begin the partition key or the sort key with the entity name"
		var fix proposal
		t := g[1].Attribute(a.Name)
		f.Pos = g[1].Pos
		if t != nil {
			f.Pos = t.Pos
			if t.Template != nil {
				better := strings.ToUpper(g[1].Name) + "#" + t.Template.String()
				fix = proposal{
					text:  fmt.Sprintf("begin %s with the entity name: %q", a.Name, better),
					edits: []edit{writeTemplate(g[1].Name, a.Name, better)},
				}
			}
		}
		l.propose(v.in(f), fix)
	}
}}

// key returns the key of an item of an entity.
func (l *linter) key(v *view, e *model.Entity) []string {
	if it := first(l.items[e]); it != nil {
		return v.shown(it)
	}
	return nonEmpty(l.suchAs(v, e, nil, nil))
}

// sameFields reports whether entities build their keys from the same fields, so
// that they describe the same items on purpose.
func sameFields(all []*model.Entity) bool {
	names := func(e *model.Entity) string {
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
	ID: "mixed-partition", Title: "An index that mixes partitions of the table", Severity: model.Warning,
	Help: "An index keyed by names that are unique only within a partition of the table, such as file paths within an account, puts rows of different partitions with the same name into one partition: " +
		"a query for the folder root/ of one account also returns the folder root/ of every other account.",
	Example: []string{`ByParent: "/", "root/" (of account a91)`, `ByParent: "/", "root/" (of account b07)`},
	Cure:    "Include the table's partition key in the partition key of the index: ByParent: {partition: [PK, parent], sort: SK}, or joined with the name: {drive}#{parent}.",
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

// mixed looks for items of different partitions of the table that share a key
// in an index. It applies if the index key has all fields of the table's sort
// key and none of its partition key.
func (l *linter) mixed(v *view, e *model.Entity) {
	inIndex := e.ComponentsOf(v.all)
	own := e.ComponentsOf(v.t.Partition)
	inside := e.ComponentsOf(v.t.Sort)
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
	var a, b *world.Item
	n := 0
	for _, p := range v.Parts {
		var last *world.Item
		for _, r := range v.In(p) {
			if r.Item.Entity != e || r.Item.Generated {
				continue // generated names coincide by chance
			}
			if last != nil && sameKey(v, last, r.Item) &&
				!attr.Equal(last.Attributes.Get(v.t.Partition[0].Name), r.Item.Attributes.Get(v.t.Partition[0].Name)) {
				if n++; n == 1 {
					a, b = last, r.Item
				}
			}
			last = r.Item
		}
	}
	if n == 0 {
		return
	}
	table := l.tableView(v.t)
	if table.keyOf(b.Attributes) < table.keyOf(a.Attributes) {
		a, b = b, a
	}
	f := v.in(model.Finding{
		Pos: v.x.Pos, Entity: e.Name,
		Message: fmt.Sprintf("rows of %s and %s have equal keys in index %s%s: its partition key does not include %s", table.partitionOf(a), table.partitionOf(b), v.x.Name, andMore(n-1), list(slices.Sorted(maps.Keys(own)))),
		Keys:    table.shown(a, b),
	})
	f.Advice = "include the partition key of the table in the partition key of the index"
	var fixes []proposal
	var names []string
	for name := range own {
		names = append(names, "{"+name+"}")
	}
	slices.Sort(names)
	if t := e.Attribute(v.hash[0].Name); t != nil {
		f.Pos = t.Pos
		if t.Template != nil {
			// The patterns that read the index must know the partition.
			var given []edit
			for _, name := range slices.Sorted(maps.Keys(own)) {
				given = append(given, alsoGiven(v.t.Name, v.x.Name, e.Name, name, a.Values.Get(name)))
			}
			better := *v.x
			better.Partition = slices.Concat(v.t.Partition, v.hash)
			joined := strings.Join(names, "#") + "#" + t.Template.String()
			write := proposal{
				or: true, text: fmt.Sprintf("write %s: %q", t.Name, joined),
				edits: append(given, writeTemplate(e.Name, t.Name, joined)),
			}
			fixes = []proposal{
				{text: "declare " + indexText(&better), edits: append(slices.Clone(given), writeIndex(v.t.Name, better))},
				write,
			}
		}
	}
	l.propose(f, fixes...)
}

// sameKey reports whether two items have equal keys in the view.
func sameKey(v *view, a, b *world.Item) bool {
	for _, k := range v.all {
		if !attr.Equal(a.Attributes.Get(k.Name), b.Attributes.Get(k.Name)) {
			return false
		}
	}
	return true
}

// partitionOf returns the partition key of an item, for sentences.
func (v *view) partitionOf(it *world.Item) string {
	only := view{t: v.t, x: v.x, all: v.hash}
	return only.keyOf(it.Attributes)
}
