package diff

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/text"
)

// A Step is a step from one version of a design to the other.
type Step struct {
	Kind Kind   `json:"kind"`
	Do   string `json:"do"`
	// Table, Index, Entity and Attributes are what it is about; Patterns are those that change with it.
	Table      string   `json:"table,omitempty"`
	Index      string   `json:"index,omitempty"`
	Entity     string   `json:"entity,omitempty"`
	Attributes []string `json:"attributes,omitempty"`
	Patterns   []string `json:"patterns,omitempty"`
	// Items is the number of items that it concerns at the declared scale, and Units are the write units
	// that it takes. Cost is their price on demand, in the currency of the bill of the new version.
	Items int     `json:"items,omitempty"`
	Units float64 `json:"units,omitempty"`
	Cost  float64 `json:"cost,omitempty"`
	money string
}

// A Kind says what a step does.
type Kind string

// The kinds of steps, in the order in which they come: until [Switch] the requests of the old version
// read what they read before, and from then on those of the new version read all there is.
const (
	CreateTable  Kind = "create-table"  // with its indexes
	ReplaceTable Kind = "replace-table" // under another name: a key, or a local index, cannot change
	CreateIndex  Kind = "create-index"
	WriteBoth    Kind = "write-both" // write Attributes of Entity in the old and the new form
	SetItems     Kind = "set"        // set Attributes of the items of Entity that are there
	PutItems     Kind = "put"        // put the items of Entity under their new keys
	Switch       Kind = "switch"     // use the new requests of Patterns
	StopAsking   Kind = "stop-asking"
	StopWriting  Kind = "stop-writing" // stop writing Attributes of Entity, and remove them
	DeleteIndex  Kind = "delete-index"
	DeleteTable  Kind = "delete-table"
	DeleteOld    Kind = "delete-old"   // delete the items of Entity under their old keys
	DeleteItems  Kind = "delete-items" // delete all items of Entity
)

// backfillRate is the rate of write units at which the time of a step is given, that of one partition.
const backfillRate = 1000

// Time returns how long the step takes at 1,000 write units a second.
func (s Step) Time() time.Duration {
	return time.Duration(s.Units / backfillRate * float64(time.Second)).Round(time.Second)
}

// A planner makes the plan: what is new first, then both forms written, the items that are there
// changed, the reads switched, and what is old removed.
type planner struct {
	was, is Side
	all     []Step
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
	both(old.Tables, made.Tables, tableName, func(a, b *model.Table) {
		switch {
		case a == nil:
			p.add(Step{Kind: CreateTable, Table: b.Name}, 0, 0, "create table %s with all its indexes", b.Name)
		case b != nil && attributesText(a.Partition, a.Sort) != attributesText(b.Partition, b.Sort):
			p.add(Step{Kind: ReplaceTable, Table: b.Name}, 0, 0, "create a new table for %s: a key cannot change", b.Name)
		case b != nil:
			p.indexes(a, b)
		}
	})

	var changed []*model.Entity
	name := func(e *model.Entity) string { return e.Name }
	both(old.Entities, made.Entities, name, func(a, b *model.Entity) {
		if a != nil && b != nil && len(changedAttributes(a, b)) > 0 {
			changed = append(changed, b)
		}
	})
	for _, e := range changed {
		names := changedAttributes(old.Entity(e.Name), e)
		p.add(
			Step{Kind: WriteBoth, Table: e.Table.Name, Entity: e.Name, Attributes: names}, 0, 0,
			"write %s of %s in both forms, wherever the program writes them", list(names), e.Name,
		)
	}
	for _, e := range changed {
		p.backfill(old.Entity(e.Name), e)
	}
	p.switches()
	p.removals(changed)
	return p.all
}

func list(names []string) string { return text.Join(names, "and") }

// indexes adds the steps for new and changed indexes of a table.
func (p *planner) indexes(a, b *model.Table) {
	both(a.Indexes, b.Indexes, indexName, func(x, y *model.Index) {
		if y == nil || x != nil && indexText(x) == indexText(y) {
			return
		}
		if y.Local {
			p.add(
				Step{Kind: ReplaceTable, Table: b.Name, Index: y.Name}, 0, 0,
				"create a new table for %s: a local index exists from the beginning", b.Name,
			)
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
	old := p.was.World.Model.Entity(e.Name)
	if old == nil {
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
	step := Step{Kind: SetItems, Table: b.Table.Name, Entity: b.Name, Attributes: names}
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
	return slices.DeleteFunc(slices.Clone(was.Attributes), func(t *model.Template) bool { return is.Attribute(t.Name) != nil })
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
	for _, one := range d.Patterns {
		switch {
		case one.Is == nil:
			gone = append(gone, one.Name)
		case one.Request || one.Was == nil:
			changed = append(changed, one.Name)
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
		p.add(Step{Kind: Switch, Patterns: changed}, 0, 0, "switch the program to the new requests of %s", quoted(changed))
	}
	if len(gone) > 0 {
		p.add(Step{Kind: StopAsking, Patterns: gone}, 0, 0, "check that nothing asks for %s any more", quoted(gone))
	}
}

// removals adds the steps that remove what is old: indexes before items, so that deletes cost less.
func (p *planner) removals(changed []*model.Entity) {
	old, made := p.was.World.Model, p.is.World.Model
	both(old.Tables, made.Tables, tableName, func(a, b *model.Table) {
		if b == nil {
			p.add(Step{Kind: DeleteTable, Table: a.Name}, 0, 0, "delete table %s", a.Name)
			return
		}
		both(indexesOf(a), b.Indexes, indexName, func(x, y *model.Index) {
			if x != nil && !x.Local && (y == nil || indexText(x) != indexText(y)) {
				step := Step{Kind: DeleteIndex, Table: a.Name, Index: x.Name}
				p.add(step, 0, 0, "delete the old index %s of table %s", x.Name, a.Name)
			}
		})
	})
	for _, e := range changed {
		p.removeOld(old.Entity(e.Name), e)
	}
	for _, e := range old.Entities {
		if made.Entity(e.Name) == nil && made.Table(e.Table.Name) != nil {
			items, units := p.deletes(e, made.Table(e.Table.Name))
			step := Step{Kind: DeleteItems, Table: e.Table.Name, Entity: e.Name}
			p.add(step, items, units, "delete %s of %s", text.Count(items, "item"), e.Name)
		}
	}
}

// removeOld adds the step that removes the old form of the items of an entity.
func (p *planner) removeOld(a, b *model.Entity) {
	names := changedAttributes(a, b)
	if slices.ContainsFunc(names, b.Table.Has) {
		items, units := p.deletes(a, b.Table)
		step := Step{Kind: DeleteOld, Table: b.Table.Name, Entity: b.Name}
		p.add(step, items, units, "delete %s of %s under their old keys", text.Count(items, "item"), b.Name)
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
		sum := table.WriteUnits(it.Attributes.Size())
		for _, x := range from.Indexes {
			if size, ok := from.RowSize(x, it.Attributes); ok {
				sum += table.WriteUnits(size)
			}
		}
		return sum
	})
}

// Figures says what the step takes, or returns "".
func (s Step) Figures() string {
	var parts []string
	if s.Items > 0 {
		parts = append(parts, text.Count(s.Items, "item"))
	}
	if s.Units > 0 {
		parts = append(parts, text.Thousands(int(s.Units))+" write units")
		if s.Time() >= time.Second {
			parts = append(parts, s.Time().String()+" at 1,000 a second")
		}
		if s.money != "" {
			parts = append(parts, s.money+" on demand")
		}
	}
	return strings.Join(parts, ", ")
}
