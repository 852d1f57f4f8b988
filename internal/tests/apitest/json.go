package apitest

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"github.com/sortkey/sortkey/attr"
)

// typed is an item that encodes to DynamoDB JSON.
type typed struct{ attr.Item }

func (x typed) MarshalJSON() ([]byte, error) { return x.AppendJSON(nil), nil }

// typedMembers returns a request in which members with attribute values are DynamoDB JSON. In scripts they are short:
// "x" for {"S":"x"}; see package sdk.
func typedMembers(name string, x any) any {
	switch name {
	case "Item", "Key", "ExclusiveStartKey", "ExpressionAttributeValues":
		if m, ok := x.(map[string]any); ok {
			return typedMap(m)
		}
		return x
	case "AttributeValueList", "Parameters":
		if list, ok := x.([]any); ok {
			return typedList(list)
		}
	case "Value":
		return typedValue(x)
	case "Keys":
		if list, ok := x.([]any); ok {
			keys := make([]any, len(list))
			for i := range list {
				keys[i] = typedMembers("Key", list[i])
			}
			return keys
		}
	}

	switch x := x.(type) {
	case map[string]any:
		m := map[string]any{}
		_, tag := x["Key"].(string)
		for name, member := range x {
			if tag {
				m[name] = member
				continue
			}
			m[name] = typedMembers(name, member)
		}
		return m
	case []any:
		list := make([]any, len(x))
		for i := range x {
			list[i] = typedMembers("", x[i])
		}
		return list
	case string:
		return expand(x)
	}
	return x
}

func typedMap(m map[string]any) map[string]any {
	out := map[string]any{}
	for name, x := range m {
		out[name] = typedValue(x)
	}
	return out
}

func typedList(list []any) []any {
	out := make([]any, len(list))
	for i := range list {
		out[i] = typedValue(list[i])
	}
	return out
}

func typedValue(x any) any {
	switch x := x.(type) {
	case nil:
		return map[string]any{"NULL": true}
	case string:
		return map[string]any{"S": expand(x)}
	case json.Number:
		return map[string]any{"N": x.String()}
	case bool:
		return map[string]any{"BOOL": x}
	case []any:
		return map[string]any{"L": typedList(x)}
	case map[string]any:
		for kind, e := range x {
			return typedKind(kind, e)
		}
	}
	return x
}

func typedKind(kind string, x any) any {
	switch x := x.(type) {
	case map[string]any:
		if kind == "M" {
			return map[string]any{kind: typedMap(x)}
		}
	case []any:
		if kind == "L" {
			return map[string]any{kind: typedList(x)}
		}
	case string:
		return map[string]any{kind: expand(x)}
	case json.Number:
		if kind != "NESTED" {
			break
		}
		var v any = map[string]any{"S": "x"}
		depth, _ := strconv.Atoi(x.String())
		for range depth {
			v = map[string]any{"L": []any{v}}
		}
		return v
	}
	return map[string]any{kind: x}
}

var repeats = regexp.MustCompile(`«(.*?)×(\d+)»`)

// expand replaces «ab×3» with ababab.
func expand(s string) string {
	return repeats.ReplaceAllStringFunc(s, func(m string) string {
		parts := repeats.FindStringSubmatch(m)
		n, _ := strconv.Atoi(parts[2])
		return strings.Repeat(parts[1], n)
	})
}
