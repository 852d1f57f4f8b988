package lint

import (
	"slices"

	"github.com/sortkey/sortkey/internal/design/model"
)

// writeIndex returns an edit that adds the index x to a table, or replaces the table's index of the same name.
func writeIndex(table string, x model.Index) Edit {
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

// removeIndex returns an edit that removes an index.
func removeIndex(table, index string) Edit {
	return func(m *model.Model) bool {
		t := m.Table(table)
		n := len(t.Indexes)
		t.Indexes = slices.DeleteFunc(t.Indexes, func(x *model.Index) bool { return x.Name == index })
		return len(t.Indexes) < n
	}
}

// onPattern returns an edit that calls change for the named pattern. The edit also drops the pattern's expectations,
// because the author wrote them for the old request. It keeps only the expected entities.
func onPattern(name string, change func(*model.Model, *model.Pattern) bool) Edit {
	return func(m *model.Model) bool {
		p := m.Pattern(name)
		p.Expect = model.Expect{Entities: p.Expect.Entities}
		return change(m, p)
	}
}
