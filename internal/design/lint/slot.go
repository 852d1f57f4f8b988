package lint

import (
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keys"
)

// String returns the name of the attribute.
func (s *Slot) String() string { return s.Name }

// Finding returns a finding about the slot in its [Slot.View].
func (s *Slot) Finding(format string, args ...any) *Finding {
	return s.FindingIn(s.View(), format, args...)
}

// FindingIn returns a finding about the slot in the view v, which must have the slot in its key.
func (s *Slot) FindingIn(v *View, format string, args ...any) *Finding {
	f := v.Finding(format, args...)
	f.Pos, f.Entity = s.Pos, s.Entity.Name
	return f
}

// SortView returns the first view whose sort key includes the slot, or nil.
func (s *Slot) SortView() *View {
	for _, p := range s.Places {
		if p.Sort {
			return p.View
		}
	}
	return nil
}

// View returns a view whose key includes the slot. It prefers a view with the slot in its sort key.
func (s *Slot) View() *View {
	if v := s.SortView(); v != nil {
		return v
	}
	return s.Places[0].View
}

// InTable reports whether the slot is in the key of its table.
func (s *Slot) InTable() bool {
	return slices.ContainsFunc(s.Places, func(p Place) bool { return p.Index == nil })
}

// Literal returns the literal text at the start of the slot's template, or "".
func (s *Slot) Literal() string {
	if len(s.Parts) > 0 && s.Parts[0].Name == "" {
		return s.Parts[0].Literal
	}
	return ""
}

// Components returns the components of the slot.
func (s *Slot) Components() (all []Component) {
	for i, p := range s.Parts {
		if p.Name != "" {
			all = append(all, Component{s, p.Name, p.Type, i})
		}
	}
	return all
}

// Has reports whether a field is in the slot.
func (s *Slot) Has(field string) bool { return slices.Contains(s.Template.Components(), field) }

// Reordered returns the slot's template as text, with its components in another order. A word before a component
// moves with it if the name of the component begins with the word: ORDER#{order}#USER#{user} becomes
// USER#{user}#ORDER#{order}.
func (s *Slot) Reordered(order []Component) string {
	label := func(at int) (before, word string) {
		if at == 0 || s.Parts[at-1].Name != "" {
			return "", ""
		}
		literal := s.Parts[at-1].Literal
		bare := strings.TrimRight(literal, delimiters)
		head := strings.LastIndexAny(bare, delimiters) + 1
		word = strings.ToLower(bare[head:])
		if word == "" || !strings.HasPrefix(strings.ToLower(s.Parts[at].Name), word) {
			return literal, ""
		}
		return literal[:head], literal[head:]
	}

	parts := s.Template.Parts()
	for i, to := range s.Components() {
		from := order[i].At
		if parts[to.At] = s.Parts[from]; to.At > 0 && parts[to.At-1].Name == "" {
			before, _ := label(to.At)
			_, word := label(from)
			parts[to.At-1].Literal = before + word
		}
	}
	return sourceOf(parts)
}

// After returns the component that comes next in the slot's keys after a prefix, or the zero Component if none comes.
// If the prefix ends inside a value, After returns the component of this value, and inside is true. ok is false if no
// key of the slot can begin with the prefix.
func (s *Slot) After(prefix string) (c Component, inside, ok bool) {
	at, ok := ends(s.Parts, prefix)
	for _, c := range s.Components() {
		if c.At == at {
			return c, true, ok
		}
		if before, fits := ends(s.Parts[:c.At], prefix); at < 0 && fits && before < 0 {
			return c, false, ok
		}
	}
	return Component{}, false, ok
}

var digit = text.Pattern(`[0-9]`)

// masked returns s with each digit replaced by 0.
func masked(s string) string { return digit().ReplaceAllString(s, "0") }

// ends returns the index of the component in whose value a key prefix ends, or -1 if the prefix ends in literal text.
// It returns false if no key can have the prefix.
func ends(parts []keys.Part, prefix string) (int, bool) {
	for i, p := range parts {
		width, fixed := p.Type.Fixed()
		switch {
		case p.Name == "":
			if len(prefix) <= len(p.Literal) {
				return -1, strings.HasPrefix(p.Literal, prefix)
			}
			if !strings.HasPrefix(prefix, p.Literal) {
				return -1, false
			}
			prefix = prefix[len(p.Literal):]
		case fixed:
			if len(prefix) <= width {
				return i, true
			}
			prefix = prefix[width:]
		default:
			if i == len(parts)-1 {
				return i, true
			}
			at := strings.Index(prefix, parts[i+1].Literal)
			if parts[i+1].Literal == "" || at < 0 {
				return i, true
			}
			prefix = prefix[at:]
		}
	}
	return -1, prefix == ""
}

// Example returns a key of the slot's entity, in the view of the slot.
func (s *Slot) Example() []string { return s.View().Example(s.Entity) }
