package convert

import (
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
)

// sample splits an item into field values and other attributes. It returns nil if the entity cannot rebuild exactly
// the same item from them.
func sample(e *model.Entity, it attr.Item) *model.Sample {
	s := &model.Sample{Values: e.FieldsOf(it)}
	var extra attr.Builder
	for name, v := range it.All() {
		if t := e.Attribute(string(name)); t != nil && t.Produces(v) {
			continue
		}
		if !plainExtra(e, string(name)) {
			return nil
		}
		extra.AddBytes(name, v)
	}

	s.Attributes = extra.Item()
	if made, err := e.ItemWith(s.Values, s.Attributes); err != nil || !made.Equal(it) {
		return nil
	}
	return s
}

// plainExtra reports whether a sample may have an extra attribute with this name. Package modelfile refuses names
// that look like typing errors.
func plainExtra(e *model.Entity, name string) bool {
	if e.Field(name) != nil || e.Attribute(name) != nil {
		return e.Field(name) == nil
	}
	return modelfile.Similar(name, modelfile.Names(e)) == ""
}
