package awscli

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/wire"
)

// flags are the flags of the operations that read items, in the order in which lines have them.
var flags = map[string][]string{
	"get-item": {
		"table-name", "key", "projection-expression", "expression-attribute-names", "attributes-to-get",
		"consistent-read",
		"return-consumed-capacity",
	},
	"query": {
		"table-name", "index-name", "key-condition-expression", "filter-expression", "projection-expression",
		"expression-attribute-names", "expression-attribute-values", "select", "limit", "scan-index-forward",
		"consistent-read",
		"exclusive-start-key", "return-consumed-capacity", "attributes-to-get", "key-conditions", "query-filter",
		"conditional-operator",
	},
	"scan": {
		"table-name", "index-name", "filter-expression", "projection-expression",
		"expression-attribute-names", "expression-attribute-values", "select", "limit", "segment", "total-segments",
		"consistent-read",
		"exclusive-start-key", "return-consumed-capacity", "attributes-to-get", "scan-filter", "conditional-operator",
	},
	"batch-get-item":    {"request-items", "return-consumed-capacity"},
	"execute-statement": {"statement", "parameters", "consistent-read", "limit", "return-consumed-capacity"},
}

// Format returns a request as a line of the AWS CLI, which sends that request.
func Format(in wire.Request) string {
	op, request := Kebab(in.Op().String()), in.AppendJSON(nil)
	line := "aws dynamodb " + op
	whole := line + " --cli-input-json " + Quote(string(request))
	var m map[string]json.RawMessage
	if json.Unmarshal(request, &m) != nil {
		return whole
	}

	known := flags[op]
	names := slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		return slices.Index(known, Kebab(a)) - slices.Index(known, Kebab(b))
	})
	for _, name := range names {
		flag, ok := formatFlag(Kebab(name), m[name])
		if !ok || !slices.Contains(known, Kebab(name)) {
			return whole
		}
		line += " " + flag
	}
	return line
}

// formatFlag returns a flag with its value. It reports false if the CLI would not take that for a value.
func formatFlag(flag string, raw json.RawMessage) (string, bool) {
	value := string(raw)
	switch value {
	case "true":
		return "--" + flag, true
	case "false":
		return "--no-" + flag, true
	}
	if raw[0] == '"' {
		if json.Unmarshal(raw, &value) != nil || strings.HasPrefix(value, "--") ||
			strings.HasPrefix(value, "file://") || strings.HasPrefix(value, "fileb://") {
			return "", false
		}
	}
	return "--" + flag + " " + Quote(value), true
}

// Kebab returns the CLI's name for a name of the API: table-name for TableName.
func Kebab(name string) string {
	var b strings.Builder
	for i := range len(name) {
		c := name[i]
		if 'A' <= c && c <= 'Z' {
			if i > 0 {
				b.WriteByte('-')
			}
			c |= 0x20
		}
		b.WriteByte(c)
	}
	return b.String()
}
