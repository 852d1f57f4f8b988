package lint

import (
	"slices"
	"strings"
	"unicode"

	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/keys"
)

// A shape describes the form of an entity's key.
type shape struct {
	// the literals and fields of the key; if same is equal for two entities, equal values give them equal keys
	same  string
	alike string // like same, but with types in place of field names
	words bool   // a literal with letters, such as USER#, comes before a field
	timed bool   // all components of the sort key are times
}

// shapeOfKey returns the shape of an entity's key. It returns false if the entity lacks a key attribute.
func shapeOfKey(p *Pass, e *model.Entity) (s shape, ok bool) {
	timed, other := false, false
	for i, a := range e.Table.Keys() {
		t := e.Attribute(a.Name)
		if t == nil {
			return s, false
		}
		parts, inSort := partsOf(t), i >= len(e.Table.Partition)
		for k, part := range parts {
			s.same += part.Literal + "\x00" + part.Name + "\x00"
			s.alike += part.Literal + "\x00" + kindOf(e, part) + "\x00"
			s.words = s.words || k+1 < len(parts) && strings.ContainsFunc(part.Literal, unicode.IsLetter)
			if part.Name != "" && inSort {
				moment := precision(part.Type) > 0 ||
					textual(part.Type) && allAre(p.Written(e, part.Name), isMoment)
				timed, other = timed || moment, other || !moment
			}
		}
		s.same, s.alike = s.same+"\x01", s.alike+"\x01"
	}
	s.timed = timed && !other
	return s, true
}

// kindOf returns a text that is equal for components with the same kind of values: the list of allowed values, or the
// type. It returns "" for arbitrary text and for literals.
func kindOf(e *model.Entity, p keys.Part) string {
	f := e.Field(p.Name)
	switch {
	case f != nil && len(f.Values) > 0:
		return strings.Join(f.Values, "\x02")
	case p.Name == "" || textual(p.Type):
		return ""
	}
	return p.Type.String()
}

// checkKeys reports each entity whose key has the same form as the key of an earlier entity.
func checkKeys(p *Pass) {
	first := map[string][]*model.Entity{} // by table and shape
	for _, e := range p.Entities {
		s, ok := shapeOfKey(p, e)
		if !ok || s.timed { // keys that consist of times are equal only at the same moment, which is rare
			continue
		}
		id := e.Table.Name + "\x01" + s.alike
		for _, o := range first[id] {
			other, _ := shapeOfKey(p, o)
			equal := s.same == other.same
			// If the keys are equal and one entity has all attributes of the other, the two are states of one item.
			if !equal || within(o, e) == within(e, o) {
				reportAlike(p, o, e, equal, s.words)
				break
			}
		}
		first[id] = append(first[id], e)
	}
}

// partsOf returns the parts of an attribute's template. A constant is one literal.
func partsOf(t *model.Template) []keys.Part {
	if t.Template == nil {
		return []keys.Part{{Literal: string(t.Const.Raw())}}
	}
	return t.Template.Parts()
}

// within reports whether b has all attributes of a.
func within(a, b *model.Entity) bool {
	return !slices.ContainsFunc(a.Attributes, func(t *model.Template) bool { return b.Attribute(t.Name) == nil })
}

// reportAlike reports the second entity, whose key has the same form as the key of the first. If equal is true, the
// entities build their keys from the same fields. If words is true, their keys have the same words before the ids.
func reportAlike(p *Pass, first, second *model.Entity, equal, words bool) {
	v := p.TableView(second.Table)
	names := []string{first.Name, second.Name}
	f := v.Finding("the keys of %s ", names)
	f.Keys = append(v.Example(first), v.Example(second)...)
	if equal {
		f.Severity = model.Error
		f.Say("are equal: an item of one replaces the item of the other")
	} else {
		f.Say("look alike: an item of one replaces an item of the other with the same id")
		if !words {
			f.Severity = model.Note
		}
	}
	t := second.Attribute(v.Keys[len(v.Keys)-1].Name)
	f.Entity, f.Pos = second.Name, t.Pos
	f.Advise("begin %s with the entity name, such as %s#", t.Name, strings.ToUpper(second.Name))
	p.Report(f)
}
