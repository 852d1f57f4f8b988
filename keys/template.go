package keys

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Template makes keys of values and finds the values in keys. It is
// immutable and safe for concurrent use.
type Template struct {
	src   string
	parts []Part
	names []string // of the components, in order
}

// A Part is literal text, or a component when Name is not empty.
type Part struct {
	Literal string
	Name    string
	Type    Type
	// Typed says that the template names the type itself.
	Typed bool
}

// Parse reads a template. A component without a type is a string. Its errors
// are an [*Error].
func Parse(src string) (*Template, error) { return ParseWith(src, nil) }

// MustParse is [Parse] for templates in the source of a program. It panics when
// src is not a template.
func MustParse(src string) *Template {
	t, err := Parse(src)
	if err != nil {
		panic("keys: " + err.Error())
	}
	return t
}

// ParseWith reads a template whose components without a type have those of
// types, by name, and are strings when there is none. {name:desc} reverses the
// order of the type it gets. Its errors are an [*Error].
func ParseWith(src string, types map[string]Type) (*Template, error) {
	p := parser{src: src, types: types}
	if err := p.parse(); err != nil {
		err.Template = src
		return nil, err
	}
	t := &Template{src: src, parts: p.parts}
	for _, part := range p.parts {
		if part.Name != "" {
			t.names = append(t.names, part.Name)
		}
	}
	if err := t.check(); err != nil {
		err.Template = src
		return nil, err
	}
	return t, nil
}

type parser struct {
	src   string
	types map[string]Type
	parts []Part
	lit   strings.Builder
}

func (p *parser) parse() *Error {
	if !utf8.ValidString(p.src) {
		return &Error{Msg: "the template is not UTF-8"}
	}
	if p.src == "" {
		return &Error{Msg: "the template is empty", Advice: "a key attribute holds at least one byte"}
	}
	for i := 0; i < len(p.src); {
		rest := p.src[i:]
		switch {
		case strings.HasPrefix(rest, "{{"), strings.HasPrefix(rest, "}}"):
			p.lit.WriteByte(rest[0])
			i += 2
		case rest[0] == '}':
			return &Error{Offset: i, Msg: "a } closes no component", Advice: "write }} for a brace that stands for itself"}
		case rest[0] == '{':
			end := strings.IndexByte(rest, '}')
			if end < 0 {
				return &Error{Offset: i, Msg: "the component " + clip(rest) + " is not closed", Advice: "write {name}, or {{ for a brace that stands for itself"}
			}
			if err := p.component(rest[1:end]); err != nil {
				err.Offset = i
				return err
			}
			i += end + 1
		default:
			p.lit.WriteByte(rest[0])
			i++
		}
	}
	p.literal()
	return nil
}

func (p *parser) literal() {
	if p.lit.Len() > 0 {
		p.parts = append(p.parts, Part{Literal: p.lit.String()})
		p.lit.Reset()
	}
}

func (p *parser) component(inner string) *Error {
	p.literal()
	name, typ, typed := strings.Cut(inner, ":")
	if !isName(name) {
		return &Error{Msg: clip(name) + " is not the name of a component", Advice: "names are letters, digits, _, - and ., and begin with a letter or _"}
	}
	if slices.ContainsFunc(p.parts, func(o Part) bool { return o.Name == name }) {
		return &Error{Component: name, Msg: "stands twice in the template", Advice: "one place is enough to sort by it and to read it back"}
	}
	part := Part{Name: name, Type: Type{Name: "string"}}
	if given, ok := p.types[name]; ok {
		part.Type = given
		if part.Type.Name == "" {
			part.Type.Name = "string"
		}
	}
	if typed && typ == "desc" {
		part.Type.Desc = true
	} else if typed {
		t, err := ParseType(typ)
		if err != nil {
			e := err.(*Error)
			e.Component = name
			return e
		}
		part.Type, part.Typed = t, true
	}
	if _, err := part.Type.kind(); err != nil {
		e := err.(*Error)
		e.Component = name
		return e
	}
	p.parts = append(p.parts, part)
	return nil
}

func isName(s string) bool {
	for i, r := range s {
		if r != '_' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r) && r != '-' && r != '.') {
			return false
		}
	}
	return s != ""
}

// check refuses templates whose keys could not be parsed back.
func (t *Template) check() *Error {
	for i, p := range t.parts {
		if p.Name == "" || !p.Type.variable() {
			continue
		}
		rest := t.parts[i+1:]
		if p.Type.Name == "path" && slices.ContainsFunc(rest, func(o Part) bool { return o.Name != "" }) {
			return &Error{
				Component: p.Name, Type: p.Type.String(), Msg: "a path may contain any text, so where the next component begins could not be told",
				Advice: "make it the last component, or a string, which does not contain the text that follows it",
			}
		}
		if len(rest) == 0 {
			continue
		}
		if next := rest[0]; next.Name != "" {
			return &Error{
				Component: p.Name, Type: p.Type.String(), Msg: "its length differs from value to value and " + next.Name + " follows at once, so the key could not be parsed back",
				Advice: "put a delimiter between them, as {" + p.Name + "}#{" + next.Name + "}, or give " + p.Name + " a type of fixed width, as int(8)",
			}
		}
		for _, v := range p.Type.Values {
			if err := p.closes(v, rest[0].Literal); err != nil {
				return err
			}
		}
	}
	return nil
}

// closes refuses a part in which the literal that follows it begins too early.
func (p Part) closes(part, literal string) *Error {
	if p.Type.Name == "path" || strings.Index(part+literal, literal) == len(part) {
		return nil
	}
	e := invalid(p.Type, part, "contains "+clip(literal)+", the text that follows the component, so the key could not be parsed back",
		"keep it out of the value, or give the template a delimiter that values do not have")
	if !strings.Contains(part, literal) {
		e.Msg = clip(part) + " followed by " + clip(literal) + " holds that text earlier than at its end, so the key could not be parsed back"
	}
	e.Component = p.Name
	return e
}

// String returns the template as it was written.
func (t *Template) String() string { return t.src }

// Explicit returns the template with the type of every component written out,
// so that [Parse] reads it without the types that [ParseWith] was given.
func (t *Template) Explicit() string {
	var b strings.Builder
	for _, p := range t.parts {
		switch typ := p.Type.String(); {
		case p.Name == "":
			b.WriteString(strings.NewReplacer("{", "{{", "}", "}}").Replace(p.Literal))
		case typ == "string":
			b.WriteString("{" + p.Name + "}")
		default:
			b.WriteString("{" + p.Name + ":" + typ + "}")
		}
	}
	return b.String()
}

// Parts returns what the template is made of, in order. The caller may change
// the slice.
func (t *Template) Parts() []Part { return slices.Clone(t.parts) }

// Components returns the names of the components, in order.
func (t *Template) Components() []string { return slices.Clone(t.names) }

// Build returns the key of values in their text form, by component. Values
// that the template does not name are ignored. Its errors are an [*Error].
func (t *Template) Build(values map[string]string) (string, error) {
	key, n, err := t.BuildPrefix(values)
	if err == nil && n < len(t.names) {
		return "", &Error{Template: t.src, Component: t.names[n], Msg: "has no value", Advice: "give every component one: " + strings.Join(t.names, ", ")}
	}
	return key, err
}

// BuildPrefix returns what all keys with values have in common: the key up to
// the first component without a value, and the number of components in it. As
// with [Template.Prefix] the literal that closes the last of them is part of
// it. Its errors are an [*Error].
func (t *Template) BuildPrefix(values map[string]string) (prefix string, n int, err error) {
	list := make([]string, 0, len(t.names))
	for _, name := range t.names {
		v, ok := values[name]
		if !ok {
			break
		}
		list = append(list, v)
	}
	prefix, err = t.prefix(list)
	return prefix, len(list), err
}

// prefix writes the first components, each with the literal after it.
func (t *Template) prefix(values []string) (string, error) {
	var b strings.Builder
	for i, p := range t.parts {
		if p.Name == "" {
			b.WriteString(p.Literal)
			continue
		}
		if len(values) == 0 {
			break
		}
		part, err := t.part(i, values[0])
		if err != nil {
			return "", err
		}
		b.WriteString(part)
		values = values[1:]
	}
	return b.String(), nil
}

// part returns what the component at t.parts[i] writes for a value.
func (t *Template) part(i int, value string) (string, error) {
	p := t.parts[i]
	part, err := p.Type.Encode(value)
	if err != nil {
		return "", in(err, t.src, p.Name)
	}
	if part == "" && len(t.parts) > 1 {
		return "", &Error{Template: t.src, Component: p.Name, Type: p.Type.String(), Msg: "the value is empty", Advice: "a part of a key holds at least one byte, or it could be taken for a prefix"}
	}
	if p.Type.variable() && i+1 < len(t.parts) {
		if err := p.closes(part, t.parts[i+1].Literal); err != nil {
			err.Template = t.src
			return "", err
		}
	}
	return part, nil
}

// Match returns the values in a key, in canonical text form by component, and
// whether the key is one of t: one that [Template.Build] makes.
func (t *Template) Match(key string) (map[string]string, bool) {
	values, failed, err := t.read(key)
	if failed || err != nil {
		return nil, false
	}
	return maps.Collect(t.pairs(values)), true
}

// Values returns the values in a key, in canonical text form and in the order
// of the components. Its errors are an [*Error], which says where the key
// stops being one of t.
func (t *Template) Values(key string) ([]string, error) {
	values, failed, err := t.read(key)
	if err != nil {
		return nil, err
	}
	if failed {
		return nil, t.mismatch(key)
	}
	return values, nil
}

// read returns the values in a key. It fails without an error where the key
// is cut, which is the usual way for the key of another template and so does
// not allocate.
func (t *Template) read(key string) (values []string, failed bool, err error) {
	rest := key
	for i, p := range t.parts {
		part, after, ok := t.cut(i, rest)
		if !ok {
			return nil, true, nil
		}
		rest = after
		if p.Name == "" {
			continue
		}
		v, err := p.Type.Decode(part)
		if err != nil {
			return nil, false, in(err, t.src, p.Name)
		}
		if values == nil {
			values = make([]string, 0, len(t.names))
		}
		values = append(values, v)
	}
	return values, rest != "", nil
}

// mismatch says where the key cannot be cut.
func (t *Template) mismatch(key string) *Error {
	e := &Error{Template: t.src, Value: key, Advice: "the key was made by another template"}
	rest := key
	for i, p := range t.parts {
		_, after, ok := t.cut(i, rest)
		if !ok {
			e.Component = p.Name
			e.Msg = "the key " + clip(key) + " ends before " + p.Name
			switch {
			case p.Name == "":
				e.Msg = "the key " + clip(key) + " has not " + clip(p.Literal) + " at byte " + strconv.Itoa(len(key)-len(rest))
			case i+1 < len(t.parts) && p.Type.variable() && rest != "":
				e.Msg = "the key " + clip(key) + " has not " + clip(t.parts[i+1].Literal) + " after " + p.Name
			}
			return e
		}
		rest = after
	}
	e.Msg = "the key " + clip(key) + " goes on at byte " + strconv.Itoa(len(key)-len(rest)) + ", after the end of the template"
	return e
}

// pairs yields the components with their values.
func (t *Template) pairs(values []string) func(func(string, string) bool) {
	return func(yield func(string, string) bool) {
		for i, v := range values {
			if !yield(t.names[i], v) {
				return
			}
		}
	}
}

// cut takes what t.parts[i] covers from the front of a key. What follows a
// component stays in the rest.
func (t *Template) cut(i int, key string) (part, rest string, ok bool) {
	p := t.parts[i]
	if p.Name == "" {
		rest, ok = strings.CutPrefix(key, p.Literal)
		return p.Literal, rest, ok
	}
	n := len(key)
	if width, fixed := p.Type.Fixed(); fixed {
		n = width
	} else if i+1 < len(t.parts) {
		literal := t.parts[i+1].Literal
		n = strings.Index(key, literal)
		if p.Type.Name == "path" {
			n = len(key) - len(literal)
		}
	}
	if n < 0 || n > len(key) || n == 0 && len(t.parts) > 1 {
		return "", "", false
	}
	return key[:n], key[n:], true
}
