package keys

import (
	"slices"
	"strings"
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
