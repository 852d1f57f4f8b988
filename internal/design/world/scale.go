package world

import (
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
	now, then := w.values(e, hash, nil)
	rowsNow := made / math.Min(now, made)
	rowsThen := declared / math.Min(then, declared)
	return math.Max(rowsThen/rowsNow, 1)
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
	if !it.Generated || it.Entity == nil || w.Scale <= 0 {
		return 1
	}
	return 1 / w.Scale
}

// values returns the largest possible number of combined values of key
// attributes of an entity, in the generated items and at the declared scale. Times
// for which skip is true count once.
func (w *World) values(e *model.Entity, list []model.Attribute, skip func(field string) bool) (now, then float64) {
	now, then = 1, 1
	for _, f := range e.Fields {
		if skip != nil && skip(f.Name) {
			continue
		}
		finest := 0.0 // of its components: a time can appear as a day
		for _, a := range list {
			t := e.Attribute(a.Name)
			if t == nil || t.Template == nil {
				continue
			}
			for _, p := range t.Template.Parts() {
				if p.Name == f.Name {
					finest = math.Max(finest, valuesAs(f, p.Type))
				}
			}
		}
		if finest > 0 {
			a, b := w.distinct(e, f)
			now, then = now*math.Min(a, finest), then*math.Min(b, finest)
		}
	}
	return now, then
}

// distinct returns the largest possible number of values of a field, in the
// generated items and at the declared scale. It must match newDomain.
func (w *World) distinct(e *model.Entity, f *model.Field) (now, then float64) {
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
		own := o.ComponentsOf(o.Table.Keys())
		if len(own) == 1 && own[f.Name] && o.Field(f.Name) == f && (owner == nil || o.Count > owner.Count) &&
			o.Count > 0 {
			owner = o
		}
	}
	n = valuesAs(f, f.Type)
	if owner != nil && n >= float64(owner.Count) {
		return math.Max(float64(w.made[owner]), 1), float64(owner.Count)
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
