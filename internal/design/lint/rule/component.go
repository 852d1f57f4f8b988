package rule

import (
	"slices"

	"github.com/sortkey/sortkey/internal/design/dataset"
)

// String returns the name of the field.
func (c Component) String() string { return c.Name }

// Written returns what people wrote for the component's field.
func (c Component) Written() []Written { return c.study.Written(c.Entity, c.Name) }

// AllWritten reports whether people wrote values of the component's field, and
// all of them are of a kind.
func (c Component) AllWritten(is func(text string) bool) bool {
	words := c.Written()
	return len(words) > 0 && !slices.ContainsFunc(words, func(w Written) bool { return !is(w.Text) })
}

// Single reports whether the component's field has only one value.
func (c Component) Single() bool {
	f := c.Entity.Field(c.Name)
	return f != nil && (len(f.Values) == 1 || f.Distinct == 1)
}

// With returns the slot's template with other text in place of the component.
func (c Component) With(text string) string { return sourceWith(c.Parts, c.Name, text) }

// As returns the slot's template with another type of the component.
func (c Component) As(typ string) string { return c.With("{" + c.Name + ":" + typ + "}") }

// Encoded returns the text of the component in the key of an item, or "".
func (c Component) Encoded(it *dataset.Item) string {
	s, _ := c.Type.Encode(it.Values.Get(c.Name)) // what cannot be encoded is in no key
	return s
}

// KeyWith returns a key that contains a value of the component, none for a value that no item has.
func (c Component) KeyWith(w Written) []string {
	return c.View().Shown(w.Item)
}

// Longer yields the other slots of the attribute whose keys begin like those of
// the component's slot and go on after the component, with the delimiter there.
func (c Component) Longer(yield func(*Slot, string) bool) {
	n := c.At + 1
	for _, s := range c.study.SlotsOf(c.Entity.Table, c.Slot.Name) {
		if s != c.Slot && len(s.Parts) > n && Skeleton(s.Parts[:n]) == Skeleton(c.Parts[:n]) &&
			!yield(s, DelimiterAfter(s.Parts[n].Literal)) {
			return
		}
	}
}
