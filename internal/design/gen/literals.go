package gen

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
)

// literals writes the members of requests in a language whose literals are like those of
// JSON.
type literals struct {
	mark    rune
	escapes escapes
	yes, no string
	indent  string
	bytes   func([]byte) string
	// bareNames omits quotes around identifiers.
	bareNames bool
	textOf    string // the function that returns the text of a parameter
}

var (
	jsonLiterals = literals{mark: '"', escapes: jsonEscapes, yes: "true", no: "false", bytes: base64Text}

	pythonLiterals = literals{
		mark: '"', escapes: pythonEscapes, yes: "True", no: "False", indent: "    ", bytes: pythonBytes,
		textOf: "text_of",
	}

	jsLiterals = literals{
		mark: '"', escapes: jsonEscapes, yes: "true", no: "false", indent: "  ", bytes: jsBytes, bareNames: true,
		textOf: "textOf",
	}
)

// member writes the value of a member of a request: maps on several lines, with one entry on
// each.
func (w *literals) member(value any) string {
	all, ok := entries(value, w.entry)
	if !ok || len(all) == 0 {
		return w.value(value)
	}
	var b strings.Builder
	b.WriteString("{\n")
	for _, entry := range all {
		b.WriteString(w.indent + w.indent + entry + ",\n")
	}
	return b.String() + w.indent + "}"
}

// value writes a value on one line.
func (w *literals) value(value any) string {
	switch of := value.(type) {
	case string:
		return w.text(of)
	case enum:
		return w.text(string(of))
	case bool:
		return w.bool(of)
	case int64:
		return strconv.FormatInt(of, 10)
	case []string:
		texts := make([]string, len(of))
		for i, s := range of {
			texts[i] = w.text(s)
		}
		return w.list(texts)
	case attr.Value:
		return w.attribute(of)
	case operand:
		return "keys." + of.Kind.String() + "(keys." + w.textOf + "(" + of.Name() + "))"
	}
	all, _ := entries(value, w.entry)
	return w.braces(all)
}

func (w *literals) entry(name string, value any) string { return w.name(name) + ": " + w.value(value) }

// attribute writes an attribute value in the form of the service, with its kind as name.
func (w *literals) attribute(v attr.Value) string {
	payload := ""
	switch v.Kind() {
	case attr.String, attr.Number:
		payload = w.text(model.TextOf(v))
	case attr.Binary:
		payload = w.bytes(v.Raw())
	case attr.Bool:
		payload = w.bool(v.Bool())
	case attr.Null:
		payload = w.yes
	case attr.StringSet, attr.NumberSet:
		payload = w.list(elements(v, func(e attr.Value) string { return w.text(model.TextOf(e)) }))
	case attr.BinarySet:
		payload = w.list(elements(v, func(e attr.Value) string { return w.bytes(e.Raw()) }))
	case attr.List:
		payload = w.list(elements(v, w.attribute))
	case attr.Map:
		payload = w.value(v.Map())
	}
	return w.braces([]string{w.name(v.Kind().String()) + ": " + payload})
}

func (w *literals) text(s string) string { return quote(s, w.mark, w.escapes) }

func (w *literals) bool(b bool) string {
	if b {
		return w.yes
	}
	return w.no
}

func (w *literals) list(parts []string) string { return "[" + strings.Join(parts, ", ") + "]" }

func (w *literals) braces(parts []string) string {
	if w.bareNames && len(parts) > 0 {
		return "{ " + strings.Join(parts, ", ") + " }"
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func (w *literals) name(s string) string {
	switch {
	case w.bareNames && s == "__proto__":
		return `["__proto__"]` // even a quoted name would set the prototype
	case w.bareNames && isIdentifier(s):
		return s
	}
	return w.text(s)
}

// isIdentifier reports whether s is an ASCII identifier.
func isIdentifier(s string) bool {
	return s != "" && !('0' <= s[0] && s[0] <= '9') && !slices.ContainsFunc([]rune(s), func(r rune) bool {
		return r > unicode.MaxASCII || r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

func base64Text(data []byte) string { return `"` + base64.StdEncoding.EncodeToString(data) + `"` }

func pythonBytes(data []byte) string {
	var b strings.Builder
	b.WriteString(`b"`)
	for _, c := range data {
		if c < ' ' || c > '~' || c == '"' || c == '\\' {
			fmt.Fprintf(&b, `\x%02x`, c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String() + `"`
}

func jsBytes(data []byte) string {
	var b strings.Builder
	b.WriteString("new Uint8Array([")
	for i, c := range data {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%d", c)
	}
	return b.String() + "])"
}
