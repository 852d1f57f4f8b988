package keys

import (
	"slices"
	"strings"
)

// A Template builds keys from values and parses keys. [MustParse] returns one, for a package-level variable. A
// Template is immutable and safe for concurrent use.
type Template struct {
	src   string
	parts []Part
	codes []coding // of the parts
	names []string // of the components, in order
}

// A Part is a component of a template, or literal text when Name is empty. [Template.Parts] returns them, for tools
// that show or check templates.
type Part struct {
	Literal string
	Name    string
	Type    Type
	// Typed says that the template itself names the type.
	Typed bool
}

// A coding holds what [ParseWith] has computed about a part, so that building a key is fast.
type coding struct {
	kind *kind // of the component's type
	// delimited says that the component's text varies in length and that a literal
	// ends it.
	delimited bool
}

// Parse parses a template that a user or a file provides; use [MustParse] for templates in the source of a program. A
// component without a type is a string. The error is an [*Error].
func Parse(src string) (*Template, error) { return ParseWith(src, nil) }

// MustParse is [Parse] for templates in the source of a program. It panics when src is not a valid template.
func MustParse(src string) *Template {
	t, err := Parse(src)
	if err != nil {
		panic("keys: " + err.Error())
	}
	return t
}

// ParseWith parses a template whose types are declared elsewhere, such as in a design. A component without a type in
// the template gets the type of its name in types, or is a string if types has no such name. {name:desc} reverses the
// order of that type. The error is an [*Error].
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
	for i, p := range t.parts {
		t.codes = append(t.codes, coding{kindOf[p.Type.Name], p.Type.variable() && i+1 < len(t.parts)})
	}
	return t, nil
}

// String returns the template as it was written.
func (t *Template) String() string { return t.src }

// Explicit returns the source of the template with a type in every component. [Parse] reads it without the types that
// [ParseWith] received, so use it to store or print a template on its own.
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

// Parts returns the parts of the template, in order, for tools that show or check it. The caller may change the slice.
func (t *Template) Parts() []Part { return slices.Clone(t.parts) }

// Components returns the names of the components in order. [Template.Build] takes one value for each name.
func (t *Template) Components() []string { return slices.Clone(t.names) }

// Build returns the key that has these values, which are in text form and listed by component. They may come from a
// form, a file or a command line; [Template.Format] takes Go values. Build ignores values that the template does not
// name. The error is an [*Error].
func (t *Template) Build(values map[string]string) (string, error) {
	var buf [128]byte
	key, err := t.Append(buf[:0], values)
	if err != nil {
		return "", err
	}
	return string(key), nil
}

// Append appends to dst the key that [Template.Build] returns, for programs that reuse memory. If it fails, it
// returns dst as it was.
func (t *Template) Append(dst []byte, values map[string]string) ([]byte, error) {
	var buf [8]string
	list := t.leading(buf[:0], values)
	key, err := t.appendPrefix(dst, list)
	if err == nil && len(list) < len(t.names) {
		err = &Error{
			Template: t.src, Component: t.names[len(list)], Msg: "has no value",
			Advice: "every component needs a value: " + strings.Join(t.names, ", "),
		}
	}
	if err != nil {
		return dst, err
	}
	return key, nil
}

// BuildPrefix returns the text that all keys with these values begin with, and the number n of components in it. Use
// it for a form in which a user has filled in only the first fields. The prefix ends before the first component
// without a value. As with [Template.Prefix], it includes the literal after its last component. The error is an
// [*Error].
func (t *Template) BuildPrefix(values map[string]string) (prefix string, n int, err error) {
	var buf [8]string
	list := t.leading(buf[:0], values)
	prefix, err = t.prefix(list)
	return prefix, len(list), err
}

// leading appends to list the values of the first components, up to the first component without a value.
func (t *Template) leading(list []string, values map[string]string) []string {
	for _, name := range t.names {
		v, ok := values[name]
		if !ok {
			break
		}
		list = append(list, v)
	}
	return list
}

// prefix returns the beginning of a key whose first components have these values, up to the next component.
func (t *Template) prefix(values []string) (string, error) {
	var buf [128]byte
	b, err := t.appendPrefix(buf[:0], values)
	if err != nil {
		return "", err
	}
	return string(b), nil
}

func (t *Template) appendPrefix(b []byte, values []string) ([]byte, error) {
	for i := range t.parts {
		p := &t.parts[i]
		if p.Name == "" {
			b = append(b, p.Literal...)
			continue
		}
		if len(values) == 0 {
			break
		}
		part, err := t.part(i, values[0])
		if err != nil {
			return nil, err
		}
		b = append(b, part...)
		values = values[1:]
	}
	return b, nil
}

// part returns the encoded value of the component at t.parts[i].
func (t *Template) part(i int, value string) (string, error) {
	p := &t.parts[i]
	part, err := t.codes[i].kind.part(p.Type, value)
	if err != nil {
		return "", in(err, t.src, p.Name)
	}
	if part == "" && len(t.parts) > 1 {
		return "", &Error{
			Template: t.src, Component: p.Name, Type: p.Type.String(), Msg: "the value is empty",
			Advice: "use a value of at least one byte: a key with an empty part would look like a prefix of other keys",
		}
	}
	if t.codes[i].delimited {
		if err := p.closes(part, t.parts[i+1].Literal); err != nil {
			err.Template = t.src
			return "", err
		}
	}
	return part, nil
}
