package diff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

// pairs returns the old version of each entity of a new model: the one of the same name or, for an entity
// that was renamed, the only one that is gone and had its keys.
func pairs(was, is *model.Model) map[*model.Entity]*model.Entity {
	all := map[*model.Entity]*model.Entity{}
	only := func(m, other *model.Model) []*model.Entity {
		known := func(e *model.Entity) bool { return other.Entity(e.Name) != nil }
		return slices.DeleteFunc(slices.Clone(m.Entities), known)
	}
	gone, fresh := only(was, is), only(is, was)
	like := func(list []*model.Entity, e *model.Entity) (found []*model.Entity) {
		for _, other := range list {
			if sameKeys(other, e) {
				found = append(found, other)
			}
		}
		return found
	}
	for _, e := range is.Entities {
		if old := was.Entity(e.Name); old != nil {
			all[e] = old
		} else if old := like(gone, e); len(old) == 1 && len(like(fresh, old[0])) == 1 {
			all[e] = old[0]
		}
	}
	return all
}

// sameKeys reports whether two entities have the same keys in the same table.
func sameKeys(a, b *model.Entity) bool {
	if a.Table.Name != b.Table.Name {
		return false
	}
	return !slices.ContainsFunc(slices.Concat(a.Table.Keys(), b.Table.Keys()), func(k model.Attribute) bool {
		return templateText(a.Attribute(k.Name)) != templateText(b.Attribute(k.Name))
	})
}

// replacement says why a table of the old version must be made anew for the new one, or is "".
func replacement(a, b *model.Table) string {
	if attributesText(a.Partition, a.Sort) != attributesText(b.Partition, b.Sort) {
		return "a key cannot change"
	}
	locals := func(t *model.Table) string {
		var all []string
		for _, x := range t.Indexes {
			if x.Local {
				all = append(all, x.Name+" "+indexText(x))
			}
		}
		slices.Sort(all)
		return strings.Join(all, "\n")
	}
	if locals(a) != locals(b) {
		return "a local index is as old as its table"
	}
	return ""
}

// fieldText describes what values a field has.
func fieldText(f *model.Field) string {
	if f == nil {
		return ""
	}

	words := []string{f.Type.String()}
	switch {
	case len(f.Values) > 0:
		words = append(words, "one of "+strings.Join(f.Values, ", "))
	case f.Distinct > 0:
		words = append(words, text.Count(f.Distinct, "value"))
	}

	if d := f.Distribution; d.Skew > 0 {
		words = append(words, fmt.Sprintf("%s(%s)", d.Name, text.Figure(d.Skew)))
	} else if d.Name != "" && d.Name != "uniform" {
		words = append(words, d.Name)
	}

	switch {
	case f.MaxSize > 0 && f.MinSize == f.MaxSize:
		words = append(words, text.Count(f.MaxSize, "byte"))
	case f.MaxSize > 0:
		words = append(words, fmt.Sprintf("%d to %d bytes", f.MinSize, f.MaxSize))
	}

	if f.From != "" || f.To != "" {
		words = append(words, "from "+f.From+" to "+f.To)
	}
	return strings.Join(words, "; ")
}

// templateText describes an attribute by all that its bytes depend on.
func templateText(t *model.Template) string {
	if t == nil {
		return ""
	}
	s := text.Literal(t.Const)
	if t.Template != nil {
		s = `"` + t.Template.Explicit() + `"`
		if t.Kind != attr.String {
			s += " of type " + t.Kind.String()
		}
	}
	if c := t.Condition(); c != "" {
		s += " when " + c
	}
	return s
}
