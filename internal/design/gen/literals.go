package gen

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

// A literals writes values as literals of one language.
type literals struct {
	text  func(string) string
	bytes func([]byte) string
	// yes and no are the literals for true and false.
	yes, no string
	// name writes a key of a map.
	name func(string) string
	// list writes the opening of a list, and maps the opening of a map. of is the Go type of the elements, which
	// other languages ignore.
	list, maps func(of string) string
	end        string // of a list
	space      string // written after { and before } if a map is on one line
	indent     string
	// attribute writes an attribute value. kind is its type descriptor, such as S, and payload is the literal of the
	// value. operand writes an attribute value that generated code takes from a parameter or a computation.
	attribute func(kind, payload string) string
	operand   func(o operand) string
	// optional converts the literal of a member that is neither a list nor a map to an optional value. In Go, this is
	// a pointer.
	optional func(m member, literal string) string
}

// likeJSON completes w for a language that writes lists and maps as JSON does.
func likeJSON(w literals) *literals {
	w.list = func(string) string { return "[" }
	w.maps = func(string) string { return "{" }
	w.end = "]"
	w.attribute = func(kind, payload string) string { return w.braces("", []string{w.name(kind) + ": " + payload}) }
	w.optional = func(_ member, literal string) string { return literal }
	return &w
}

var (
	jsonLiterals = likeJSON(literals{
		text: quote, yes: "true", no: "false", name: quote,
		bytes: func(b []byte) string { return quote(base64.StdEncoding.EncodeToString(b)) },
	})

	pythonLiterals = likeJSON(literals{
		text: strconv.Quote, yes: "True", no: "False", name: strconv.Quote, indent: "    ",
		bytes:   func(b []byte) string { return fmt.Sprintf("bytes.fromhex(\"%x\")", b) },
		operand: func(o operand) string { return "keys." + o.Kind.String() + "(keys.text_of(" + o.Name() + "))" },
	})

	jsLiterals = likeJSON(literals{
		text: quote, yes: "true", no: "false", name: jsName, indent: "  ", space: " ",
		bytes: func(b []byte) string {
			return "new Uint8Array(" + strings.ReplaceAll(fmt.Sprint(b), " ", ", ") + ")"
		},
		operand: func(o operand) string { return "keys." + o.Kind.String() + "(keys.textOf(" + o.Name() + "))" },
	})

	goLiterals = &literals{
		text: strconv.Quote, yes: "true", no: "false", name: strconv.Quote, indent: "\t",
		bytes: func(b []byte) string { return "[]byte(" + strconv.Quote(string(b)) + ")" },
		list:  func(of string) string { return "[]" + of + "{" },
		maps:  func(of string) string { return "map[string]" + of + "{" },
		end:   "}",
		attribute: func(kind, payload string) string {
			return "&types.AttributeValueMember" + kind + "{Value: " + payload + "}"
		},
		operand:  func(o operand) string { return "attribute" + o.Kind.String() + "(" + o.Name() + ")" },
		optional: goPointer,
	}
)

// member writes the value of a member of a request. It writes each entry of a map on its own line.
func (w *literals) member(m member, indent string) string {
	of, all, ok := w.entries(m.value)
	if !ok || len(all) == 0 {
		return w.optional(m, w.value(m.value))
	}
	var b strings.Builder
	b.WriteString(w.maps(of) + "\n")
	for _, entry := range all {
		b.WriteString(indent + w.indent + entry + ",\n")
	}
	return b.String() + indent + "}"
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
		return w.elements("string", texts)
	case attr.Value:
		return w.attribute(of.Kind().String(), w.payload(of))
	case operand:
		return w.operand(of)
	}
	of, all, _ := w.entries(value)
	return w.braces(of, all)
}

// entries returns the entries of a map as code, and the Go type of its values. It returns false if value is not a
// map.
func (w *literals) entries(value any) (of string, all []string, ok bool) {
	of = "types.AttributeValue"
	if _, texts := value.(map[string]string); texts {
		of = "string"
	}
	all, ok = entries(value, func(name string, v any) string { return w.name(name) + ": " + w.value(v) })
	return of, all, ok
}

// payload writes an attribute value without its type descriptor. For {"S": "a"}, it writes only "a".
func (w *literals) payload(v attr.Value) string {
	switch v.Kind() {
	case attr.String, attr.Number:
		return w.text(model.TextOf(v))
	case attr.Binary:
		return w.bytes(v.Raw())
	case attr.Bool:
		return w.bool(v.Bool())
	case attr.Null:
		return w.yes
	case attr.Map:
		return w.value(v.Map())
	}
	of := map[attr.Kind]string{attr.List: "types.AttributeValue", attr.BinarySet: "[]byte"}[v.Kind()]
	if of == "" {
		of = "string"
	}
	var all []string
	for i := range v.Len() {
		if v.Kind() == attr.List {
			all = append(all, w.value(v.Index(i)))
		} else {
			all = append(all, w.payload(v.Index(i)))
		}
	}
	return w.elements(of, all)
}

func (w *literals) bool(b bool) string {
	if b {
		return w.yes
	}
	return w.no
}

func (w *literals) elements(of string, all []string) string {
	return w.list(of) + strings.Join(all, ", ") + w.end
}

func (w *literals) braces(of string, all []string) string {
	if len(all) == 0 {
		return w.maps(of) + "}"
	}
	return w.maps(of) + w.space + strings.Join(all, ", ") + w.space + "}"
}

var identifier = text.Pattern(`^[A-Za-z_][A-Za-z0-9_]*$`)

// jsName writes the name of a property. It quotes the name unless it is an identifier.
func jsName(s string) string {
	switch {
	case s == "__proto__":
		return `["__proto__"]` // the plain property __proto__ would set the prototype, even in quotes
	case identifier().MatchString(s):
		return s
	}
	return quote(s)
}
