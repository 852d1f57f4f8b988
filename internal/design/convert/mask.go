package convert

import (
	"maps"
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/mask"
	"github.com/sortkey/sortkey/internal/design/model"
)

// mask replaces the letters and digits of samples by others, so that only the shapes and the
// lengths of values remain. Equal values stay equal, so that items still belong together.
// Dates, times, the texts of templates, constants, and values that a template depends on stay. Names of the
// members of maps and Booleans stay too, and are listed as losses.
func (im *importer) mask() {
	shapes := mask.NewShapes(im.o.Seed)
	left := map[string]map[mask.Part]bool{} // by the names of attributes
	look := func(it attr.Item) {
		for name, v := range it.All() {
			for _, part := range shapes.Left(v) {
				if left[string(name)] == nil {
					left[string(name)] = map[mask.Part]bool{}
				}
				left[string(name)][part] = true
			}
		}
	}
	for _, e := range im.m.Entities {
		kept := func(f *model.Field) bool {
			return len(f.Values) > 0 || slices.ContainsFunc(e.Attributes, func(t *model.Template) bool {
				return t.When[f.Name] != nil
			})
		}
		for _, s := range e.Samples {
			for _, f := range e.Fields {
				v, ok := s.Values[f.Name]
				if !ok || kept(f) {
					continue
				}
				if masked, err := shapes.Value(f.Type, v); err == nil {
					s.Values[f.Name] = masked
				}
			}
			look(s.Attributes)
			s.Attributes = maskedItem(s.Attributes, shapes.Attribute)
		}
	}

	for _, r := range im.m.Items {
		look(r.Item)
		// A key may have words that are no values.
		digits := func(v attr.Value) attr.Value {
			if v.Kind() == attr.String {
				return attr.NewString(shapes.Digits(string(v.Raw())))
			}
			return shapes.Attribute(v)
		}
		var b attr.Builder
		for name, v := range r.Item.All() {
			if r.Table.IsKey(string(name)) {
				b.AddBytes(name, digits(v))
			} else {
				b.AddBytes(name, shapes.Attribute(v))
			}
		}
		r.Item = b.Item()
	}

	for _, name := range slices.Sorted(maps.Keys(left)) {
		for _, part := range slices.Sorted(maps.Keys(left[name])) {
			what, why := "Booleans", "--mask has no others for them"
			if part == mask.Names {
				what, why = "names of members", "--mask keeps the names of fields, but these can be values"
			}
			im.add(Loss{
				What: what + " in " + name, Why: why, Hint: "look at them before you give the model away",
			})
		}
	}
}

// maskedItem returns an item with the stand-ins of its values.
func maskedItem(it attr.Item, standIn func(attr.Value) attr.Value) attr.Item {
	var b attr.Builder
	for name, v := range it.All() {
		b.AddBytes(name, standIn(v))
	}
	return b.Item()
}
