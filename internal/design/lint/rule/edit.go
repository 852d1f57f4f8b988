package rule

import (
	"slices"

	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/keys"
)

// onEntity returns the edit that changes an entity, if the model has it.
func onEntity(name string, change func(*model.Model, *model.Entity) bool) Edit {
	return func(m *model.Model) bool {
		e := m.Entity(name)
		return e != nil && change(m, e)
	}
}

// onTable returns the edit that changes a table, if the model has it.
func onTable(name string, change func(*model.Table) bool) Edit {
	return func(m *model.Model) bool {
		t := m.Table(name)
		return t != nil && change(t)
	}
}

// WriteIndex returns the edit that adds an index or replaces the one of its
// name.
func WriteIndex(table string, x model.Index) Edit {
	return onTable(table, func(t *model.Table) bool {
		if have := t.Index(x.Name); have != nil {
			*have = x
		} else {
			t.Indexes = append(t.Indexes, &x)
		}
		return true
	})
}

// RemoveIndex returns the edit that removes an index.
func RemoveIndex(table, index string) Edit {
	return onTable(table, func(t *model.Table) bool {
		n := len(t.Indexes)
		t.Indexes = slices.DeleteFunc(t.Indexes, func(x *model.Index) bool { return x.Name == index })
		return len(t.Indexes) < n
	})
}

// StoreFields returns the edit that stores fields of an entity as attributes of
// their own.
func StoreFields(entity string, fields []string) Edit {
	return onEntity(entity, func(_ *model.Model, e *model.Entity) bool {
		for _, name := range fields {
			f := e.Field(name)
			if e.Attribute(name) != nil {
				continue
			}
			if f == nil {
				return false
			}
			template, err := keys.Parse("{" + name + ":" + f.Type.String() + "}")
			if err != nil {
				return false
			}
			e.Attributes = append(e.Attributes, &model.Template{Name: name, Kind: KindOf(f.Type), Template: template})
		}
		return true
	})
}

// OnPattern returns the edit that changes a pattern. What the pattern expected
// is dropped with the request that it was written for.
func OnPattern(name string, change func(*model.Model, *model.Pattern) bool) Edit {
	return func(m *model.Model) bool {
		p := m.Pattern(name)
		if p == nil || !change(m, p) {
			return false
		}
		p.Expect = model.Expect{Entities: p.Expect.Entities}
		return true
	}
}

// ThroughIndex returns the edit that sends a pattern with conditions on fields
// to an index.
func ThroughIndex(pattern, index string) Edit {
	return OnPattern(pattern, func(m *model.Model, p *model.Pattern) bool {
		if p.Entity == nil {
			return false
		}
		p.Table, p.Index = p.Entity.Table, p.Entity.Table.Index(index)
		return p.Index != nil
	})
}
