package lint

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/internal/terminal"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keys"
)

// keyOf returns the key of an item in the view as text.
func (v *view) keyOf(it attr.Item) string {
	var parts []string
	for _, a := range v.all {
		if value := it.Get(a.Name); value.Kind() != 0 {
			parts = append(parts, clip(text.Literal(value)))
		}
	}
	return strings.Join(parts, ", ")
}

// shown returns the keys of items as text.
func (v *view) shown(items ...*world.Item) (all []string) {
	for _, it := range items {
		if it != nil {
			all = append(all, v.keyOf(it.Attributes))
		}
	}
	return all
}

// suchAs returns, as text, a key that an item of the entity could have. It
// takes values from change, then from base, and makes examples of the types for
// the rest. It returns "" if no such key can be built.
func (l *linter) suchAs(v *view, e *model.Entity, base *world.Item, change map[string]string) string {
	values := map[string]string{}
	if base != nil {
		values = base.Values.Map()
	}
	maps.Copy(values, change)
	var parts []string
	for _, a := range v.all {
		t := e.Attribute(a.Name)
		switch {
		case t == nil:
			return ""
		case t.Template == nil:
			parts = append(parts, text.Literal(t.Const))
			continue
		}
		for _, p := range t.Template.Parts() {
			if p.Name != "" && values[p.Name] == "" {
				values[p.Name] = example(e.Field(p.Name), p.Type)
			}
		}
		key, err := t.Template.Build(values)
		if err != nil {
			return ""
		}
		if a.Kind == attr.Number {
			parts = append(parts, key)
		} else {
			parts = append(parts, clip(text.Quote(key)))
		}
	}
	return "such as " + strings.Join(parts, ", ")
}

// pair returns the two keys that show a hazard: the key of each value's item,
// or a key made from the value if it has no item.
func (l *linter) pair(s *slot, field string, a, b authoredValue) []string {
	v := s.view()
	base := a.it
	if base == nil {
		base = b.it
	}
	if base == nil && len(l.items[s.e]) > 0 {
		base = l.items[s.e][0]
	}
	var all []string
	for _, w := range []authoredValue{a, b} {
		if w.it != nil {
			all = append(all, v.shown(w.it)...)
		} else if key := l.suchAs(v, s.e, base, map[string]string{field: w.text}); key != "" {
			all = append(all, key)
		}
	}
	return all
}

// example returns an example value of a field.
func example(f *model.Field, t keys.Type) string {
	if f != nil && len(f.Values) > 0 {
		return f.Values[0]
	}
	if f != nil && f.From != "" {
		if v, err := t.Canonical(f.From); err == nil {
			return v
		}
	}
	switch t.Name {
	case "int", "signed", "decimal", "number":
		return "7"
	case "year":
		return "2026"
	case "month":
		return "2026-01"
	case "date":
		return "2026-01-05"
	case "time", "millis", "micros", "nanos", "epoch", "epochms":
		return "2026-01-05T10:00:00Z"
	case "uuid":
		return "123e4567-e89b-42d3-a456-426614174000"
	case "ulid":
		return "01KE5WGCV08GZZZZZZZZZZZZZZ"
	case "ksuid":
		return "0ujtsYcgvSTl8PAuAdqWYSMnLOv"
	case "hex":
		return strings.Repeat("c0ffee42", t.Width/8+1)[:t.Width]
	case "enum":
		if len(t.Values) > 0 {
			return t.Values[0]
		}
	}
	if t.Width > 0 {
		return strings.Repeat("a", t.Width)
	}
	return "a1"
}

// source returns parts as a template, with the text of one component replaced.
func source(parts []keys.Part, component, with string) string {
	var b strings.Builder
	for _, p := range parts {
		switch {
		case p.Name == "":
			b.WriteString(strings.NewReplacer("{", "{{", "}", "}}").Replace(p.Literal))
		case p.Name == component && with != "":
			b.WriteString(with)
		case p.Typed:
			b.WriteString("{" + p.Name + ":" + p.Type.String() + "}")
		default:
			b.WriteString("{" + p.Name + "}")
		}
	}
	return b.String()
}

// skeleton returns the shape of a template without the names of its components.
func skeleton(parts []keys.Part) string {
	var b strings.Builder
	for _, p := range parts {
		switch {
		case p.Name == "":
			b.WriteString(p.Literal)
		case textual(p.Type):
			b.WriteString("\x00*\x00")
		default:
			b.WriteString("\x00" + p.Type.String() + "\x00")
		}
	}
	return b.String()
}

// clip shortens text to about one line.
func clip(s string) string { return terminal.ClipMiddle(s, 120) }

// quoted returns text in quotes, for sentences.
func quoted(s string) string { return clip(text.Quote([]byte(s))) }

// addKeys adds keys of the entity to a finding that shows fewer than two.
func (l *linter) addKeys(f *model.Finding) {
	e := l.m.Entity(f.Entity)
	if !slices.Contains(l.entities, e) || len(f.Keys) > 1 {
		return
	}
	v := l.views[slices.IndexFunc(l.views, func(v *view) bool { return v.t == e.Table })]
	for _, o := range l.views {
		if o.t == e.Table && o.x != nil && o.x.Name == f.Index && f.Rule != sparseID {
			v = o
		}
	}
	var at *world.Item
	for _, it := range l.items[e][:min(100, len(l.items[e]))] {
		if _, ok := v.size(it.Attributes); ok && len(f.Keys) < 2 {
			at = it
			if key := v.keyOf(it.Attributes); !slices.Contains(f.Keys, key) {
				f.Keys = append(f.Keys, key)
			}
		}
	}
	if len(f.Keys) == 0 {
		f.Keys = nonEmpty(l.suchAs(v, e, nil, nil))
	}
	if len(f.Keys) == 1 {
		f.Keys = append(f.Keys, l.variantKey(v, e, at)...)
	}
}

// variantKey returns a key that differs from the key of an item in its last
// text component.
func (l *linter) variantKey(v *view, e *model.Entity, it *world.Item) []string {
	all := v.all
	for _, a := range slices.Backward(all) {
		t := e.Attribute(a.Name)
		if t == nil || t.Template == nil {
			continue
		}
		for _, p := range slices.Backward(t.Template.Parts()) {
			if p.Name != "" && textual(p.Type) {
				return nonEmpty(l.suchAs(v, e, it, map[string]string{p.Name: "another"}))
			}
		}
	}
	return nil
}

// list joins names for a sentence, and counts those beyond the fifth.
func list(names []string) string {
	const most = 5
	if n := len(names) - most; n > 1 {
		return strings.Join(names[:most], ", ") + " and " + strconv.Itoa(n) + " more"
	}
	return text.Join(names, "and")
}

// andMore counts the cases beyond the one shown.
func andMore(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(", and %s more", text.Thousands(n))
}

// others counts the other partitions beyond the same limit.
func others(n int, how string) string {
	switch {
	case n <= 0:
		return ""
	case n == 1:
		return "; 1 other is " + how + " too"
	}
	return fmt.Sprintf("; %s others are %s too", text.Thousands(n), how)
}

// are returns "is" or "are".
func are(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// delimiterAfter returns the delimiter at the start of a literal, such as # for
// #VARIANT#.
func delimiterAfter(literal string) string {
	for i, r := range literal {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return literal[:i]
		}
	}
	return literal
}

// nonEmpty returns the strings that are not empty.
func nonEmpty(all ...string) []string {
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
}
