package gen

import (
	"fmt"
	"go/format"
	"strconv"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/wire"
)

// golang returns a call of an SDK for Go v2 client.
func golang(in wire.Request) string {
	op := in.Op().String()
	var b strings.Builder
	b.WriteString("out, err := client." + op + "(ctx, &dynamodb." + op + "Input{\n")
	for _, m := range membersOf(in) {
		b.WriteString("\t" + m.Name + ": " + goMember(m, "\t") + ",\n")
	}
	b.WriteString("})\n")
	if formatted, err := format.Source([]byte(b.String())); err == nil {
		return string(formatted)
	}
	return b.String()
}

// goMember returns the value of a member of an input struct, whose lines are indented by
// indent.
func goMember(m member, indent string) string {
	switch v := m.value.(type) {
	case string:
		return "aws.String(" + goString(v) + ")"
	case enum:
		return "types." + m.Name + "(" + goString(string(v)) + ")"
	case bool:
		return fmt.Sprintf("aws.Bool(%t)", v)
	case int64:
		return fmt.Sprintf("aws.Int32(%d)", v)
	case []string:
		return goList("string", goStrings(v))
	}

	all, _ := entries(m.value, func(name string, v any) string { return goString(name) + ": " + goEntry(v) })
	var b strings.Builder
	b.WriteString("map[string]" + goElem(m.value) + "{\n")
	for _, entry := range all {
		b.WriteString(indent + "\t" + entry + ",\n")
	}
	return b.String() + indent + "}"
}

// goElem returns the type of a map's values.
func goElem(value any) string {
	switch value.(type) {
	case map[string]string:
		return "string"
	}
	return "types.AttributeValue"
}

// goEntry returns a value of a map.
func goEntry(value any) string {
	switch v := value.(type) {
	case attr.Value:
		return goValue(v)
	case operand:
		return "attribute" + v.Kind.String() + "(" + v.Name() + ")"
	}
	return goString(value.(string))
}

// goString returns a string as a Go literal.
func goString(s string) string { return strconv.Quote(s) }

func goStrings(list []string) (all []string) {
	for _, s := range list {
		all = append(all, goString(s))
	}
	return all
}

func goList(elem string, parts []string) string {
	return "[]" + elem + "{" + strings.Join(parts, ", ") + "}"
}

// goValue returns an attribute value as Go code.
func goValue(v attr.Value) string {
	var s string
	switch v.Kind() {
	case attr.String, attr.Number:
		s = goString(model.TextOf(v))
	case attr.Binary:
		s = goBytes(v)
	case attr.Bool:
		s = fmt.Sprintf("%t", v.Bool())
	case attr.Null:
		s = "true"
	case attr.StringSet, attr.NumberSet:
		s = goList("string", elements(v, func(e attr.Value) string { return goString(model.TextOf(e)) }))
	case attr.BinarySet:
		s = goList("[]byte", elements(v, goBytes))
	case attr.List:
		s = goList("types.AttributeValue", elements(v, goValue))
	case attr.Map:
		all, _ := entries(v.Map(), func(name string, e any) string { return goString(name) + ": " + goEntry(e) })
		s = "map[string]types.AttributeValue{" + strings.Join(all, ", ") + "}"
	}
	return "&types.AttributeValueMember" + v.Kind().String() + "{Value: " + s + "}"
}

func goBytes(v attr.Value) string { return "[]byte(" + goString(string(v.Raw())) + ")" }

// goLiteral returns a text, texts or an attribute value as Go code.
func goLiteral(value any) string {
	switch v := value.(type) {
	case string:
		return goString(v)
	case []string:
		return goList("string", goStrings(v))
	}
	return goValue(value.(attr.Value))
}
