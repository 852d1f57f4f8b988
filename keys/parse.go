package keys

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

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
		return &Error{Msg: "the template is empty", Advice: "a key attribute needs at least one byte"}
	}
	for i := 0; i < len(p.src); {
		rest := p.src[i:]
		switch {
		case strings.HasPrefix(rest, "{{"), strings.HasPrefix(rest, "}}"):
			p.lit.WriteByte(rest[0])
			i += 2
		case rest[0] == '}':
			return &Error{Offset: i, Msg: "} without a matching {", Advice: "write }} for a literal brace"}
		case rest[0] == '{':
			end := strings.IndexByte(rest, '}')
			if end < 0 {
				return &Error{
					Offset: i, Msg: "the component " + clip(rest) + " is not closed",
					Advice: "write {name}, or {{ for a brace that stands for itself",
				}
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
		return &Error{
			Msg:    clip(name) + " is not the name of a component",
			Advice: "names consist of letters, digits, _, - and ., and begin with a letter or _",
		}
	}

	if slices.ContainsFunc(p.parts, func(o Part) bool { return o.Name == name }) {
		return &Error{
			Component: name, Msg: "appears twice in the template", Advice: "remove one of the two, or rename it",
		}
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

	if err := part.Type.validate(); err != nil {
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

// check refuses a template if Match could not split its keys into their components.
func (t *Template) check() *Error {
	for i, p := range t.parts {
		if p.Name == "" || !p.Type.variable() {
			continue
		}
		rest := t.parts[i+1:]
		if p.Type.Name == "path" && slices.ContainsFunc(rest, func(o Part) bool { return o.Name != "" }) {
			return &Error{
				Component: p.Name, Type: p.Type.String(),
				Msg:    "a path may contain any text, so the start of the next component would be ambiguous",
				Advice: "make it the last component or a string, which must not contain the text that follows it",
			}
		}

		if len(rest) == 0 {
			continue
		}
		if next := rest[0]; next.Name != "" {
			return &Error{
				Component: p.Name, Type: p.Type.String(),
				Msg: "its length differs from value to value and " + next.Name +
					" follows at once, so the key could not be parsed back",
				Advice: "put a delimiter between them, as {" + p.Name + "}#{" + next.Name + "}, or give " + p.Name +
					" a type of fixed width, as int(8)",
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

// closes returns an error if the literal, which follows the part, also occurs before the end of the part. Match would
// split the key there.
func (p Part) closes(part, literal string) *Error {
	if p.Type.Name == "path" || strings.Index(part+literal, literal) == len(part) {
		return nil
	}
	e := invalid(p.Type, part,
		"contains "+clip(literal)+", the text that follows the component, so the key could not be parsed back",
		"remove it from the value, or use a delimiter that no value contains")
	if !strings.Contains(part, literal) {
		e.Msg = clip(part) + " followed by " + clip(literal) +
			" contains that text before the end of the value, so the key could not be parsed back"
	}
	e.Component = p.Name
	return e
}
