package gen

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/sortkey/sortkey/internal/design/awscli"
	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/model"
)

// Languages returns the languages of [Expression] and [Request]: aws, the AWS
// CLI; go, the AWS SDK for Go v2; python, boto3; js, the AWS SDK for JavaScript
// v3. Both also accept aliases such as cli and javascript.
func Languages() []string { return []string{"aws", "go", "python", "js"} }

// aliases are other names of languages.
var aliases = map[string]string{
	"cli": "aws", "golang": "go", "py": "python", "boto3": "python", "javascript": "js", "typescript": "js", "ts": "js",
	"node": "js",
}

var writers = map[string]func(*request) string{"aws": (*request).cli, "go": (*request).golang, "python": (*request).python, "js": (*request).js}

// Expression returns the request of an access pattern in one of the
// [Languages]. It returns a [*compile.Error] if the pattern is not one
// request.
func Expression(m *model.Model, p *model.Pattern, lang string) (string, error) {
	body, err := compile.PatternJSON(m, p)
	if err != nil {
		return "", err
	}
	return Request(p.Operation, body, lang)
}

// Request returns a Query, GetItem or Scan request in one of the [Languages].
// The text ends with a newline. The CLI command is for POSIX shells and version
// 2 of the CLI, which takes binary values in base64. Its --limit is the
// request's Limit and disables the paging of the CLI.
func Request(op string, body json.RawMessage, lang string) (string, error) {
	if name, ok := aliases[strings.ToLower(lang)]; ok {
		lang = name
	}
	write, ok := writers[lang]
	if !ok {
		return "", fmt.Errorf("unknown language %q: use one of %s", lang, strings.Join(Languages(), ", "))
	}
	r, err := readRequest(op, body)
	if err != nil {
		return "", err
	}
	return write(r), nil
}

// cli returns an AWS CLI command.
func (r *request) cli() string {
	var b strings.Builder
	b.WriteString("aws dynamodb " + awscli.Kebab(r.op))
	for _, m := range r.members {
		b.WriteString(" \\\n    --")
		switch v := m.value.(type) {
		case bool:
			if !v {
				b.WriteString("no-")
			}
			b.WriteString(awscli.Kebab(m.name))
		case string:
			b.WriteString(awscli.Kebab(m.name) + " " + awscli.Quote(v))
		case list: // of strings
			b.WriteString(awscli.Kebab(m.name))
			for _, one := range v {
				b.WriteString(" " + awscli.Quote(one.(string)))
			}
		default:
			b.WriteString(awscli.Kebab(m.name) + " " + awscli.Quote(string(appendJSON(nil, v))))
		}
	}
	b.WriteString("\n")
	return b.String()
}

// snake turns GetItem into get_item.
func snake(name string) string { return strings.ReplaceAll(awscli.Kebab(name), "-", "_") }

// python returns a call of a boto3 client.
func (r *request) python() string {
	w := literals{
		mark: '"', escapes: pythonEscapes, yes: "True", no: "False", null: "None", indent: "    ", bytes: pythonBytes,
	}
	var b strings.Builder
	b.WriteString("import boto3\n\nclient = boto3.client(\"dynamodb\")\n\nresponse = client." + snake(r.op) + "(\n")
	for _, m := range r.members {
		b.WriteString("    " + m.name + "=" + w.member(r.shapes[m.name], m.value, 1) + ",\n")
	}
	b.WriteString(")\n")
	return b.String()
}

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

// js returns a command of the SDK for JavaScript v3.
func (r *request) js() string {
	w := literals{
		mark: '"', escapes: jsonEscapes, yes: "true", no: "false", null: "null", indent: "  ", bytes: jsBytes,
		bareNames: true,
	}
	var b strings.Builder
	b.WriteString("import { DynamoDBClient, " + r.op + "Command } from \"@aws-sdk/client-dynamodb\";\n\n" +
		"const client = new DynamoDBClient({});\n\n" +
		"const response = await client.send(new " + r.op + "Command({\n")
	for _, m := range r.members {
		b.WriteString("  " + m.name + ": " + w.member(r.shapes[m.name], m.value, 1) + ",\n")
	}
	b.WriteString("}));\n")
	return b.String()
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

// literals formats JSON values in a language with similar literals.
type literals struct {
	mark          rune
	escapes       escapes
	yes, no, null string
	indent        string
	bytes         func([]byte) string
	// bareNames omits quotes around identifiers.
	bareNames bool
}

// member formats a member of a request: maps on several lines, with one value
// per line.
func (w *literals) member(s shape, n node, depth int) string {
	all, ok := n.(object)
	if !ok || len(all) == 0 {
		return w.value(n)
	}
	in := strings.Repeat(w.indent, depth)
	var b strings.Builder
	b.WriteString("{\n")
	for _, m := range all {
		value := w.value(m.value)
		switch s {
		case item:
			value = w.attribute(m.value)
		case legacy:
			value = w.condition(m.value)
		}
		b.WriteString(in + w.indent + w.name(m.name) + ": " + value + ",\n")
	}
	return b.String() + in + "}"
}

// condition formats a legacy condition.
func (w *literals) condition(n node) string {
	parts := []string{}
	for _, m := range n.(object) {
		if m.name == "AttributeValueList" {
			parts = append(parts, w.name(m.name)+": "+w.each(m.value, w.attribute))
			continue
		}
		parts = append(parts, w.name(m.name)+": "+w.value(m.value))
	}
	return w.braces(parts)
}

// attribute formats a checked attribute value.
func (w *literals) attribute(n node) string {
	kind, v := kindOf(n)
	var s string
	switch kind {
	case "B":
		s = w.bytes(decoded(v))
	case "BS":
		s = w.each(v, func(n node) string { return w.bytes(decoded(n)) })
	case "L":
		s = w.each(v, w.attribute)
	case "M":
		parts := []string{}
		for _, m := range v.(object) {
			parts = append(parts, w.name(m.name)+": "+w.attribute(m.value))
		}
		s = w.braces(parts)
	default:
		s = w.value(v)
	}
	return w.braces([]string{w.name(kind) + ": " + s})
}

func (w *literals) braces(parts []string) string {
	if w.bareNames && len(parts) > 0 {
		return "{ " + strings.Join(parts, ", ") + " }"
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func (w *literals) each(n node, write func(node) string) string {
	parts := []string{}
	for _, one := range n.(list) {
		parts = append(parts, write(one))
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// value formats a value that is not an attribute value.
func (w *literals) value(n node) string {
	switch n := n.(type) {
	case string:
		return quote(n, w.mark, w.escapes)
	case json.Number:
		return string(n)
	case bool:
		if n {
			return w.yes
		}
		return w.no
	case list:
		return w.each(n, w.value)
	case object:
		parts := []string{}
		for _, m := range n {
			parts = append(parts, w.name(m.name)+": "+w.value(m.value))
		}
		return w.braces(parts)
	}
	return w.null
}

func (w *literals) name(s string) string {
	switch {
	case w.bareNames && s == "__proto__":
		return `["__proto__"]` // even a quoted name would set the prototype
	case w.bareNames && isIdentifier(s):
		return s
	}
	return quote(s, w.mark, w.escapes)
}

// isIdentifier reports whether s is an ASCII identifier.
func isIdentifier(s string) bool {
	return s != "" && !('0' <= s[0] && s[0] <= '9') && !slices.ContainsFunc([]rune(s), func(r rune) bool {
		return r > unicode.MaxASCII || r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}
