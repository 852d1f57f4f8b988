package dataset

import (
	"maps"
	"slices"

	"github.com/sortkey/sortkey/internal/design/model"
)

// Values are the field values of an item in text form. They do not store the values of a generated item, but draw
// them again on each call. Values are safe for concurrent use.
type Values struct {
	text map[string]string
	// g generates the values if text is nil. n then has two parts: the low attemptBit bits are the number of the
	// item, and the bits above are how often its key was redrawn.
	g *generator
	n uint64
}

const attemptBit = 48

// ValuesOf returns Values with the given text form of each field. The caller must not change the map afterwards.
func ValuesOf(text map[string]string) Values { return Values{text: text} }

// Get returns the value of a field, or "".
func (v Values) Get(field string) string {
	text, _ := v.Lookup(field)
	return text
}

// Lookup returns the value of a field. It reports false if the item does not have it.
func (v Values) Lookup(field string) (string, bool) {
	if v.text != nil || v.g == nil {
		text, ok := v.text[field]
		return text, ok
	}
	for k, f := range v.g.fields {
		if f.Name == field {
			return v.g.draw(k, v.n&(1<<attemptBit-1), v.n>>attemptBit), true
		}
	}
	return "", false
}

// Map returns all values by field. The caller owns the map.
func (v Values) Map() map[string]string {
	all := make(map[string]string, len(v.text))
	maps.Copy(all, v.text)
	if v.text == nil && v.g != nil {
		for _, f := range v.g.fields {
			all[f.Name] = v.Get(f.Name)
		}
	}
	return all
}

// draw returns the value of field k of an item. If the item copies the field from an ancestor's item, draw follows
// the links to that item. attempt affects only the item's own key fields.
func (g *generator) draw(k int, item, attempt uint64) string {
	if way := g.from[k]; len(way) > 0 {
		return way[len(way)-1].parent.value(g.fields[k], follow(way, item))
	}
	if k >= g.key {
		attempt = 0
	}
	return g.domains[k].value(g.hash, item, g.count, attempt, g.owns[k])
}

// value returns an item's value of a field. Until the generator has made the item, this value can still change,
// because the generator redraws an item whose key is taken.
func (g *generator) value(f *model.Field, item uint64) string {
	if g.first >= 0 {
		return g.w.Items[g.first+int(item)].Values.Get(f.Name)
	}
	return g.draw(slices.Index(g.fields, f), item, 0)
}
