package design

import (
	"math"

	"github.com/sortkey/sortkey/keys"
)

// A Growth says how many rows each generated row of a partition stands for at
// the declared scale, by entity. It is 1 for all when everything declared was
// generated.
type Growth map[*Entity]float64

// Of returns how many rows one of the item's stands for. Samples and raw items
// are themselves.
func (g Growth) Of(it *Item) float64 {
	if n := g[it.Entity]; it.Generated && n > 0 {
		return n
	}
	return 1
}

// Growth returns that of the partitions of a table or an index with this
// partition key. When counts were cut, a key with few values has all its
// partitions already, and each would have more rows; one with a value for each
// item has fewer partitions than declared, of the size they will have.
func (w *World) Growth(hash []Attribute) Growth {
	g := make(Growth, len(w.Model.Entities))
	for _, e := range w.Model.Entities {
		g[e] = w.growth(e, hash)
	}
	return g
}

func (w *World) growth(e *Entity, hash []Attribute) float64 {
	made, declared := float64(w.made[e]), float64(e.Count)
	if made == 0 || made >= declared {
		return 1
	}
	now, then := w.Values(e, hash)
	rowsNow := made / math.Min(now, made)
	rowsThen := declared / math.Min(then, declared)
	return math.Max(rowsThen/rowsNow, 1)
}

// Share returns the share of the rates of the item's entity that falls to the
// item: they are spread evenly over all items, and at the declared scale there
// are more of them in more partitions.
func (w *World) Share(it *Item, g Growth) float64 {
	e := it.Entity
	if e == nil || w.counts[e] == 0 {
		return 0
	}
	share := 1 / float64(w.counts[e])
	if made := float64(w.made[e]); made > 0 && float64(e.Count) > made {
		share *= min(1, g[e]*made/float64(e.Count))
	}
	return share
}

// Represents returns how many declared items an item stands for.
func (w *World) Represents(it *Item) float64 {
	if !it.Generated || it.Entity == nil || w.Scale <= 0 {
		return 1
	}
	return 1 / w.Scale
}

// Values returns how many values key attributes of an entity have together in
// the generated items, at most, and at the declared scale.
func (w *World) Values(e *Entity, list []Attribute) (now, then float64) {
	now, then = 1, 1
	for _, f := range e.Fields {
		finest := 0.0 // of its components: a time can be there by its day
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

// distinct returns how many values a field of an entity has in the generated
// items, at most, and at the declared scale. It follows newDomain.
func (w *World) distinct(e *Entity, f *Field) (now, then float64) {
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
	// A field that alone is the key of another entity has a value for each of
	// its items, if it can have so many.
	owner := (*Entity)(nil)
	for _, o := range w.Model.Entities {
		own := componentsOf(o, o.Table.Keys())
		if len(own) == 1 && own[f.Name] && o.Field(f.Name) == f && (owner == nil || o.Count > owner.Count) && o.Count > 0 {
			owner = o
		}
	}
	n = valuesAs(f, f.Type)
	if owner != nil && n >= float64(owner.Count) {
		return math.Max(float64(w.made[owner]), 1), float64(owner.Count)
	}
	return n, n
}

// valuesAs is how many values of a type those of a field are: of a time, as
// many as there are days between its bounds. It is infinite for ids and texts.
func valuesAs(f *Field, t keys.Type) float64 {
	as := *f
	if finer(f.Type, t) {
		as.Type = t
	}
	b, err := as.bounds()
	if err != nil || b == nil || idLike(as.Type.Name) {
		return math.Inf(1)
	}
	return float64(b.count())
}

// componentsOf are the names of fields in key attributes.
func componentsOf(e *Entity, list []Attribute) map[string]bool {
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
