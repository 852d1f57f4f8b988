package lint

import (
	"cmp"
	"slices"

	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/model"
)

// String returns the value in quotes.
func (w Written) String() string { return quoted(w.Text) }

// allAre reports whether there is at least one value, and is() accepts each of them.
func allAre(words []Written, is func(text string) bool) bool {
	return len(words) > 0 && !slices.ContainsFunc(words, func(w Written) bool { return !is(w.Text) })
}

// Written returns the distinct values of a field that people wrote in the model: in samples, or as values that the
// field declares. They are in byte order.
func (st *Study) Written(e *model.Entity, field string) []Written {
	key := column{e, field}
	if all, ok := st.written[key]; ok {
		return all
	}
	f := e.Field(field)
	declared := f != nil && len(f.Values) > 0
	at := map[string]int{}
	var all []Written
	add := func(text string, it *dataset.Item) {
		if i, ok := at[text]; !ok {
			at[text] = len(all)
			all = append(all, Written{text, it})
		} else if all[i].Item == nil {
			all[i].Item = it
		}
	}
	if declared {
		for _, v := range f.Values {
			add(v, nil)
		}
	}

	// A generated item does not add a value to the list. It is only an example item for a declared value.
	left := len(all)
	for _, it := range st.items[e] {
		if it.Generated && (!declared || left == 0) {
			continue
		}
		if text, ok := it.Values.Lookup(field); ok && text != "" {
			if i, ok := at[text]; ok && all[i].Item == nil {
				left--
			}
			add(text, it)
		}
	}
	slices.SortFunc(all, func(a, b Written) int { return cmp.Compare(a.Text, b.Text) })
	st.written[key] = all
	return all
}

// disordered counts the neighbours in words that compare orders differently, and returns the first such pair. words
// must be in byte order.
func disordered(words []Written, compare func(a, b string) int) (a, b Written, n int) {
	for i := 1; i < len(words); i++ {
		if compare(words[i-1].Text, words[i].Text) > 0 {
			if n++; n == 1 {
				a, b = words[i-1], words[i]
			}
		}
	}
	return a, b, n
}
