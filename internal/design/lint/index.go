package lint

import (
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
)

// indexText returns the declaration of an index as a model file writes it.
func indexText(x *model.Index) string {
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

// newIndexName returns an unused name, such as ByEmail, for a new index of t with the field in its key.
func newIndexName(t *model.Table, field string) string {
	if field != "" && 'a' <= field[0] && field[0] <= 'z' {
		field = strings.ToUpper(field[:1]) + field[1:]
	}
	name := "By" + field
	for t.Index(name) != nil {
		name += "2"
	}
	return name
}
