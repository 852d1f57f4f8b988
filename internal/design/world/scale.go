package world

import (
	"maps"
	"math"

	"github.com/sortkey/sortkey/internal/design/model"

	"github.com/sortkey/sortkey/keys"
)

// A Growth is the number of rows at the declared scale for each generated row
// of a partition, by entity. It is 1 if all declared items were generated.
type Growth map[*model.Entity]float64

// Of returns the number of rows that an item's row represents: 1 for samples
// and raw items.
func (g Growth) Of(it *Item) float64 {
	if n := g[it.Entity]; it.Generated && n > 0 {
		return n
	}
	return 1
}

// Growth returns the growth of partitions with the given partition key. If
// counts were reduced, a key with few values already has all its partitions,
// and each will have more rows; a key with a value for each item has fewer
// partitions, each of its final size.
func (w *World) Growth(hash []model.Attribute) Growth {
	g := make(Growth, len(w.Model.Entities))
	for _, e := range w.Model.Entities {
		g[e] = w.growth(e, hash)
	}
	return g
}

func (w *World) growth(e *model.Entity, hash []model.Attribute) float64 {
	made, declared := float64(w.made[e]), float64(e.Count)
	if made == 0 || made >= declared {
		return 1
	}
	fields := finest(e, hash)
	now, then := w.values(e, fields)
	for f := range fields {
		if e.CarriedFrom(f) != nil {
			made = w.fair(e)
		}
	}
	rowsNow := made / math.Min(now, made)
	rowsThen := declared / math.Min(then, declared)
	return math.Max(rowsThen/rowsNow, 1)
}

// fair returns how many items of e would have been made if those of its parents were an
// average sample: the largest ones are always among them.
func (w *World) fair(e *model.Entity) float64 {
	g := w.generators[e]
	if g == nil || len(g.links) == 0 {
		return float64(w.made[e])
	}
	l := g.links[0]
	return float64(e.Count) * (w.fair(l.parent.e) / float64(l.parent.e.Count)) / l.growth
}

// share returns the share of the rates of an entity that falls to one item. Rates
// are spread evenly over all items, and at
// the declared scale there are more items in more partitions.
func (w *World) share(e *model.Entity, g Growth) float64 {
	if w.counts[e] == 0 {
		return 0
	}
	share := 1 / float64(w.counts[e])
	if made := float64(w.made[e]); made > 0 && float64(e.Count) > made {
		share *= min(1, g[e]*made/float64(e.Count))
	}
	return share
}

// Represents returns the number of declared items that an item represents.
func (w *World) Represents(it *Item) float64 {
	if made := w.made[it.Entity]; it.Generated && made > 0 {
		return float64(it.Entity.Count) / float64(made)
	}
	return 1
}

// finest returns the fields of an entity in key attributes, each with its number of values there.
// A time can appear as a day.
func finest(e *model.Entity, list []model.Attribute) map[*model.Field]float64 {
	all := map[*model.Field]float64{}
	for _, a := range list {
		t := e.Attribute(a.Name)
		if t == nil || t.Template == nil {
			continue
		}
		for _, p := range t.Template.Parts() {
			if f := e.Field(p.Name); f != nil {
				all[f] = math.Max(all[f], valuesAs(f, p.Type))
			}
		}
	}
	return all
}

// values returns the largest possible number of combined values of fields of an entity, in the
// generated items and at the declared scale. Those that it carries from a parent have as many as
// there are items of it, at most.
func (w *World) values(e *model.Entity, fields map[*model.Field]float64) (now, then float64) {
	now, then = 1, 1
	for _, f := range e.Fields {
		if finest := fields[f]; finest > 0 && e.CarriedFrom(f) == nil {
			a, b := w.distinct(f)
			now, then = now*math.Min(a, finest), then*math.Min(b, finest)
		}
	}
	left := maps.Clone(fields)
	for _, p := range e.Parents {
		given := map[*model.Field]float64{}
		for f, finest := range left {
			if p.Entity.Gives(f, e) {
				given[f] = finest
				delete(left, f)
			}
		}
		if len(given) > 0 {
			a, b := w.values(p.Entity, given)
			now, then = now*math.Min(a, w.fair(p.Entity)), then*math.Min(b, float64(p.Entity.Count))
		}
	}
	return now, then
}

// distinct returns the largest possible number of values of a field, in the
// generated items and at the declared scale. It must match newDomain.
func (w *World) distinct(f *model.Field) (now, then float64) {
	n := 0.0
	switch {
	case len(f.Values) > 0:
		n = float64(len(f.Values))
	case len(f.Type.Values) > 0:
		n = float64(len(f.Type.Values))
	case f.Distinct > 0:
		n = math.Min(float64(f.Distinct), valuesAs(f, f.Type))
	}
	if n > 0 {
		return n, n
	}

	// A field that is the whole key of another entity has a value for each of
	// that entity's items, if it can have so many.
	owner := (*model.Entity)(nil)
	for _, o := range w.Model.Entities {
		if ownedField(o) == f && o.Count > 0 && (owner == nil || o.Count > owner.Count) {
			owner = o
		}
	}

	n = valuesAs(f, f.Type)
	if owner != nil && n >= float64(owner.Count) {
		return math.Max(w.fair(owner), 1), float64(owner.Count)
	}
	return n, n
}

// valuesAs returns the number of values of a field when written as a type, for
// example the days between the bounds of a time. It is infinite for ids and
// text.
func valuesAs(f *model.Field, t keys.Type) float64 {
	as := *f
	if model.Finer(f.Type, t) {
		as.Type = t
	}
	b, err := as.Bounds()
	if err != nil || b == nil || idLike(as.Type.Name) {
		return math.Inf(1)
	}
	return float64(b.Count())
}
