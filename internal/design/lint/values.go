package lint

import (
	"cmp"
	"slices"

	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/world"
)

// A column identifies a field of an entity.
type column struct {
	e     *model.Entity
	field string
}

// An authoredValue is a value that a person wrote, and an item that has it.
type authoredValue struct {
	text string
	it   *world.Item // nil if no item has this declared value
}

// authored returns the distinct values of a field that are written in the
// model, in byte order: values of samples and declared values.
func (l *linter) authored(e *model.Entity, field string) []authoredValue {
	key := column{e, field}
	if all, ok := l.columns[key]; ok {
		return all
	}
	f := e.Field(field)
	declared := f != nil && len(f.Values) > 0
	at := map[string]int{}
	var all []authoredValue
	add := func(text string, it *world.Item) {
		if i, ok := at[text]; !ok {
			at[text] = len(all)
			all = append(all, authoredValue{text, it})
		} else if all[i].it == nil {
			all[i].it = it
		}
	}
	if declared {
		for _, v := range f.Values {
			add(v, nil)
		}
	}
	left := len(all)
	for _, it := range l.items[e] {
		if it.Generated && (!declared || left == 0) {
			continue
		}
		if text, ok := it.Values.Lookup(field); ok && text != "" {
			if i, ok := at[text]; ok && all[i].it == nil {
				left--
			}
			add(text, it)
		}
	}
	slices.SortFunc(all, func(a, b authoredValue) int { return cmp.Compare(a.text, b.text) })
	l.columns[key] = all
	return all
}

// adjacentRows calls f for each pair of consecutive rows of an entity in one
// partition of the view that have equal values in all components before index
// at of the slot.
func (l *linter) adjacentRows(v *view, s *slot, at int, f func(a, b *world.Item) bool) {
	var before []string
	for _, p := range s.parts[:at] {
		if p.Name != "" {
			before = append(before, p.Name)
		}
	}
	for _, p := range v.Parts {
		var last *world.Item
		for _, r := range v.In(p) {
			if r.Item.Entity != s.e {
				continue
			}
			same := last != nil
			for _, name := range before {
				same = same && last.Values.Get(name) == r.Item.Values.Get(name)
			}
			if same && !f(last, r.Item) {
				return
			}
			last = r.Item
		}
	}
}
