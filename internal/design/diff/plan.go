package diff

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/text"
)

// add adds a step with the given text. It sets the step's items, units and cost from n.
func (p *planner) add(s Step, n amount, format string, args ...any) {
	s.Do, s.Items, s.Units = fmt.Sprintf(format, args...), n.count(), math.Ceil(n.units)
	if b := p.is.Bill; b != nil && s.Units > 0 {
		s.Cost = b.Requests(0, s.Units)
		s.money = b.Money(s.Cost)
	}
	p.all = append(p.all, s)
}

// An amount is a number of items at the declared scale, and the write units for them.
type amount struct{ items, units float64 }

func (n amount) count() int { return int(math.Round(n.items)) }

// String returns the number of items, such as "2 items". If the amount has only examples, it returns "the items".
func (n amount) String() string {
	if n.count() == 0 {
		return "the items"
	}
	return text.Count(n.count(), "item")
}

// take adds up the items for which units returns more than 0, and their write units. It returns false if there are no
// such items.
func take(items []*moved, units func(v *moved) float64) (sum amount, ok bool) {
	for _, v := range items {
		if u := units(v); u > 0 {
			sum.items += v.times
			sum.units += u * v.times
			ok = true
		}
	}
	return sum, ok
}

// steps sets the plan, in this order: create what is new; make the program write both forms; give existing items
// their new form; switch the program; remove what is old.
func (p *planner) steps() {
	old := p.was.Dataset.Model
	sources := p.sources()
	for _, s := range sources {
		if s.entity != nil && p.isGone(s.entity) {
			p.add(
				Step{Kind: Retire, Table: s.table.Name, Entity: s.name}, amount{},
				"stop writing %s, which the new version does not have", s.called,
			)
		}
	}
	both(old.Tables, p.target.Tables, tableName, func(a, b *model.Table) {
		if a != nil && b != nil && a.TTL != "" && a.TTL != b.TTL {
			p.add(
				Step{Kind: StopExpiring, Table: b.Name}, amount{},
				"turn off time to live of table %s by %s", b.Name, a.TTL,
			)
		}
	})
	both(old.Tables, p.target.Tables, tableName, func(a, b *model.Table) {
		switch {
		case a == nil:
			p.add(Step{Kind: CreateTable, Table: b.Name}, amount{}, "create table %s with all its indexes", b.Name)
		case b != nil:
			p.createIndexes(sources, a, b)
		}
	})

	for _, s := range sources {
		p.writeBoth(s)
	}
	for _, s := range sources {
		p.backfill(s)
	}
	p.switches()
	p.removals(sources)
	both(old.Tables, p.target.Tables, tableName, func(a, b *model.Table) {
		if b != nil && b.TTL != "" && (a == nil || a.TTL != b.TTL) {
			p.add(Step{Kind: Expire, Table: b.Name}, amount{}, "turn on time to live of table %s by %s", b.Name, b.TTL)
		}
	})
}

// isGone reports whether the new version has no item of an entity of the old version.
func (p *planner) isGone(e *model.Entity) bool {
	stays := func(v moved) bool { return v.was.Entity == e && v.table != nil }
	return p.pairs[e] == nil && !slices.ContainsFunc(p.items, stays)
}

// A source is a group of old items that the steps move together: the items of an entity, or the raw items of a table.
type source struct {
	entity *model.Entity
	table  *model.Table
	// name is the entity's name in steps, see [planner.nameOf]; "" for raw items.
	name string
	// called names the items in sentences. written names what the program writes for them.
	called, written string
	items           []*moved
}

// sources returns all sources, in the order of the old version.
func (p *planner) sources() (all []source) {
	for _, e := range p.was.Dataset.Model.Entities {
		s := source{entity: e, table: e.Table, name: p.nameOf(e)}
		s.called = s.name
		if other := p.was.Dataset.Model.Entity(s.name); other != nil && other != e {
			s.called = fmt.Sprintf("%s (until now %s)", s.name, e.Name)
		} else if p.pairs[e] == nil && p.target.Entity(e.Name) != nil {
			s.called = "the old " + e.Name
		}
		s.written = s.called
		all = append(all, s)
	}
	for _, t := range p.was.Dataset.Model.Tables {
		all = append(all, source{table: t, called: nameOf(nil), written: "what is of no entity"})
	}
	for i := range p.items {
		v := &p.items[i]
		at := slices.IndexFunc(all, func(s source) bool { return v.was.Entity == s.entity && v.was.Table == s.table })
		if at >= 0 {
			all[at].items = append(all[at].items, v)
		}
	}
	return all
}

// nameOf returns the new name of an entity. If the entity is gone, split or merged with another, it returns the old
// name.
func (p *planner) nameOf(e *model.Entity) string {
	pr := p.pairs[e]
	shared := func(other *pair) bool { return other != pr && other.is == pr.is }
	switch {
	case pr == nil:
	case slices.ContainsFunc(p.splits[e], func(other *pair) bool { return p.parts[other.is] }):
	case slices.ContainsFunc(slices.Collect(maps.Values(p.pairs)), shared):
	default:
		return pr.is.Name
	}
	return e.Name
}

// createIndexes adds the steps that create the new indexes of a table.
func (p *planner) createIndexes(sources []source, a, b *model.Table) {
	var items []*moved
	for _, s := range sources {
		if s.table == a {
			items = append(items, s.items...)
		}
	}
	for _, y := range b.Indexes {
		if a.Index(y.Name) != nil {
			continue
		}
		n, _ := take(items, func(v *moved) float64 { return rowUnits(b, y, v.was.Attributes) })
		p.add(
			Step{Kind: CreateIndex, Table: b.Name, Index: y.Name}, n,
			"create index %s of table %s; the service fills it with the items that have its keys", y.Name, b.Name,
		)
	}
}

// rowUnits returns the write units of an item's row in an index, or 0 if the index has no row for the item.
func rowUnits(t *model.Table, x *model.Index, it attr.Item) float64 {
	if size, ok := t.RowSize(x, it); ok {
		return table.WriteUnits(size)
	}
	return 0
}

// unitsOf returns the write units to put or delete an item in a table with the given indexes.
func unitsOf(t *model.Table, it attr.Item, indexes []*model.Index) float64 {
	sum := table.WriteUnits(it.Size())
	for _, x := range indexes {
		sum += rowUnits(t, x, it)
	}
	return sum
}

// setUnits returns the write units to set or remove the named attributes of an item. It counts only those indexes
// that have one of the attributes.
func setUnits(t *model.Table, it attr.Item, indexes []*model.Index, names []string) float64 {
	sum := table.WriteUnits(it.Size())
	for _, x := range indexes {
		if touches(x, names) {
			sum += rowUnits(t, x, it)
		}
	}
	return sum
}

// touches reports whether an index has one of the named attributes in its key or projection.
func touches(x *model.Index, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return x.Projection == "ALL" || slices.Contains(x.Include, name) ||
			slices.ContainsFunc(x.Keys(), func(a model.Attribute) bool { return a.Name == name })
	})
}

// meanwhile returns the indexes that a table has until the plan deletes the old ones: those of the target and those
// of the old version.
func (p *planner) meanwhile(t *model.Table) []*model.Index {
	indexes := slices.Clone(t.Indexes)
	if old := p.was.Dataset.Model.Table(t.Name); old != nil {
		for _, x := range old.Indexes {
			if t.Index(x.Name) == nil {
				indexes = append(indexes, x)
			}
		}
	}
	return indexes
}

func list(names []string) string { return text.Join(names, "and") }

// attributes returns the attributes that items gain or lose without a change of key. of is moved.gains or
// moved.loses.
func (s source) attributes(of func(*moved) []string) []string {
	all := map[string]bool{}
	for _, v := range s.items {
		if v.kept {
			for _, name := range of(v) {
				all[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// goes returns the table to which the plan moves items of the source under new keys. It returns nil if all items keep
// their keys.
func (s source) goes() *model.Table {
	for _, v := range s.items {
		if v.table != nil && !v.kept {
			return v.table
		}
	}
	return nil
}

// writeBoth adds the steps after which the program writes items in both forms.
func (p *planner) writeBoth(s source) {
	if to := s.goes(); to != nil {
		where := "under its new keys too"
		if to.Name != s.table.Name {
			where = "to " + to.Name + " too"
		}
		p.add(
			Step{Kind: WriteBoth, Table: to.Name, Entity: s.name}, amount{},
			"write %s %s, wherever the program writes or deletes it", s.written, where,
		)
	}
	if names := s.attributes((*moved).gains); len(names) > 0 {
		p.add(
			Step{Kind: WriteBoth, Table: s.table.Name, Entity: s.name, Attributes: names}, amount{},
			"write %s of %s too, wherever the program writes it", list(names), s.called,
		)
	}
}

// backfill adds the steps that give existing items their new form.
func (p *planner) backfill(s source) {
	if to := s.goes(); to != nil {
		n, _ := take(s.items, func(v *moved) float64 {
			if v.table == nil || v.kept {
				return 0
			}
			return unitsOf(v.table, v.item, p.meanwhile(v.table))
		})
		where := text.Agree(n.count(), "under its new key", "under their new keys")
		if to.Name != s.table.Name {
			where = "into " + to.Name
		}
		p.add(
			Step{Kind: PutItems, Table: to.Name, Entity: s.name}, n,
			"put %s of %s %s%s, unless a key is there already", n, s.called, where, p.lacking(s),
		)
	}

	if names := s.attributes((*moved).gains); len(names) > 0 {
		n, _ := take(s.items, func(v *moved) float64 {
			if !v.kept || len(v.gains()) == 0 {
				return 0
			}
			return setUnits(v.table, v.both(), p.meanwhile(v.table), v.gains())
		})
		p.add(
			Step{Kind: SetItems, Table: s.table.Name, Entity: s.name, Attributes: names}, n,
			"set %s of %s of %s%s, unless %s set already", list(names), n, s.called, p.lacking(s),
			text.Agree(len(names), "it is", "they are"),
		)
	}
}

// lacking describes values with a problem: the old version lacks them, the new version may be unable to write them,
// or their text changes.
func (p *planner) lacking(s source) (all string) {
	if fresh := s.fields(func(v *moved) []string { return v.fresh }); len(fresh) > 0 {
		all = ", with values for " + list(fresh) + ", which the old version does not have"
	}
	if unsure := s.fields(func(v *moved) []string { return v.unsure }); len(unsure) > 0 {
		all += ", once each " + list(unsure) + " has a value that the new version can write"
	}
	pr := p.pairs[s.entity]
	for _, v := range s.items {
		if v.times == 0 || pr == nil || v.table == nil || pr.is.Name != v.entity.Name {
			continue
		}
		if field, was, is := v.rewritten(pr); field != "" {
			return all + fmt.Sprintf(", where %s %s becomes %s", field, text.Quote(was), text.Quote(is))
		}
	}
	return all
}

// fields calls of for each item that is not an example, and returns the first result that is not empty.
func (s source) fields(of func(*moved) []string) []string {
	for _, v := range s.items {
		if v.times > 0 && len(of(v)) > 0 {
			return of(v)
		}
	}
	return nil
}

// unkept names the old fields that the new version drops. If the new version needs no new values, unkept returns "":
// only new values may have to be computed from the old fields.
func (p *planner) unkept(s source) string {
	if s.entity == nil || len(s.fields(func(v *moved) []string { return v.fresh })) == 0 {
		return ""
	}
	pr := p.pairs[s.entity]
	if pr == nil {
		return ""
	}
	var gone []string
	for _, f := range s.entity.Fields {
		stays := false
		for _, old := range pr.from {
			stays = stays || old == f.Name
		}
		if !stays {
			gone = append(gone, f.Name)
		}
	}
	if len(gone) == 0 {
		return ""
	}
	return fmt.Sprintf("; the new version has no value of %s", list(gone))
}

// switches adds the steps that switch the program to the new version. They name the patterns that send another
// request or read items of another form. If there are no such patterns, they name the entities whose old form the
// plan removes.
func (p *planner) switches() {
	var changed, gone, entities []string
	both(p.was.Dataset.Model.Patterns, p.target.Patterns, patternName, func(a, b *model.Pattern) {
		switch {
		case b == nil:
			gone = append(gone, a.Name)
		case a == nil || p.differs(a, b) || b.Entity != nil && p.rewritten(b.Entity):
			changed = append(changed, b.Name)
		}
	})
	for _, e := range p.target.Entities {
		if p.rewritten(e) {
			entities = append(entities, e.Name)
		}
	}
	quoted := func(names []string) string {
		var all []string
		for _, name := range names {
			all = append(all, `"`+name+`"`)
		}
		return list(all)
	}
	switch {
	case len(changed) > 0:
		p.add(
			Step{Kind: Switch, Patterns: changed}, amount{},
			"switch the program to the new version of %s", quoted(changed),
		)
	case len(entities) > 0:
		p.add(Step{Kind: Switch}, amount{}, "switch the program to the new version of %s", list(entities))
	}
	if len(gone) > 0 {
		p.add(
			Step{Kind: StopAsking, Patterns: gone}, amount{}, "check that nothing asks for %s any more", quoted(gone),
		)
	}
}

func patternName(p *model.Pattern) string { return p.Name }

// differs reports whether a pattern changes between the versions: it sends other requests, or it writes or gets items
// whose form changes.
func (p *planner) differs(a, b *model.Pattern) bool {
	if a.IsWrite() && b.IsWrite() {
		rewritten := func(w model.Write) bool { return p.rewritten(w.Entity) }
		return slices.ContainsFunc(b.Writes, rewritten) || writeText(a) != writeText(b)
	}
	if b.Then != nil && p.rewritten(b.Then) {
		return true
	}
	return requestText(a) != requestText(b)
}

// requestText returns the requests of a pattern for its own values, as JSON.
func requestText(p *model.Pattern) string {
	parts, err := compile.Split(p)
	if err != nil {
		return err.Error()
	}
	s := ""
	for _, part := range parts {
		in, err := compile.PatternJSON(part)
		if err != nil {
			return err.Error()
		}
		s += string(in) + "\n"
	}
	return s
}

// rewritten reports whether the form of any existing item of an entity of the new version changes.
func (p *planner) rewritten(e *model.Entity) bool {
	return slices.ContainsFunc(p.items, func(v moved) bool {
		return v.entity != nil && v.entity.Name == e.Name && (!v.kept || len(v.gains())+len(v.loses()) > 0)
	})
}

// removals adds the steps that remove what is old. They remove tables and indexes before items, so that deleting the
// items costs less.
func (p *planner) removals(sources []source) {
	both(p.was.Dataset.Model.Tables, p.target.Tables, tableName, func(a, b *model.Table) {
		switch {
		case a == nil:
		case b == nil:
			p.add(Step{Kind: DeleteTable, Table: a.Name}, amount{}, "delete table %s%s", a.Name, lost(sources, a))
		default:
			for _, x := range a.Indexes {
				if b.Index(x.Name) == nil {
					p.add(
						Step{Kind: DeleteIndex, Table: a.Name, Index: x.Name}, amount{},
						"delete index %s of table %s", x.Name, a.Name,
					)
				}
			}
		}
	})

	for _, s := range sources {
		if t := p.target.Table(s.table.Name); t != nil { // without the table, the items are deleted with it
			p.remove(s, t)
		}
	}
}

// lost describes the items that are deleted with a table.
func lost(sources []source, t *model.Table) string {
	var all []string
	for _, s := range sources {
		n, ok := take(s.items, func(v *moved) float64 {
			if v.table != nil {
				return 0
			}
			return 1
		})
		if ok && s.table == t {
			all = append(all, fmt.Sprintf("%s of %s", n, s.called))
		}
	}
	if len(all) == 0 {
		return ""
	}
	return " with " + list(all)
}

// remove adds the steps that remove the old form of items from table t.
func (p *planner) remove(s source, t *model.Table) {
	leaving := func(gone bool) (amount, bool) {
		return take(s.items, func(v *moved) float64 {
			if v.kept || (v.table == nil) != gone {
				return 0
			}
			return unitsOf(t, v.was.Attributes, t.Indexes)
		})
	}
	if n, ok := leaving(true); ok && s.entity != nil {
		p.add(Step{Kind: DeleteItems, Table: t.Name, Entity: s.name}, n, "delete %s of %s", n, s.called)
	}
	if n, ok := leaving(false); ok {
		where := "under its old keys"
		if s.goes().Name != t.Name {
			where = "to table " + t.Name
		}
		p.add(
			Step{Kind: DeleteOld, Table: t.Name, Entity: s.name}, n,
			"stop writing %s %s, and delete %s there%s", s.written, where, n, p.unkept(s),
		)
	}

	names := s.attributes((*moved).loses)
	if len(names) == 0 {
		return
	}
	if p.unkept(s) != "" {
		p.add(
			Step{Kind: Keep, Table: t.Name, Entity: s.name, Attributes: names}, amount{},
			"stop writing %s of %s, but leave %[3]s in the items "+
				"until you know that the new version does not need %[3]s",
			list(names), s.called, text.Agree(len(names), "it", "them"),
		)
		return
	}
	n, _ := take(s.items, func(v *moved) float64 {
		if !v.kept || len(v.loses()) == 0 {
			return 0
		}
		return setUnits(t, v.both(), t.Indexes, v.loses())
	})
	p.add(
		Step{Kind: StopWriting, Table: t.Name, Entity: s.name, Attributes: names}, n,
		"stop writing %s of %s, and remove %s from %s", list(names), s.called,
		text.Agree(len(names), "it", "them"), n,
	)
}
