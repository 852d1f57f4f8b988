package lint

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/internal/item"
	"github.com/sortkey/sortkey/internal/keycond"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keys"
)

const indexGuide = "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-indexes-general.html"

var unreadIndex = lint{Rule{
	ID: "unread-index", Title: "An index that no pattern reads", Severity: model.Note,
	Help: "Every write of an item is also a write to each index that holds it. An index, or an entity's rows in an index, that no access pattern reads costs writes and storage for nothing; " +
		"or the model lacks a pattern.",
	Example: []string{`GSI2: "STATUS#Done", "TASK#T2"`},
	Cure:    "Remove the index or the entity's key attributes for it, or add the pattern that needs it to the model.",
	Source:  indexGuide,
}, func(l *linter) {
	if len(l.m.Patterns) == 0 {
		return
	}
	for _, v := range l.views {
		if v.x != nil {
			l.unread(v)
		}
	}
}}

func (l *linter) unread(v *view) {
	asked := false
	read := map[*model.Entity]bool{}
	var readers []reader
	for _, q := range l.queries {
		if q.v != v {
			continue
		}
		asked = true
		if q.p.Entity == nil && q.op == "Scan" {
			return
		}
		for _, e := range append([]*model.Entity{q.p.Entity}, q.entities...) {
			if e != nil {
				read[e] = true
				readers = append(readers, reader{q, e})
			}
		}
	}
	var unread []string
	shown := map[*model.Entity][]string{}
	items := map[*model.Entity]*world.Item{}
	for _, r := range v.Rows {
		e := r.Item.Entity
		if e == nil || read[e] || len(shown[e]) > 0 {
			continue
		}
		shown[e], items[e] = v.shown(r.Item), r.Item
	}
	f := v.in(model.Finding{Pos: v.x.Pos})
	for _, e := range l.entities {
		if len(shown[e]) > 0 && !slices.ContainsFunc(readers, func(r reader) bool { return l.reaches(r, items[e]) }) {
			unread = append(unread, e.Name)
			f.Keys = append(f.Keys, shown[e]...)
		}
	}
	f.Keys = f.Keys[:min(2, len(f.Keys))]
	var fix proposal
	switch {
	case !asked && len(v.Rows) > 0:
		f.Message = fmt.Sprintf("no pattern reads index %s", v.x.Name)
		f.Advice = "add the pattern that needs it"
		fix = proposal{
			text: "remove it, or add the pattern that needs it", edits: []edit{removeIndex(v.t.Name, v.x.Name)},
		}
	case asked && len(unread) > 0:
		f.Message = fmt.Sprintf("no pattern reads the rows of %s in index %s", list(unread), v.x.Name)
		var attributes []string
		for _, a := range v.all {
			if !slices.Contains(v.t.Keys(), a) {
				attributes = append(attributes, a.Name)
			}
		}
		f.Advice = "add the patterns that need them"
		if len(attributes) > 0 { // an index of the table's own key holds every item
			fix.text = fmt.Sprintf("remove %s from them, or add the patterns that need them", list(attributes))
		}
		for _, name := range unread {
			fix.edits = append(fix.edits, removeAttributes(name, attributes))
		}
	default:
		return
	}
	l.propose(f, fix)
}

// A reader is a query and an entity whose rows it reads.
type reader struct {
	q *query
	e *model.Entity
}

// reaches reports whether the same query with other values can read an item:
// the entity can have rows in the item's partition, and if the query has a
// condition on the sort key, the item's sort key begins like the entity's.
func (l *linter) reaches(r reader, it *world.Item) bool {
	for i, a := range r.q.v.all {
		t, value := r.e.Attribute(a.Name), it.Attributes.Get(a.Name)
		asked := i < len(r.q.v.hash) ||
			slices.ContainsFunc(r.q.clauses, func(c keycond.Clause) bool { return c.Attribute.Name == a.Name })
		switch {
		case !asked:
		case t == nil:
			return false
		case t.Template == nil:
			if !attr.Equal(t.Const, value) {
				return false
			}
		case a.Kind != attr.String:
		case i < len(r.q.v.hash):
			if _, ok := t.Template.Match(string(value.Raw())); !ok {
				return false
			}
		default:
			if s := l.slotOf(r.e, a.Name); s != nil && !strings.HasPrefix(string(value.Raw()), s.literal()) {
				return false
			}
		}
	}
	return true
}

var writeAmplification = lint{Rule{
	ID: "write-amplification", Title: "One write that updates many rows", Severity: model.Note,
	Help: "A write of an item is also a write to each index that holds it, charged by the projected size; changing an index key costs two. " +
		"A write of an item in three indexes that project all attributes costs four times as much as the item alone.",
	Example: []string{`"ARTICLE#A2", "METADATA"`, `GSI1: "USER#U1", "ARTICLE#A2"`},
	Cure:    "Project only what the patterns read, with projection: keys or a list of attributes. Overload one index with several entities. Drop indexes that save few reads.",
	Source:  "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-indexes-general.html; https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.html",
}, func(l *linter) {
	for _, e := range l.entities {
		l.amplified(e)
	}
}}

func (l *linter) amplified(e *model.Entity) {
	var own, all float64
	most, at := 0, (*world.Item)(nil)
	var indexes []*view
	for _, it := range l.items[e] {
		n := 0
		units := table.WriteUnits(it.Attributes.Size())
		own += units
		all += units
		var held []*view
		for _, v := range l.views {
			if v.t != e.Table || v.x == nil {
				continue
			}
			if size, ok := v.size(it.Attributes); ok {
				n++
				all += table.WriteUnits(size)
				held = append(held, v)
			}
		}
		if n > most {
			most, at, indexes = n, it, held
		}
	}
	if most < 3 || own == 0 {
		return
	}
	f := model.Finding{Pos: e.Pos, Table: e.Table.Name, Entity: e.Name}
	var names []string
	for _, v := range indexes {
		names = append(names, v.x.Name)
	}
	f.Message = fmt.Sprintf(
		"a write of %s writes up to %d rows, because %s hold it too: %s units on average instead of %s", e.Name, most+1,
		list(names), text.Figure(all/float64(len(l.items[e]))), text.Figure(own/float64(len(l.items[e]))),
	)
	if e.Writes > 0 {
		n := float64(len(l.items[e]))
		f.Message += fmt.Sprintf(
			"; %s writes per second cost %s units", text.Figure(e.Writes), text.Figure(e.Writes*all/n),
		)
	}
	f.Keys = []string{
		l.tableKeys(indexes[0], []*world.Item{at})[0], indexes[0].x.Name + ": " + indexes[0].keyOf(at.Attributes),
	}
	f.Advice = "project only what the patterns read from each index, or leave " + e.Name + " out of indexes that no pattern needs"
	l.add(f)
}

var multiAttribute = lint{Rule{
	ID: "multi-attribute", Title: "Hand-joined keys that an index can replace", Severity: model.Note,
	Help: "A global index can have up to four partition key attributes and up to four sort key attributes. Rows are ordered by the first, then by the next, each by its own type, " +
		"so nothing needs to be joined, padded or split, and numbers stay numbers. An overloaded index still needs joined keys, because its entities have different attributes.",
	Example: []string{`"WA", "Seattle#Development"`, `"WA", "Seattle", "Development"`},
	Cure:    "Declare the attributes: ByCity: {partition: state, sort: [city, dept]}. Queries give values from left to right with =, and a range for the last one given.",
	Source:  "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.DesignPattern.MultiAttributeKeys.html",
}, func(l *linter) {
	for _, v := range l.views {
		if v.x != nil && !v.x.Local && len(v.hash) == 1 && len(v.sort) <= 1 {
			l.joined(v)
		}
	}
}}

// joined checks an index that holds one entity.
func (l *linter) joined(v *view) {
	var e *model.Entity
	for _, o := range l.entities {
		makes := o.Table == v.t && v.writtenBy(o)
		if makes && e != nil {
			return
		}
		if makes {
			e = o
		}
	}
	if e == nil {
		return
	}
	var parts [2][]keys.Part
	var lists [2][]string
	joined := false
	for i, side := range [][]model.Attribute{v.hash, v.sort} {
		for _, a := range side {
			t := e.Attribute(a.Name)
			if t.Template == nil || len(t.Template.Components()) == 0 {
				lists[i] = append(lists[i], a.Name)
				continue
			}
			if len(t.When) > 0 {
				return
			}
			names := 0
			for _, p := range t.Template.Parts() {
				if p.Name == "" {
					continue
				}
				names++
				if slices.Contains(lists[0], p.Name) {
					continue // already in the partition key
				}
				if p.Type.Desc || p.Type.Name == "path" {
					return
				}
				parts[i] = append(parts[i], p)
				lists[i] = append(lists[i], p.Name)
			}
			// If the table's own key serves, nothing is joined for the index.
			joined = joined || names > 1 && !slices.Contains(v.t.Keys(), a)
		}
		if len(lists[i]) > 4 || i == 1 && len(lists[i]) == 0 && len(side) > 0 {
			return
		}
	}
	if !joined {
		return
	}
	for _, r := range v.Rows {
		if r.Item.Entity != e {
			return // raw items lack these attributes
		}
	}
	a, b, checked := l.sameOrder(v, parts[1])
	f := v.in(model.Finding{Pos: v.x.Pos, Entity: e.Name})
	var all, missing []string
	for _, side := range parts {
		for _, p := range side {
			if !slices.Contains(all, p.Name) && l.joinedIn(e, v, p.Name) {
				all = append(all, p.Name)
			}
			if e.Attribute(p.Name) == nil && !slices.Contains(missing, p.Name) {
				missing = append(missing, p.Name)
			}
		}
	}
	f.Message = fmt.Sprintf("index %s joins %s by hand; they could be key attributes of their own", v.x.Name, list(all))
	switch {
	case a != nil:
		f.Message += ", in a different order: each attribute sorts by its own type"
		f.Keys = v.shown(a, b)
	case checked > 1:
		f.Message += fmt.Sprintf(", in the same order (%s compared)", text.Count(checked, "row"))
	}
	if f.Keys == nil {
		for _, r := range v.Rows[:min(2, len(v.Rows))] {
			f.Keys = append(f.Keys, v.keyOf(r.Item.Attributes))
		}
	}
	better := model.Index{
		Name: v.x.Name, Projection: v.x.Projection, Include: v.x.Include,
		Partition: attributesFor(e, lists[0], parts[0]), Sort: attributesFor(e, lists[1], parts[1]),
	}
	fix := proposal{
		text:  "declare " + indexText(&better),
		edits: []edit{storeFields(e.Name, missing), writeIndex(v.t.Name, better)},
	}
	if len(missing) > 0 {
		fix.text += fmt.Sprintf(", and add %s to the attributes of %s", list(missing), e.Name)
	}
	f.Advice = "if you change the index, declare the components as key attributes of their own"
	l.propose(f, fix)
}

// attributesFor returns key attributes for components, numbers as numbers.
func attributesFor(e *model.Entity, names []string, parts []keys.Part) (all []model.Attribute) {
	for _, name := range names {
		a := model.Attribute{Name: name, Kind: attr.String}
		if t := e.Attribute(name); t != nil {
			a.Kind = t.Kind
		} else if i := slices.IndexFunc(parts, func(p keys.Part) bool { return p.Name == name }); i >= 0 {
			a.Kind = kindOf(parts[i].Type)
		}
		all = append(all, a)
	}
	return all
}

// joinedIn reports whether a key attribute of the index joins a component with
// others.
func (l *linter) joinedIn(e *model.Entity, v *view, name string) bool {
	return slices.ContainsFunc(v.all, func(a model.Attribute) bool {
		t := e.Attribute(a.Name)
		return t.Template != nil && len(t.Template.Components()) > 1 && slices.Contains(t.Template.Components(), name)
	})
}

func numeric(t keys.Type) bool {
	switch t.Name {
	case "int", "signed", "decimal", "number":
		return true
	}
	return false
}

// sameOrder compares the order of rows with the order by their components. It
// returns the first two adjacent rows that would swap, and the number of rows
// compared.
func (l *linter) sameOrder(v *view, parts []keys.Part) (a, b *world.Item, checked int) {
	var last, now []byte
	for _, p := range v.Parts {
		last = last[:0]
		for i, r := range v.In(p) {
			now = now[:0]
			for _, c := range parts {
				value, ok := component(c, r.Item.Values.Get(c.Name))
				if !ok {
					return nil, nil, 0
				}
				now = item.AppendKey(now, value)
			}
			if i > 0 && bytes.Compare(last, now) > 0 {
				return v.Rows[p.From+i-1].Item, r.Item, checked
			}
			last, now = now, last
			checked++
		}
	}
	return nil, nil, checked
}

// component returns a component's value as an attribute value.
func component(p keys.Part, s string) (attr.Value, bool) {
	if numeric(p.Type) {
		v, err := attr.NewNumber(s)
		return v, err == nil
	}
	part, err := p.Type.Encode(s)
	return attr.NewString(part), err == nil
}
