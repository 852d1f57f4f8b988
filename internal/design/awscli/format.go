package awscli

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// order is that in which people write the flags of a request.
var order = []string{
	"TableName", "IndexName", "Key", "KeyConditionExpression", "FilterExpression", "ProjectionExpression",
	"ExpressionAttributeNames", "ExpressionAttributeValues",
}

// Format writes a request as a line of the AWS CLI. Reading it back with
// [Parse] gives an equal request.
func Format(op string, request json.RawMessage) string {
	line := []string{"aws dynamodb " + kebab(op)}
	var m map[string]json.RawMessage
	if json.Unmarshal(request, &m) != nil || !writable(op, m) {
		return strings.Join(append(line, "--cli-input-json "+quote(string(request))), " ")
	}
	names := slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		if d := rank(a) - rank(b); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	for _, name := range names {
		flag := "--" + kebab(name)
		switch raw := m[name]; {
		case string(raw) == "true":
			line = append(line, flag)
		case string(raw) == "false":
			line = append(line, "--no-"+kebab(name))
		case raw[0] == '"':
			var s string
			_ = json.Unmarshal(raw, &s) // it has been read before
			line = append(line, flag+" "+quote(s))
		default:
			line = append(line, flag+" "+quote(string(raw)))
		}
	}
	return strings.Join(line, " ")
}

func rank(name string) int {
	if i := slices.Index(order, name); i >= 0 {
		return i
	}
	return len(order)
}

// writable reports whether every member has a flag whose value can be written
// so that it is read back.
func writable(op string, m map[string]json.RawMessage) bool {
	for name, raw := range m {
		k := flags[kebab(name)]
		if pascal(kebab(name)) != name || only[op] != nil && !slices.Contains(only[op], kebab(name)) {
			return false
		}
		first := raw[0]
		switch {
		case k == text && first == '"':
			var s string
			if json.Unmarshal(raw, &s) != nil || strings.HasPrefix(s, "file://") || strings.HasPrefix(s, "fileb://") || strings.HasPrefix(s, "--") {
				return false
			}
		case k == number && (first == '-' || '0' <= first && first <= '9') && !strings.ContainsAny(string(raw), ".eE"):
		case k == boolean && (first == 't' || first == 'f'):
		case k == structure && first == '{':
		case k == list && first == '[':
		default:
			return false
		}
	}
	return slices.Contains(operations, kebab(op))
}
