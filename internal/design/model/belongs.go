package model

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/sortkey/sortkey/internal/text"
)

// A Parent is an entity that another entity, the child, belongs to: each of the child's items belongs to one of the
// parent's items.
type Parent struct {
	Entity *Entity
	// Per is the number of the child's items that belong to one item of the parent.
	Per Per
}

// CarriedFrom returns the parent from which the items of e copy the value of a field, or nil if e has its own values.
// Items copy a field that is in the key of a parent or of one of the parent's ancestors. They copy a time only if it
// is in the same position in a template of e as in a template of the parent. A time elsewhere is usually another time
// with the same name.
func (e *Entity) CarriedFrom(f *Field) *Entity {
	for _, p := range e.Parents {
		if p.Entity.Gives(f, e) {
			return p.Entity
		}
	}
	return nil
}

// Gives reports whether the items of child copy the value of f from an item of e or of an ancestor of e.
func (e *Entity) Gives(f *Field, child *Entity) bool {
	if slices.Contains(e.KeyFields(), f) && (!Moment(f.Type) || child.repeats(e, f.Name)) {
		return true
	}
	return slices.ContainsFunc(e.Parents, func(p Parent) bool { return p.Entity.Gives(f, child) })
}

// repeats reports whether a template of e has the component where a template of the parent has it. The literal word
// before the component must be the same, or missing after another component. All components before it must be in the
// parent's key.
func (e *Entity) repeats(parent *Entity, component string) bool {
	words := []string{""}
	for _, t := range parent.Attributes {
		if _, word, ok := t.before(component); ok {
			words = append(words, word)
		}
	}
	keys := parent.ComponentsOf(parent.Table.Keys())
	return slices.ContainsFunc(e.Attributes, func(t *Template) bool {
		before, word, ok := t.before(component)
		foreign := slices.ContainsFunc(before, func(name string) bool { return !keys[name] })
		return ok && !foreign && slices.Contains(words, word) && len(before)+len(word) > 0
	})
}

// before returns the components that precede the given component in the template, and the literal word just before
// it. It reports false if the template does not have the component.
func (t *Template) before(component string) (names []string, word string, ok bool) {
	if t.Template == nil {
		return nil, "", false
	}
	for _, p := range t.Template.Parts() {
		switch {
		case p.Name == component:
			return names, word, true
		case p.Name != "":
			names, word = append(names, p.Name), ""
		default:
			word = strings.TrimFunc(p.Literal, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		}
	}
	return nil, "", false
}

// Ancestors returns the parents of e, then their parents, and so on, each once.
func (e *Entity) Ancestors() (all []*Entity) {
	for _, p := range e.Parents {
		all = append(all, p.Entity)
	}
	for i := 0; i < len(all); i++ {
		for _, p := range all[i].Parents {
			if !slices.Contains(all, p.Entity) {
				all = append(all, p.Entity)
			}
		}
	}
	return all
}

// maxCount is the largest number of items of an entity.
const maxCount = 1_000_000_000

// perTolerance is how far a count may differ from the parent's count times per, as a share of that product. People
// write round numbers, so the two need not be equal.
const perTolerance = 0.05

// SettleCounts computes the missing one of two counts, a parent's or a child's, from the number of children per
// parent. It returns errors for entities that are their own ancestors, that lack their parent's key, or whose counts
// contradict those of their parents.
func (m *Model) SettleCounts() Errors {
	for _, check := range []func(*Entity) *ParseError{(*Entity).circle, (*Entity).carriesNothing} {
		var errs Errors
		for _, e := range m.Entities {
			if err := check(e); err != nil {
				errs = append(errs, err)
			}
		}
		if len(errs) > 0 {
			return errs
		}
	}

	m.spreadCounts()

	var errs Errors
	for _, e := range m.Entities {
		for _, p := range e.Parents {
			if err := e.contradiction(p); err != nil {
				errs = append(errs, err)
				break
			}
		}
	}
	return errs
}

// spreadCounts computes missing counts from the counts of parents and children, until nothing changes.
func (m *Model) spreadCounts() {
	// follow sets a missing count to n, rounded, and reports whether it did.
	follow := func(count *int, n float64) bool {
		if *count > 0 || n < 0.5 {
			return false
		}
		*count = int(min(math.Round(n), maxCount+1))
		return true
	}
	for changed := true; changed; {
		changed = false
		for _, e := range m.Entities {
			for _, p := range e.Parents {
				if mean, ok := p.Per.Mean(); ok {
					down := follow(&e.Count, float64(p.Entity.Count)*mean)
					up := follow(&p.Entity.Count, float64(e.Count)/mean)
					changed = changed || down || up
				}
			}
		}
	}
}

func (e *Entity) invalid(hint, format string, args ...any) *ParseError {
	return &ParseError{Pos: e.Pos, Msg: fmt.Sprintf(format, args...), Hint: hint}
}

// circle returns an error if e is its own ancestor.
func (e *Entity) circle() *ParseError {
	if !slices.Contains(e.Ancestors(), e) {
		return nil
	}
	return e.invalid(
		"remove of from one of them", "entity %s belongs to itself, as it belongs to %s", e.Name,
		e.Parents[0].Entity.Name,
	)
}

// carriesNothing returns an error if no template of e has a field that identifies the parent's item.
func (e *Entity) carriesNothing() *ParseError {
	for _, p := range e.Parents {
		keys := p.Entity.KeyFields()
		own := slices.DeleteFunc(slices.Clone(keys), func(f *Field) bool { return p.Entity.CarriedFrom(f) != nil })
		if len(own) == 0 {
			own = keys
		}

		given := func(f *Field) bool { return slices.Contains(e.Fields, f) && p.Entity.Gives(f, e) }
		if slices.ContainsFunc(own, given) {
			continue
		}
		var names []string
		hint := "add %s to a template of " + e.Name + ", as in " + p.Entity.Name
		for _, f := range own {
			names = append(names, "{"+f.Name+"}")
			if slices.Contains(e.Fields, f) {
				hint = "put %s beside the other components of " + p.Entity.Name + ", or after the same word as there"
			}
		}

		if len(names) == 0 {
			return e.invalid(
				"add a component to the key of "+p.Entity.Name, "entity %s belongs to %s, whose key has no component",
				e.Name, p.Entity.Name,
			)
		}

		return e.invalid(
			fmt.Sprintf(hint, text.Join(names, "and")),
			"entity %s belongs to %s, but its templates do not show to which", e.Name, p.Entity.Name,
		)
	}
	return nil
}

// contradiction returns an error if the counts of e and of its parent p contradict each other or p.Per.
func (e *Entity) contradiction(p Parent) *ParseError {
	parent := p.Entity
	switch {
	case e.Count == 0:
		return nil
	case e.Count > maxCount:
		return e.invalid(
			"lower a count or per", "entity %s would have more than %s items", e.Name, text.Thousands(maxCount),
		)
	case parent.Count == 0:
		return e.invalid(
			"add count to "+parent.Name+", or per to "+e.Name+", from which it follows",
			"entity %s has a count, but %s, to which it belongs, has none", e.Name, parent.Name,
		)
	}

	if mean, ok := p.Per.Mean(); ok {
		made := float64(parent.Count) * mean
		if off := math.Abs(made - float64(e.Count)); off > 1 && off > perTolerance*made {
			hint := "remove count or per"
			per := math.Round(float64(e.Count) / float64(parent.Count))
			if math.Abs(per*float64(parent.Count)-float64(e.Count)) <= perTolerance*float64(e.Count) {
				hint += fmt.Sprintf(", or write per: %v", per)
			}
			if len(e.Parents) > 1 {
				hint = "change a count, or write even for one of the numbers in per"
			}
			each := text.Figure(mean)
			if p.Per.Min != p.Per.Max {
				each = "on average " + each
			}
			return e.invalid(
				hint, "entity %s has %s, but %s of %s with %s each make %s", e.Name, text.Count(e.Count, "item"),
				text.Thousands(parent.Count), parent.Name, each, text.Thousands(int(math.Round(made))),
			)
		}
	}
	return e.crowded(p)
}

// crowded returns an error if several items of e belong to one item of the parent, but the key of e has no field of
// its own that tells them apart.
func (e *Entity) crowded(p Parent) *ParseError {
	if e.Count <= p.Entity.Count && p.Per.Max <= 1 && p.Per.Skew == 0 ||
		slices.ContainsFunc(e.KeyFields(), func(f *Field) bool { return e.CarriedFrom(f) != p.Entity }) {
		return nil
	}
	return e.invalid(
		"add a component of its own to the key of "+e.Name+", or write per: 0..1",
		"entity %s: one %s has several of them, but nothing in their keys tells them apart", e.Name, p.Entity.Name,
	)
}
