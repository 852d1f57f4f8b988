package gen

import (
	"encoding/json"
	"fmt"
	"go/format"
	"strconv"
	"strings"
)

// golang returns a call of an SDK for Go v2 client.
func (r *request) golang() string {
	var b strings.Builder
	b.WriteString("out, err := client." + r.op + "(ctx, &dynamodb." + r.op + "Input{\n")
	for _, m := range r.members {
		b.WriteString("\t" + m.name + ": " + goMember(r.shapes[m.name], m.name, m.value, "\t") + ",\n")
	}
	b.WriteString("})\n")
	if formatted, err := format.Source([]byte(b.String())); err == nil {
		return string(formatted)
	}
	return b.String()
}

// enums are the Go types of members with enumerated values.
var enums = map[string]string{
	"ReturnConsumedCapacity": "ReturnConsumedCapacity", "Select": "Select",
	"ConditionalOperator": "ConditionalOperator",
}

// goMember returns the value of a member of an input struct.
func goMember(s shape, name string, n node, in string) string {
	switch s {
	case text:
		return "aws.String(" + goString(n.(string)) + ")"
	case word:
		return "types." + enums[name] + "(" + goString(n.(string)) + ")"
	case flag:
		return fmt.Sprintf("aws.Bool(%t)", n)
	case count:
		return "aws.Int32(" + string(n.(json.Number)) + ")"
	case texts:
		var all []string
		for _, one := range n.(list) {
			all = append(all, goString(one.(string)))
		}
		return "[]string{" + strings.Join(all, ", ") + "}"
	case names:
		return goMap("string", n, in, func(n node) string { return goString(n.(string)) })
	case item:
		return goMap("types.AttributeValue", n, in, goValue)
	}
	return goMap("types.Condition", n, in, goCondition)
}

func goMap(elem string, n node, in string, write func(node) string) string {
	var b strings.Builder
	b.WriteString("map[string]" + elem + "{\n")
	for _, m := range n.(object) {
		b.WriteString(in + "\t" + goString(m.name) + ": " + write(m.value) + ",\n")
	}
	return b.String() + in + "}"
}

// goString returns a string as a Go literal.
func goString(s string) string { return strconv.Quote(s) }

func goCondition(n node) string {
	var parts []string
	for _, m := range n.(object) {
		if m.name == "ComparisonOperator" {
			parts = append(parts, "ComparisonOperator: types.ComparisonOperator("+goString(m.value.(string))+")")
			continue
		}
		parts = append(parts, "AttributeValueList: "+goList("types.AttributeValue", m.value, goValue))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func goList(elem string, n node, write func(node) string) string {
	var all []string
	for _, one := range n.(list) {
		all = append(all, write(one))
	}
	return "[]" + elem + "{" + strings.Join(all, ", ") + "}"
}

// goValue returns an attribute value as Go code.
func goValue(n node) string {
	kind, v := kindOf(n)
	var s string
	switch kind {
	case "S", "N":
		s = goString(v.(string))
	case "B":
		s = goBytes(v)
	case "BOOL", "NULL":
		s = fmt.Sprintf("%t", v)
	case "SS", "NS":
		s = goList("string", v, func(n node) string { return goString(n.(string)) })
	case "BS":
		s = goList("[]byte", v, goBytes)
	case "L":
		s = goList("types.AttributeValue", v, goValue)
	case "M":
		var all []string
		for _, m := range v.(object) {
			all = append(all, goString(m.name)+": "+goValue(m.value))
		}
		s = "map[string]types.AttributeValue{" + strings.Join(all, ", ") + "}"
	}
	return "&types.AttributeValueMember" + kind + "{Value: " + s + "}"
}

func goBytes(n node) string { return "[]byte(" + goString(string(decoded(n))) + ")" }
