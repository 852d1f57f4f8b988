package lint

import (
	"strings"
	"unicode"

	"github.com/sortkey/sortkey/keys"
)

// delimiters are the characters with which people join the parts of keys.
const delimiters = "#/|:_-.~ "

// delimiterAfter returns the delimiter at the start of a literal: # for "#VARIANT#".
func delimiterAfter(literal string) string {
	for i, r := range literal {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return literal[:i]
		}
	}
	return literal
}

// sourceOf returns the parts of a template as text.
func sourceOf(parts []keys.Part) string { return sourceWith(parts, "", "") }

// sourceWith is like sourceOf, but writes the text with in place of the named component.
func sourceWith(parts []keys.Part, component, with string) string {
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

// skeleton returns the literals of a template and the types of its components, but not their names. Templates with
// equal skeletons build keys of the same form.
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

// natural reports whether the template of an attribute only copies the field of the same name. Such an attribute does
// not show that the author wants the item in an index, because items have it in any case.
func natural(attribute string, t *keys.Template) bool {
	return t != nil && len(t.Parts()) == 1 && t.Parts()[0].Name == attribute
}
