package diff

import (
	"cmp"
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

// An amount is a number of items at the declared scale, and the write units for them. some is true if any item was
// added, even if it was only an example.
type amount struct {
	items, units float64
	some         bool
}

// add adds an item that stands for a number of items, with the write units of each.
func (n *amount) add(times, units float64) {
	n.items += times
	n.units += units * times
	n.some = true
}

func (n amount) count() int { return int(math.Round(n.items)) }

// String returns the number of items, such as "2 items". If the amount has only examples, it returns "the items".
func (n amount) String() string {
	if n.count() == 0 {
		return "the items"
	}
	return text.Count(n.count(), "item")
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
	eachName(old.Tables, p.target.Tables, tableName, func(a, b *model.Table) {
		if a != nil && b != nil && a.TTL != "" && a.TTL != b.TTL {
			p.add(
				Step{Kind: StopExpiring, Table: b.Name}, amount{},
				"turn off time to live of table %s by %s", b.Name, a.TTL,
			)
		}
	})
	eachName(old.Tables, p.target.Tables, tableName, func(a, b *model.Table) {
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
	p.putListed()
	eachName(old.Tables, p.target.Tables, tableName, func(a, b *model.Table) {
		if b != nil && b.TTL != "" && (a == nil || a.TTL != b.TTL) {
			p.add(Step{Kind: Expire, Table: b.Name}, amount{}, "turn on time to live of table %s by %s", b.Name, b.TTL)
		}
	})
}

// isGone reports whether nothing remains of an old entity: it became no new entity, and the plan deletes all its
// items.
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
	// called names the items in sentences, such as "the old Order". written names what the program writes for them.
	called, written string
	items           []*moved
	// to is the table into which the plan puts items under new keys. It is nil if all items keep their keys. gains
	// and loses are the names, sorted, of the attributes that items gain or lose while they keep their key.
	to           *model.Table
	gains, loses []string
	// put counts the items that get new keys, and old the items to delete under their old keys. set counts the items
	// that gain attributes, and unset those that lose some. gone counts the items that the new version does not have.
	put, old, set, unset, gone amount
	// fresh is moved.fresh of the first item that has any, and unsure is moved.unsure of the first that has any.
	// Examples do not count.
	fresh, unsure []string
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
			p.assign(&all[at], v)
		}
	}
	return all
}

// assign adds an item to a source, and counts it in the amounts of the steps that change the item.
func (p *planner) assign(s *source, v *moved) {
	s.items = append(s.items, v)
	if v.times > 0 && len(s.fresh) == 0 {
		s.fresh = v.fresh
	}
	if v.times > 0 && len(s.unsure) == 0 {
		s.unsure = v.unsure
	}
	var deleted float64
	if t := p.target.Table(s.table.Name); t != nil { // if the plan deletes the table, its items cost nothing
		deleted = unitsOf(t, v.was.Attributes, t.Indexes, nil)
	}
	switch {
	case v.table == nil:
		s.gone.add(v.times, deleted)
	case !v.kept:
		s.to = cmp.Or(s.to, v.table)
		s.put.add(v.times, unitsOf(v.table, v.item, p.meanwhile(v.table), nil))
		s.old.add(v.times, deleted)
	default:
		if names := v.gains(); len(names) > 0 {
			s.gains = union(s.gains, names)
			s.set.add(v.times, unitsOf(v.table, v.union(), p.meanwhile(v.table), names))
		}
		if names := v.loses(); len(names) > 0 {
			s.loses = union(s.loses, names)
			s.unset.add(v.times, unitsOf(v.table, v.union(), v.table.Indexes, names))
		}
	}
}

// union returns the names in either of two lists, sorted and each once.
func union(list, more []string) []string {
	all := slices.Concat(list, more)
	slices.Sort(all)
	return slices.Compact(all)
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
	for _, y := range b.Indexes {
		if a.Index(y.Name) != nil {
			continue
		}
		var n amount
		for _, s := range sources {
			for _, v := range s.items {
				if units := rowUnits(b, y, v.was.Attributes); s.table == a && units > 0 {
					n.add(v.times, units)
				}
			}
		}
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

// unitsOf returns the write units to put, change or delete an item in a table with the given indexes. names are the
// attributes that change, and only indexes that have one of them count; nil means all attributes.
func unitsOf(t *model.Table, it attr.Item, indexes []*model.Index, names []string) float64 {
	sum := table.WriteUnits(it.Size())
	for _, x := range indexes {
		if names == nil || touches(x, names) {
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

// writeBoth adds the steps after which the program writes items in both forms.
func (p *planner) writeBoth(s source) {
	if s.to != nil {
		where := "under its new keys too"
		if s.to.Name != s.table.Name {
			where = "to " + s.to.Name + " too"
		}
		p.add(
			Step{Kind: WriteBoth, Table: s.to.Name, Entity: s.name}, amount{},
			"write %s %s, wherever the program writes or deletes it", s.written, where,
		)
	}
	if len(s.gains) > 0 {
		p.add(
			Step{Kind: WriteBoth, Table: s.table.Name, Entity: s.name, Attributes: s.gains}, amount{},
			"write %s of %s too, wherever the program writes it", list(s.gains), s.called,
		)
	}
}

// backfill adds the steps that give existing items their new form.
func (p *planner) backfill(s source) {
	if s.to != nil {
		where := text.Agree(s.put.count(), "under its new key", "under their new keys")
		if s.to.Name != s.table.Name {
			where = "into " + s.to.Name
		}
		p.add(
			Step{Kind: PutItems, Table: s.to.Name, Entity: s.name}, s.put,
			"put %s of %s %s%s, unless a key is there already", s.put, s.called, where, p.lacking(s),
		)
	}
	if len(s.gains) > 0 {
		p.add(
			Step{Kind: SetItems, Table: s.table.Name, Entity: s.name, Attributes: s.gains}, s.set,
			"set %s of %s of %s%s, unless %s set already", list(s.gains), s.set, s.called, p.lacking(s),
			text.Agree(len(s.gains), "it is", "they are"),
		)
	}
}

// lacking returns text about values with a problem: the old version lacks them, the new version may be unable to
// write them, or their text changes.
func (p *planner) lacking(s source) (all string) {
	if len(s.fresh) > 0 {
		all = ", with values for " + list(s.fresh) + ", which the old version does not have"
		if names := p.dropped(s); len(names) > 0 {
			all += ", except perhaps as " + list(names)
		}
	}
	if len(s.unsure) > 0 {
		all += ", once each " + list(s.unsure) + " has a value that the new version can write"
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

// dropped returns the old fields that the new version drops. If the new version needs no new values, it returns nil:
// only new values may have to be computed from the old fields.
func (p *planner) dropped(s source) (names []string) {
	pr := p.pairs[s.entity]
	if pr == nil || len(s.fresh) == 0 {
		return nil
	}
	stays := slices.Collect(maps.Values(pr.from))
	for _, f := range s.entity.Fields {
		if !slices.Contains(stays, f.Name) {
			names = append(names, f.Name)
		}
	}
	return names
}

// switches adds the steps that switch the program to the new version. They name the patterns that send another
// request or read items of another form. If there are no such patterns, they name the entities whose old form the
// plan removes.
func (p *planner) switches() {
	var changed, gone, entities []string
	eachName(p.was.Dataset.Model.Patterns, p.target.Patterns, patternName, func(a, b *model.Pattern) {
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

// rewritten reports whether the plan changes the form of an existing item of an entity of the new version.
func (p *planner) rewritten(e *model.Entity) bool {
	return slices.ContainsFunc(p.items, func(v moved) bool {
		return v.entity != nil && v.entity.Name == e.Name && (!v.kept || len(v.gains())+len(v.loses()) > 0)
	})
}

// removals adds the steps that remove what is old. They remove tables and indexes before items, so that deleting the
// items costs less.
func (p *planner) removals(sources []source) {
	eachName(p.was.Dataset.Model.Tables, p.target.Tables, tableName, func(a, b *model.Table) {
		switch {
		case a == nil:
		case b == nil:
			p.add(Step{Kind: DeleteTable, Table: a.Name}, amount{}, "%s", deletion(sources, a))
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
		if t := p.target.Table(s.table.Name); t != nil { // if the plan deletes the table, its items need no steps
			p.remove(s, t)
		}
	}
}

// deletion returns the text of the step that deletes a table. It says which items are deleted with the table, and
// whether the program must first stop writing to it.
func deletion(sources []source, t *model.Table) string {
	step, lost := "delete table "+t.Name, []string(nil)
	for _, s := range sources {
		if s.table != t {
			continue
		}
		if s.old.some {
			step = "stop writing to table " + t.Name + ", and delete it"
		}
		if s.gone.some {
			lost = append(lost, fmt.Sprintf("%s of %s", s.gone, s.called))
		}
	}
	if len(lost) == 0 {
		return step
	}
	return step + " with " + list(lost)
}

// remove adds the steps that remove the old form of items from table t.
func (p *planner) remove(s source, t *model.Table) {
	if s.gone.some && s.entity != nil {
		p.add(Step{Kind: DeleteItems, Table: t.Name, Entity: s.name}, s.gone, "delete %s of %s", s.gone, s.called)
	}
	if s.old.some {
		where, dropped := "under its old keys", ""
		if s.to.Name != t.Name {
			where = "to table " + t.Name
		}
		if names := p.dropped(s); len(names) > 0 {
			dropped = "; the new version has no value of " + list(names)
		}
		p.add(
			Step{Kind: DeleteOld, Table: t.Name, Entity: s.name}, s.old,
			"stop writing %s %s, and delete %s there%s", s.written, where, s.old, dropped,
		)
	}

	it := text.Agree(len(s.loses), "it", "them")
	step := Step{Kind: StopWriting, Table: t.Name, Entity: s.name, Attributes: s.loses}
	switch {
	case len(s.loses) == 0:
	case len(p.dropped(s)) > 0:
		step.Kind = Keep
		p.add(
			step, amount{},
			"stop writing %s of %s, but leave %[3]s in the items "+
				"until you know that the new version does not need %[3]s", list(s.loses), s.called, it,
		)
	default:
		p.add(
			step, s.unset, "stop writing %s of %s, and remove %s from %s", list(s.loses), s.called, it, s.unset,
		)
	}
}

// putListed adds a step for each table in which the new version lists raw items that the old version does not have or
// has with other attributes. The step comes after the switch, because until then the old version could read such an
// item.
func (p *planner) putListed() {
	has := map[string]*moved{}
	for i := range p.items {
		if v := &p.items[i]; v.table != nil && v.times > 0 {
			has[place(v.table, v.item)] = v
		}
	}
	for _, t := range p.target.Tables {
		var n amount
		for _, r := range p.target.Items {
			v := has[place(t, r.Item)]
			if r.Table == t && (v == nil || v.entity == nil && !v.item.Equal(r.Item)) {
				n.add(1, 0)
			}
		}
		if n.some {
			step := Step{Kind: PutListed, Table: t.Name}
			p.add(
				step, n, "put %s of no entity into table %s as the new version lists %s", n, t.Name,
				text.Agree(n.count(), "it", "them"),
			)
		}
	}
}
