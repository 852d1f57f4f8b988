package rule

import (
	"slices"

	"github.com/sortkey/sortkey/internal/design/model"
)

// WriteIndex returns the edit that adds an index or replaces the one of its
// name.
func WriteIndex(table string, x model.Index) Edit {
	return func(m *model.Model) bool {
		t := m.Table(table)
		if have := t.Index(x.Name); have != nil {
			*have = x
		} else {
			t.Indexes = append(t.Indexes, &x)
		}
		return true
	}
}

// RemoveIndex returns the edit that removes an index.
func RemoveIndex(table, index string) Edit {
	return func(m *model.Model) bool {
		t := m.Table(table)
		n := len(t.Indexes)
		t.Indexes = slices.DeleteFunc(t.Indexes, func(x *model.Index) bool { return x.Name == index })
		return len(t.Indexes) < n
	}
}

// OnPattern returns the edit that changes a pattern. What the pattern expected
// is dropped with the request that it was written for.
func OnPattern(name string, change func(*model.Model, *model.Pattern) bool) Edit {
	return func(m *model.Model) bool {
		p := m.Pattern(name)
		p.Expect = model.Expect{Entities: p.Expect.Entities}
		return change(m, p)
	}
}
