package model

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/sortkey/sortkey/internal/text"
)

// A Parent is an entity to which the items of another belong: each to one of its items.
type Parent struct {
	Entity *Entity
	// Per is how many items belong to one of the parent's.
	Per Per
}

// CarriedFrom returns the parent whose value the items of e carry in a field, or nil if the field
// is their own. A field is carried if it is in the key of a parent, or of an entity to which the
// parent belongs. A time is carried only where it stands beside components of the parent: otherwise
// it is usually a time of the items' own under the same name.
func (e *Entity) CarriedFrom(f *Field) *Entity {
	for _, p := range e.Parents {
		if p.Entity.Gives(f, e) {
			return p.Entity
		}
	}
	return nil
}

// Gives reports whether an item of e, or one to which it belongs, determines a field of the items
// of a child.
func (e *Entity) Gives(f *Field, child *Entity) bool {
	if slices.Contains(e.KeyFields(), f) && (!Moment(f.Type) || child.repeats(e, f.Name)) {
		return true
	}
	return slices.ContainsFunc(e.Parents, func(p Parent) bool { return p.Entity.Gives(f, child) })
}

// repeats reports whether a template of e has a component of a parent in the parent's place: after
// the same word or none, and after no other components than those in the parent's key.
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

// before returns the components before one of the template, and the word just before it. It reports
// false if the template does not have the component.
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

// Ancestors returns the entities to which e belongs, and those to which they belong, each before
// its own parents.
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

// perTolerance is how far a count may be from what per says: people write round numbers.
const perTolerance = 0.05

// SettleCounts checks what belongs to what, and how long items live. It sets the counts that follow
// from others: that of an entity from the count of its parent and the number per parent, and the other
// way round.
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

// spreadCounts sets the counts that follow from others.
func (m *Model) spreadCounts() {
	// follow sets a count that is missing, and reports whether it did.
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

// circle returns an error if e belongs to itself.
func (e *Entity) circle() *ParseError {
	if !slices.Contains(e.Ancestors(), e) {
		return nil
	}
	return e.invalid(
		"remove of from one of them", "entity %s belongs to itself, as it belongs to %s", e.Name,
		e.Parents[0].Entity.Name,
	)
}

// carriesNothing returns an error if no template of e shows to which item of a parent its items
// belong.
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

// contradiction returns an error if the counts of e and of a parent do not fit.
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

// crowded returns an error if one item of a parent has several items, although nothing in their
// key tells them apart.
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
