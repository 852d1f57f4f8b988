package design

import (
	"math"
	"strconv"
	"time"
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
	now, then := 1.0, 1.0
	for name := range componentsOf(e, hash) {
		a, b := w.Distinct(e, name)
		now, then = now*a, then*b
	}
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

// Distinct returns how many values a field of an entity has in the generated
// items, at most, and at the declared scale.
func (w *World) Distinct(e *Entity, name string) (now, then float64) {
	f := e.Field(name)
	if f == nil {
		return math.Inf(1), math.Inf(1)
	}
	n := 0.0
	switch {
	case len(f.Values) > 0:
		n = float64(len(f.Values))
	case len(f.Type.Values) > 0:
		n = float64(len(f.Type.Values))
	case f.Distinct > 0:
		n = float64(f.Distinct)
	default:
		n = valuesIn(f)
	}
	if n > 0 {
		return n, n
	}
	// A field that alone is the key of another entity has a value for each of
	// its items.
	owner := (*Entity)(nil)
	for _, o := range w.Model.Entities {
		own := componentsOf(o, o.Table.Keys())
		if len(own) == 1 && own[name] && o.Field(name) == f && (owner == nil || o.Count > owner.Count) && o.Count > 0 {
			owner = o
		}
	}
	if owner != nil {
		return math.Max(float64(w.made[owner]), 1), float64(owner.Count)
	}
	return math.Inf(1), math.Inf(1)
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

// valuesIn is how many values a field of dates or whole numbers can have, 0 when
// that is not known.
func valuesIn(f *Field) float64 {
	switch f.Type.Name {
	case "year", "month", "date":
		from, to := "2025-01-01", "2025-12-31"
		if f.From != "" {
			from = f.From
		}
		if f.To != "" {
			to = f.To
		}
		a, ok := day(from)
		b, ok2 := day(to)
		if !ok || !ok2 || b.Before(a) {
			return 0
		}
		days := b.Sub(a).Hours()/24 + 1
		return max(1, days/map[string]float64{"year": 365, "month": 30.5, "date": 1}[f.Type.Name])
	case "int", "number", "signed":
		a, err := strconv.ParseFloat(f.From, 64)
		b, err2 := strconv.ParseFloat(f.To, 64)
		if err == nil && err2 == nil && b >= a {
			return b - a + 1
		}
	}
	return 0
}

func day(text string) (time.Time, bool) {
	for _, layout := range []string{time.RFC3339, time.DateOnly, "2006-01", "2006"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}
