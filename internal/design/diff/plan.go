package diff

import (
	"fmt"
	"math"
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/text"
)

// A planner makes the plan: what is new first, then both forms written, the items that are there
// changed, the reads switched, and what is old removed.
type planner struct {
	was, is  Side
	all      []Step
	before   map[*model.Entity]*model.Entity // the old version of each entity of the new model
	replaced map[string]bool                 // tables that are made anew
}

// add adds a step, with what it takes and a text.
func (p *planner) add(s Step, items int, units float64, format string, args ...any) {
	s.Do, s.Items, s.Units = fmt.Sprintf(format, args...), items, math.Ceil(units)
	if b := p.is.Bill; b != nil && s.Units > 0 {
		s.Cost = b.Requests(0, s.Units)
		s.money = b.Money(s.Cost)
	}
	p.all = append(p.all, s)
}

func (p *planner) steps() []Step {
	old, made := p.was.World.Model, p.is.World.Model
	p.before, p.replaced = pairs(old, made), map[string]bool{}
	both(old.Tables, made.Tables, tableName, func(a, b *model.Table) {
		if a != nil && b != nil && a.TTL != "" && a.TTL != b.TTL && replacement(a, b) == "" {
			step := Step{Kind: StopExpiring, Table: b.Name}
			p.add(step, 0, 0, "turn off time to live of table %s by %s", b.Name, a.TTL)
		}
	})
	both(old.Tables, made.Tables, tableName, func(a, b *model.Table) {
		switch {
		case b == nil:
		case a == nil:
			p.add(Step{Kind: CreateTable, Table: b.Name}, 0, 0, "create table %s with all its indexes", b.Name)
		case replacement(a, b) != "":
			p.replaced[b.Name] = true
			p.add(
				Step{Kind: ReplaceTable, Table: b.Name}, 0, 0,
				"create a new table for %s under another name, with all its indexes: %s", b.Name, replacement(a, b),
			)
		default:
			p.indexes(a, b)
		}
	})

	var changed []*model.Entity
	for _, e := range made.Entities {
		if a := p.before[e]; a != nil && (p.moves(e) || len(changedAttributes(a, e)) > 0) {
			changed = append(changed, e)
		}
	}
	for _, e := range changed {
		p.writeBoth(e)
	}
	for _, e := range changed {
		p.backfill(p.before[e], e)
	}
	p.putOthers()
	p.switches()
	p.removals()
	both(old.Tables, made.Tables, tableName, func(a, b *model.Table) {
		if b != nil && b.TTL != "" && (a == nil || a.TTL != b.TTL || p.replaced[b.Name]) {
			p.add(Step{Kind: Expire, Table: b.Name}, 0, 0, "turn on time to live of table %s by %s", p.nameOf(b), b.TTL)
		}
	})
	return p.all
}

// moves reports whether the items of an entity go to another table, or to a new one for theirs.
func (p *planner) moves(e *model.Entity) bool {
	return p.before[e].Table.Name != e.Table.Name || p.replaced[e.Table.Name]
}

// nameOf names a table of the new version.
func (p *planner) nameOf(t *model.Table) string {
	if p.replaced[t.Name] {
		return "the new table for " + t.Name
	}
	return t.Name
}

// writeBoth adds the step from which on the program writes an entity in both forms.
func (p *planner) writeBoth(e *model.Entity) {
	step := Step{Kind: WriteBoth, Table: e.Table.Name, Entity: e.Name}
	if p.moves(e) {
		p.add(step, 0, 0, "write %s to %s too, wherever the program writes it", e.Name, p.nameOf(e.Table))
		return
	}
	step.Attributes = changedAttributes(p.before[e], e)
	p.add(step, 0, 0, "write %s of %s in both forms, wherever the program writes them", list(step.Attributes), e.Name)
}

// putOthers adds the steps that put the items of no entity into new tables.
func (p *planner) putOthers() {
	for _, t := range p.is.World.Model.Tables {
		if !p.replaced[t.Name] {
			continue
		}
		items, units := p.rows(p.is.World, func(it *world.Item) float64 {
			if it.Entity != nil || it.Table != t {
				return 0
			}
			return unitsOf(t, it.Attributes, t.Indexes)
		})
		if items > 0 {
			step := Step{Kind: PutItems, Table: t.Name}
			p.add(step, items, units, "put %s of no entity into %s", text.Count(items, "item"), p.nameOf(t))
		}
	}
}

// unitsOf returns the write units of an item in a table with indexes.
func unitsOf(t *model.Table, it attr.Item, indexes []*model.Index) float64 {
	sum := table.WriteUnits(it.Size())
	for _, x := range indexes {
		if size, ok := t.RowSize(x, it); ok {
			sum += table.WriteUnits(size)
		}
	}
	return sum
}

func list(names []string) string { return text.Join(names, "and") }

// indexes adds the steps for new and changed indexes of a table.
func (p *planner) indexes(a, b *model.Table) {
	both(a.Indexes, b.Indexes, indexName, func(x, y *model.Index) {
		if y == nil || x != nil && indexText(x) == indexText(y) {
			return
		}
		items, units := p.rows(p.is.World, func(it *world.Item) float64 {
			if it.Table != b || !p.keeps(it.Entity, y) {
				return 0
			}
			if size, ok := b.RowSize(y, it.Attributes); ok {
				return table.WriteUnits(size)
			}
			return 0
		})
		name := y.Name
		if x != nil {
			name += " under another name, as an index cannot change,"
		}
		p.add(
			Step{Kind: CreateIndex, Table: b.Name, Index: y.Name}, items, units,
			"create index %s of table %s; the service fills it with the items that have its keys", name, b.Name,
		)
	})
}

// keeps reports whether the items of an entity have the keys of an index already: otherwise they enter it
// when they are changed. Items of no entity are as they were.
func (p *planner) keeps(e *model.Entity, x *model.Index) bool {
	if e == nil {
		return true
	}
	old := p.before[e]
	if old == nil || p.moves(e) {
		return false
	}
	changed := changedAttributes(old, e)
	return !slices.ContainsFunc(x.Keys(), func(a model.Attribute) bool { return slices.Contains(changed, a.Name) })
}

// rows returns how many items at the declared scale have units, and how many in all.
func (p *planner) rows(w *world.World, units func(*world.Item) float64) (items int, sum float64) {
	n := 0.0
	for i := range w.Items {
		if u := units(&w.Items[i]); u > 0 {
			times := w.Represents(&w.Items[i])
			n += times
			sum += u * times
		}
	}
	return int(math.Round(n)), sum
}

// changedAttributes returns the attributes of an entity that another version makes in another way.
func changedAttributes(a, b *model.Entity) (names []string) {
	for _, t := range b.Attributes {
		if templateText(a.Attribute(t.Name)) != templateText(t) {
			names = append(names, t.Name)
		}
	}
	return names
}

// backfill adds the step that changes the items of an entity.
func (p *planner) backfill(a, b *model.Entity) {
	names := changedAttributes(a, b)
	step := Step{Kind: SetItems, Table: b.Table.Name, Entity: b.Name, Attributes: names}
	if p.moves(b) {
		indexes := b.Table.Indexes
		if old := p.was.World.Model.Table(b.Table.Name); old != nil && !p.replaced[old.Name] {
			indexes = slices.Concat(indexes, leaving(old, b.Table))
		}
		items, units := p.rows(p.is.World, func(it *world.Item) float64 {
			if it.Entity != b {
				return 0
			}
			return unitsOf(b.Table, it.Attributes, indexes)
		})
		step.Kind, step.Attributes = PutItems, nil
		p.add(step, items, units, "put %s of %s into %s", text.Count(items, "item"), b.Name, p.nameOf(b.Table))
		return
	}

	moved := slices.ContainsFunc(names, b.Table.Has)
	leaving := leaving(a.Table, b.Table)
	items, units := p.rows(p.is.World, func(it *world.Item) float64 {
		if it.Entity != b {
			return 0
		}
		written := it.Attributes
		if !moved {
			written = inBothForms(a, it)
		}
		sum := table.WriteUnits(written.Size())
		for _, x := range slices.Concat(b.Table.Indexes, leaving) {
			if size, ok := b.Table.RowSize(x, written); ok && (moved || touches(x, names)) {
				sum += table.WriteUnits(size)
			}
		}
		return sum
	})
	if moved {
		step.Kind = PutItems
		p.add(step, items, units, "put %s of %s under their new keys", text.Count(items, "item"), b.Name)
		return
	}

	p.add(step, items, units, "set %s of %s of %s that are there", list(names), text.Count(items, "item"), b.Name)
}

// leaving returns the indexes of a table that another version does not have, or has in another form. They
// are deleted last.
func leaving(was, is *model.Table) []*model.Index {
	return slices.DeleteFunc(slices.Clone(was.Indexes), func(x *model.Index) bool {
		y := is.Index(x.Name)
		return y != nil && indexText(x) == indexText(y)
	})
}

// inBothForms returns an item with the attributes too that only the old version of its entity has.
func inBothForms(old *model.Entity, it *world.Item) attr.Item {
	var b model.ItemBuilder
	for name, v := range it.Attributes.All() {
		b.AddBytes(name, v)
	}
	_ = old.Add(&b, gone(old, it.Entity), it.Values.Map(), nil, false) // those for which it has fields
	return b.Item()
}

// gone returns the attributes of an entity that another version does not have.
func gone(was, is *model.Entity) []*model.Template {
	return slices.DeleteFunc(slices.Clone(was.Attributes), func(t *model.Template) bool {
		return is.Attribute(t.Name) != nil
	})
}

// touches reports whether an index has one of some attributes.
func touches(x *model.Index, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return x.Projection == "ALL" || slices.Contains(x.Include, name) ||
			slices.ContainsFunc(x.Keys(), func(a model.Attribute) bool { return a.Name == name })
	})
}

// switches adds the steps that change the reads.
func (p *planner) switches() {
	var d Diff
	d.patterns(p.was.Result, p.is.Result)
	var changed, gone []string
	for i := range p.is.Result.Patterns {
		pr := &p.is.Result.Patterns[i]
		at := slices.IndexFunc(d.Patterns, func(one Pattern) bool { return one.Name == pr.Pattern.Name })
		if at >= 0 && (d.Patterns[at].Request || d.Patterns[at].Was == nil) || p.renamed(pr) {
			changed = append(changed, pr.Pattern.Name)
		}
	}

	for _, one := range d.Patterns {
		if one.Is == nil {
			gone = append(gone, one.Name)
		}
	}

	quoted := func(names []string) string {
		var all []string
		for _, name := range names {
			all = append(all, `"`+name+`"`)
		}
		return list(all)
	}
	if len(changed) > 0 {
		p.add(
			Step{Kind: Switch, Patterns: changed}, 0, 0,
			"switch the program to the new requests of %s", quoted(changed),
		)
	}

	if len(gone) > 0 {
		p.add(Step{Kind: StopAsking, Patterns: gone}, 0, 0, "check that nothing asks for %s any more", quoted(gone))
	}
}

// renamed reports whether a pattern uses a table or an index that is made anew, under another name.
func (p *planner) renamed(pr *check.PatternResult) bool {
	q := pr.Pattern
	if slices.ContainsFunc(q.Writes, func(w model.Write) bool { return p.replaced[w.Entity.Table.Name] }) {
		return true
	}
	if q.Then != nil && p.replaced[q.Then.Table.Name] {
		return true
	}
	if pr.Total == nil {
		return false
	}
	if p.replaced[pr.Total.Table] {
		return true
	}
	a, b := p.was.World.Model.Table(pr.Total.Table), p.is.World.Model.Table(pr.Total.Table)
	if a == nil || b == nil {
		return false
	}
	x, y := a.Index(pr.Total.Index), b.Index(pr.Total.Index)
	return x != nil && y != nil && indexText(x) != indexText(y)
}

// removals adds the steps that remove what is old: tables and indexes before items, so that deletes cost
// less.
func (p *planner) removals() {
	old, made := p.was.World.Model, p.is.World.Model
	both(old.Tables, made.Tables, tableName, func(a, b *model.Table) {
		switch {
		case a == nil:
			return
		case b == nil:
			p.add(Step{Kind: DeleteTable, Table: a.Name}, 0, 0, "delete table %s", a.Name)
			return
		case p.replaced[a.Name]:
			p.add(Step{Kind: DeleteTable, Table: a.Name}, 0, 0, "delete the old table %s", a.Name)
			return
		}
		both(a.Indexes, b.Indexes, indexName, func(x, y *model.Index) {
			if x != nil && (y == nil || indexText(x) != indexText(y)) {
				step := Step{Kind: DeleteIndex, Table: a.Name, Index: x.Name}
				p.add(step, 0, 0, "delete the old index %s of table %s", x.Name, a.Name)
			}
		})
	})

	kept := map[*model.Entity]bool{}
	for _, e := range made.Entities {
		if a := p.before[e]; a != nil {
			kept[a] = true
			p.removeOld(a, e)
		}
	}

	for _, e := range old.Entities {
		if t := made.Table(e.Table.Name); !kept[e] && t != nil && !p.replaced[t.Name] {
			items, units := p.deletes(e, t)
			step := Step{Kind: DeleteItems, Table: e.Table.Name, Entity: e.Name}
			p.add(step, items, units, "delete %s of %s", text.Count(items, "item"), e.Name)
		}
	}
}

// removeOld adds the step that removes the old form of the items of an entity.
func (p *planner) removeOld(a, b *model.Entity) {
	names := changedAttributes(a, b)
	step := Step{Kind: DeleteOld, Table: a.Table.Name, Entity: b.Name}
	from := p.is.World.Model.Table(a.Table.Name)
	switch {
	case p.moves(b) && (from == nil || p.replaced[from.Name]):
		return // they go with their table
	case p.moves(b):
		items, units := p.deletes(a, from)
		p.add(
			step, items, units, "stop writing %s to table %s, and delete its %s there", b.Name, from.Name,
			text.Count(items, "item"),
		)
		return
	case slices.ContainsFunc(names, b.Table.Has):
		items, units := p.deletes(a, b.Table)
		p.add(
			step, items, units, "stop writing %s under its old keys, and delete its %s there", b.Name,
			text.Count(items, "item"),
		)
		return
	}

	var unused []string
	for _, t := range gone(a, b) {
		unused = append(unused, t.Name)
	}
	if len(unused) == 0 {
		return
	}

	items, units := p.rows(p.is.World, func(it *world.Item) float64 {
		if it.Entity != b {
			return 0
		}
		written := inBothForms(a, it)
		sum := table.WriteUnits(written.Size())
		for _, x := range b.Table.Indexes {
			if size, ok := b.Table.RowSize(x, written); ok && touches(x, unused) {
				sum += table.WriteUnits(size)
			}
		}
		return sum
	})
	p.add(
		Step{Kind: StopWriting, Table: b.Table.Name, Entity: b.Name, Attributes: unused}, items, units,
		"stop writing %s of %s, and remove it from the items", list(unused), b.Name,
	)
}

// deletes returns how many items of an entity of the old version there are, and the units that it takes
// to delete them from a table of the new version.
func (p *planner) deletes(e *model.Entity, from *model.Table) (items int, units float64) {
	return p.rows(p.was.World, func(it *world.Item) float64 {
		if it.Entity != e {
			return 0
		}
		return unitsOf(from, it.Attributes, from.Indexes)
	})
}
