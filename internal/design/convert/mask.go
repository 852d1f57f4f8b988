package convert

import (
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/mask"
	"github.com/sortkey/sortkey/internal/design/model"
)

// mask replaces the letters and digits of samples by others, so that only the shapes and the
// lengths of values remain. Equal values stay equal, so that items still belong together.
// Dates, times, the texts of templates, constants, and values that a template depends on stay.
func (im *importer) mask() {
	shapes := mask.NewShapes(im.o.Seed)
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
			s.Attributes = maskedItem(s.Attributes, shapes.Attribute)
		}
	}

	for _, r := range im.m.Items {
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
}

// maskedItem returns an item with the stand-ins of its values.
func maskedItem(it attr.Item, standIn func(attr.Value) attr.Value) attr.Item {
	var b attr.Builder
	for name, v := range it.All() {
		b.AddBytes(name, standIn(v))
	}
	return b.Item()
}
