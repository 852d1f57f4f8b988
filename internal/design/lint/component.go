package lint

import (
	"github.com/sortkey/sortkey/internal/design/dataset"
)

// String returns the name of the field.
func (c Component) String() string { return c.Name }

// Written returns the values of the component's field that people wrote in the model.
func (c Component) Written() []Written { return c.study.Written(c.Entity, c.Name) }

// AllWritten reports whether people wrote at least one value of the component's field, and the function is returns
// true for each of them.
func (c Component) AllWritten(is func(text string) bool) bool {
	return allAre(c.Written(), is)
}

// Single reports whether the model allows only one value of the component's field.
func (c Component) Single() bool {
	f := c.Entity.Field(c.Name)
	return f != nil && (len(f.Values) == 1 || f.Distinct == 1)
}

// With returns the template of the slot as text, with other text in place of the component.
func (c Component) With(text string) string { return sourceWith(c.Parts, c.Name, text) }

// As returns the template of the slot as text, with another type for the component.
func (c Component) As(typ string) string { return c.With("{" + c.Name + ":" + typ + "}") }

// Encoded returns the text of the component in the key of an item, or "".
func (c Component) Encoded(it *dataset.Item) string {
	s, _ := c.Type.Encode(it.Values.Get(c.Name)) // a value that cannot be encoded is in no key
	return s
}

// KeyWith returns the key of the item that has the value w. If no item has w, it returns no key.
func (c Component) KeyWith(w Written) []string {
	return c.View().Shown(w.Item)
}

// Longer yields the other slots of the same attribute whose templates begin as this one does, up to the component,
// and continue after that. With each slot, it yields the delimiter that follows the component there.
func (c Component) Longer(yield func(*Slot, string) bool) {
	n := c.At + 1
	for _, s := range c.study.SlotsOf(c.Entity.Table, c.Slot.Name) {
		if s != c.Slot && len(s.Parts) > n && skeleton(s.Parts[:n]) == skeleton(c.Parts[:n]) &&
			!yield(s, delimiterAfter(s.Parts[n].Literal)) {
			return
		}
	}
}
