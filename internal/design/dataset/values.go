package dataset

import (
	"maps"
	"slices"

	"github.com/sortkey/sortkey/internal/design/model"
)

// Values are the field values of an item in text form. Those of generated items
// are not stored but drawn again on demand. Safe for concurrent use.
type Values struct {
	text map[string]string
	// For a generated item whose text is not set: its number, and from attemptBit
	// on how often its key fields were redrawn.
	g *generator
	n uint64
}

const attemptBit = 48

// ValuesOf returns values in text form by field. The map must not change.
func ValuesOf(text map[string]string) Values { return Values{text: text} }

// Get returns the value of a field, or "".
func (v Values) Get(field string) string {
	text, _ := v.Lookup(field)
	return text
}

// Lookup returns the value of a field, and whether the item has it.
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

// draw returns the value of field k of an item. Only key fields of its own are redrawn when a key
// is taken. A field that the item carries has the value of the item to which it belongs.
func (g *generator) draw(k int, item, attempt uint64) string {
	if way := g.from[k]; len(way) > 0 {
		return way[len(way)-1].parent.value(g.fields[k], follow(way, item))
	}
	if k >= g.key {
		attempt = 0
	}
	return g.domains[k].value(g.hash, item, g.count, attempt, g.owns[k])
}

// value returns the value of a field of an item, which is only known for sure once the item has
// been made.
func (g *generator) value(f *model.Field, item uint64) string {
	if g.first >= 0 {
		return g.w.Items[g.first+int(item)].Values.Get(f.Name)
	}
	return g.draw(slices.Index(g.fields, f), item, 0)
}
