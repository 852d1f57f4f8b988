package lint

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keys"
)

// keyOf writes the key of an item in the view.
func (v *view) keyOf(it attr.Item) string {
	var parts []string
	for _, a := range v.all {
		if value := it.Get(a.Name); value.Kind() != 0 {
			parts = append(parts, clip(text.Literal(value)))
		}
	}
	return strings.Join(parts, ", ")
}

// shown are the keys of items.
func (v *view) shown(items ...*design.Item) (all []string) {
	for _, it := range items {
		if it != nil {
			all = append(all, v.keyOf(it.Attributes))
		}
	}
	return all
}

// suchAs writes a key that an item of the entity could have: with the values of
// base, those of change instead of some, and examples of the types for the
// rest. It is "" when there is no such key.
func (l *linter) suchAs(v *view, e *design.Entity, base *design.Item, change map[string]string) string {
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

// pair returns the two keys that show a hazard: those of the items, or for an
// item that is nil one made of the value of a field.
func (l *linter) pair(s *slot, field string, a, b word) []string {
	v := s.first()
	base := a.it
	if base == nil {
		base = b.it
	}
	if base == nil && len(l.items[s.e]) > 0 {
		base = l.items[s.e][0]
	}
	var all []string
	for _, w := range []word{a, b} {
		if w.it != nil {
			all = append(all, v.shown(w.it)...)
		} else if key := l.suchAs(v, s.e, base, map[string]string{field: w.text}); key != "" {
			all = append(all, key)
		}
	}
	return all
}

// example is a value of a field.
func example(f *design.Field, t keys.Type) string {
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
	return "a1"
}

// source writes parts as a template, the text of one component replaced.
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

// skeleton is what the template looks like when names do not count.
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

// clip shortens text that is too long for a line.
func clip(s string) string {
	const most = 120
	if len(s) <= most {
		return s
	}
	r := []rune(s)
	if len(r) <= most {
		return s
	}
	return string(r[:most-30]) + "…" + string(r[len(r)-20:])
}

// quoted is text in quotes, for sentences.
func quoted(s string) string { return clip(text.Quote([]byte(s))) }

// topUp gives a finding about an entity that has fewer than two keys others.
func (l *linter) topUp(f *design.Finding) {
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
	var at *design.Item
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
		f.Keys = append(f.Keys, l.another(v, e, at)...)
	}
}

// another is a key that differs from that of an item in its last text.
func (l *linter) another(v *view, e *design.Entity, it *design.Item) []string {
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

// list joins names as a sentence does, and counts those that are too many.
func list(names []string) string {
	const most = 5
	if n := len(names) - most; n > 1 {
		return strings.Join(names[:most], ", ") + " and " + strconv.Itoa(n) + " more"
	}
	switch len(names) {
	case 0:
		return ""
	case 1:
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// also tells how many more there are like the one shown.
func also(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(", and %s more", grouped(n))
}

// others tells how many more are as bad.
func others(n int, how string) string {
	switch {
	case n <= 0:
		return ""
	case n == 1:
		return "; another is " + how + " too"
	}
	return fmt.Sprintf("; %s others are %s too", grouped(n), how)
}

// are is the verb for so many.
func are(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// grouped writes a number with commas.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// plural writes a number of things.
func plural(n int, what string) string {
	switch {
	case n == 1:
		return "1 " + what
	case strings.HasSuffix(what, "y") && !strings.HasSuffix(what, "ey"):
		return grouped(n) + " " + strings.TrimSuffix(what, "y") + "ies"
	}
	return grouped(n) + " " + what + "s"
}

// size writes a number of bytes.
func size(n float64) string {
	for _, u := range []struct {
		bytes float64
		name  string
	}{{1 << 40, "TB"}, {1 << 30, "GB"}, {1 << 20, "MB"}, {1 << 10, "KB"}} {
		if n >= u.bytes {
			return strconv.FormatFloat(math.Round(10*n/u.bytes)/10, 'f', -1, 64) + " " + u.name
		}
	}
	return strconv.FormatFloat(n, 'f', 0, 64) + " bytes"
}

func percent(share float64) string {
	return strconv.FormatFloat(math.Round(100*share), 'f', -1, 64) + "%"
}

// rate writes units a second.
func rate(n float64) string {
	if n >= 10 {
		return grouped(int(math.Round(n)))
	}
	return strconv.FormatFloat(math.Round(10*n)/10, 'f', -1, 64)
}

// delimiterAfter returns what stands behind a component up to the next word:
// # of #VARIANT#.
func delimiterAfter(literal string) string {
	for i, r := range literal {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return literal[:i]
		}
	}
	return literal
}

// fields joins what is not empty.
func nonEmpty(all ...string) []string {
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
}
