package rule

import (
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

// IndexText returns the declaration of an index as in a model file.
func IndexText(x *model.Index) string {
	side := func(all []model.Attribute) string {
		specs := make([]string, len(all))
		for i, a := range all {
			specs[i] = a.Name
			if a.Kind == attr.Number {
				specs[i] = "{name: " + a.Name + ", type: N}"
			}
		}
		if len(specs) == 1 {
			return specs[0]
		}
		return "[" + strings.Join(specs, ", ") + "]"
	}
	out := x.Name + ": {partition: " + side(x.Partition)
	if len(x.Sort) > 0 {
		out += ", sort: " + side(x.Sort)
	}
	return out + "}"
}

// IndexBy returns a name for a new index of a table by a field.
func IndexBy(t *model.Table, field string) string {
	if field != "" && 'a' <= field[0] && field[0] <= 'z' {
		field = strings.ToUpper(field[:1]) + field[1:]
	}
	name := "By" + field
	for t.Index(name) != nil {
		name += "2"
	}
	return name
}

// ByFields returns the proposal of an index with the view's partition key that is
// sorted by fields of an entity, and which a pattern queries. It has no edits if
// there can be no such index.
func (v *View) ByFields(e *model.Entity, fields []string, pattern string) (p Proposal) {
	x := model.Index{Projection: "ALL", Partition: v.Hash}
	var stored []string
	for _, name := range fields {
		a := model.Attribute{Name: name}
		if t := e.Attribute(name); t != nil {
			a.Kind = t.Kind
		} else if f := e.Field(name); f != nil {
			stored = append(stored, name)
			a.Kind = KindOf(f.Type)
		} else {
			return p
		}
		x.Sort = append(x.Sort, a)
	}
	if len(fields) == 0 || len(fields) > 4 {
		return p
	}

	x.Name = IndexBy(v.Table, fields[len(fields)-1])
	p.Text = "add an index " + IndexText(&x)
	if n := len(stored); n > 0 {
		p.Text += ", store " + List(stored) + " as " + text.Agree(n, "an attribute", "attributes") + " of " + e.Name
	}
	p.Text += ", and query it for " + text.Quote(pattern)
	p.Edits = []Edit{StoreFields(e.Name, fields), WriteIndex(v.Table.Name, x), ThroughIndex(pattern, x.Name)}
	return p
}
