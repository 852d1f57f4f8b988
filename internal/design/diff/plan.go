package diff

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/text"
)

// A Step is a step from one version of a design to the other.
type Step struct {
	Do string `json:"do"`
	// Items is the number of items that it concerns at the declared scale, and Units are the write units
	// that it takes.
	Items int     `json:"items,omitempty"`
	Units float64 `json:"units,omitempty"`
}

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

func (p *planner) add(items int, units float64, format string, args ...any) {
	p.all = append(p.all, Step{fmt.Sprintf(format, args...), items, math.Ceil(units)})
}

func (p *planner) steps() []Step {
	old, made := p.was.World.Model, p.is.World.Model
	both(old.Tables, made.Tables, tableName, func(a, b *model.Table) {
		switch {
		case a == nil:
			p.add(0, 0, "create table %s with all its indexes", b.Name)
		case b != nil && attributesText(a.Partition, a.Sort) != attributesText(b.Partition, b.Sort):
			p.add(0, 0, "create a new table for %s: a key cannot change", b.Name)
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
		p.add(0, 0, "write %s of %s in both forms, wherever the program writes them", list(changedAttributes(old.Entity(e.Name), e)), e.Name)
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
			p.add(0, 0, "create a new table for %s: a local index exists from the beginning", b.Name)
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
		p.add(items, units, "create index %s of table %s; the service fills it with the items that have its keys", name, b.Name)
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
	items, units := p.rows(p.is.World, func(it *world.Item) float64 {
		if it.Entity != b {
			return 0
		}
		sum := table.WriteUnits(it.Attributes.Size())
		for _, x := range b.Table.Indexes {
			if size, ok := b.Table.RowSize(x, it.Attributes); ok && (moved || touches(x, names)) {
				sum += table.WriteUnits(size)
			}
		}
		return sum
	})
	if moved {
		p.add(items, 2*units, "put %s of %s under their new keys, and delete them under the old ones", text.Count(items, "item"), b.Name)
		return
	}
	p.add(items, units, "set %s of %s of %s that are there", list(names), text.Count(items, "item"), b.Name)
}

// touches reports whether an index has one of some attributes.
func touches(x *model.Index, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return x.Projection == "ALL" || slices.Contains(x.Include, name) ||
			slices.ContainsFunc(x.Keys(), func(a model.Attribute) bool { return a.Name == name })
	})
}

// switches adds the step that changes the reads.
func (p *planner) switches() {
	var d Diff
	d.patterns(p.was.Result, p.is.Result)
	var changed, gone []string
	for _, one := range d.Patterns {
		switch {
		case one.Is == nil:
			gone = append(gone, `"`+one.Name+`"`)
		case one.Request || one.Was == nil:
			changed = append(changed, `"`+one.Name+`"`)
		}
	}
	if len(changed) > 0 {
		p.add(0, 0, "switch the program to the new requests of %s", list(changed))
	}
	if len(gone) > 0 {
		p.add(0, 0, "check that nothing asks for %s any more", list(gone))
	}
}

// removals adds the steps that remove what is old.
func (p *planner) removals(changed []*model.Entity) {
	old, made := p.was.World.Model, p.is.World.Model
	for _, e := range changed {
		var gone []string
		for _, t := range old.Entity(e.Name).Attributes {
			if e.Attribute(t.Name) == nil {
				gone = append(gone, t.Name)
			}
		}
		if len(gone) > 0 {
			p.add(0, 0, "stop writing %s of %s, and remove it from the items", list(gone), e.Name)
		}
	}
	both(old.Tables, made.Tables, tableName, func(a, b *model.Table) {
		if b == nil {
			p.add(0, 0, "delete table %s", a.Name)
			return
		}
		both(indexesOf(a), b.Indexes, indexName, func(x, y *model.Index) {
			if x != nil && (y == nil || indexText(x) != indexText(y)) {
				p.add(0, 0, "delete the old index %s of table %s", x.Name, a.Name)
			}
		})
	})
	for _, e := range old.Entities {
		if made.Entity(e.Name) == nil {
			items, units := p.rows(p.was.World, func(it *world.Item) float64 {
				if it.Entity != e {
					return 0
				}
				return table.WriteUnits(it.Attributes.Size())
			})
			p.add(items, units, "delete %s of %s", text.Count(items, "item"), e.Name)
		}
	}
}

// figures says what a step takes, or returns "".
func (s Step) figures() string {
	var parts []string
	if s.Items > 0 {
		parts = append(parts, text.Count(s.Items, "item"))
	}
	if s.Units > 0 {
		parts = append(parts, text.Thousands(int(s.Units))+" write units")
		if s.Time() >= time.Second {
			parts = append(parts, s.Time().String()+" at 1,000 a second")
		}
	}
	return strings.Join(parts, ", ")
}
