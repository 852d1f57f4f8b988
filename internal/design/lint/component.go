package lint

import (
	"github.com/sortkey/sortkey/internal/design/dataset"
)

// String returns the name of the field.
func (c Component) String() string { return c.Name }

// Written returns the values of the component's field that people wrote in the model, as opposed to generated ones.
func (c Component) Written() []Written { return c.study.Written(c.Entity, c.Name) }

// AllWritten reports whether people wrote at least one value of the component's field, and is() accepts each of these
// values.
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

// Encoded returns the text that stands for the component in the key of an item, or "".
func (c Component) Encoded(it *dataset.Item) string {
	s, _ := c.Type.Encode(it.Values.Get(c.Name)) // no key contains a value that cannot be encoded
	return s
}

// KeyWith returns the key of w's item, as a list for a finding. If w has no item, the list is empty.
func (c Component) KeyWith(w Written) []string {
	return c.View().Shown(w.Item)
}

// Longer yields other slots of the same attribute. Their templates have the same form as this one up to the
// component, and have more parts after it. With each slot, Longer yields the delimiter that follows the component
// there.
func (c Component) Longer(yield func(*Slot, string) bool) {
	n := c.At + 1
	for _, s := range c.study.SlotsOf(c.Entity.Table, c.Slot.Name) {
		if s != c.Slot && len(s.Parts) > n && skeleton(s.Parts[:n]) == skeleton(c.Parts[:n]) &&
			!yield(s, delimiterAfter(s.Parts[n].Literal)) {
			return
		}
	}
}
