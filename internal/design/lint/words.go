package lint

import (
	"cmp"
	"slices"

	"github.com/sortkey/sortkey/internal/design"
)

// A column is the values of one field of an entity.
type column struct {
	e     *design.Entity
	field string
}

// A word is a value that somebody wrote, and an item that has it.
type word struct {
	text string
	it   *design.Item // nil for a declared value that no item has
}

// authored returns the distinct values of a field that are written in the
// model, in byte order: those of samples, and all that the field declares.
func (l *linter) authored(e *design.Entity, field string) []word {
	key := column{e, field}
	if all, ok := l.columns[key]; ok {
		return all
	}
	f := e.Field(field)
	declared := f != nil && len(f.Values) > 0
	at := map[string]int{}
	var all []word
	add := func(text string, it *design.Item) {
		if i, ok := at[text]; !ok {
			at[text] = len(all)
			all = append(all, word{text, it})
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
	slices.SortFunc(all, func(a, b word) int { return cmp.Compare(a.text, b.text) })
	l.columns[key] = all
	return all
}

// neighbours calls f for each two consecutive rows of an entity in one
// partition of the view that have equal values in the components before the
// one at index at of the slot.
func (l *linter) neighbours(v *view, s *slot, at int, f func(a, b *design.Item) bool) {
	var before []string
	for _, p := range s.parts[:at] {
		if p.Name != "" {
			before = append(before, p.Name)
		}
	}
	for _, p := range v.parts {
		var last *design.Item
		for _, r := range v.rows[p.from:p.to] {
			if r.it.Entity != s.e {
				continue
			}
			same := last != nil
			for _, name := range before {
				same = same && last.Values.Get(name) == r.it.Values.Get(name)
			}
			if same && !f(last, r.it) {
				return
			}
			last = r.it
		}
	}
}
