package gen

import (
	"fmt"
	"strings"

	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/wire"
)

// Languages returns the languages of [Expression] and [Request]: aws is the AWS CLI, go the AWS SDK for Go v2, python
// boto3, and js the AWS SDK for JavaScript v3.
func Languages() []string { return []string{"aws", "go", "python", "js"} }

var writers = map[string]func(wire.Request) string{"aws": cli, "go": golang, "python": python, "js": js}

// Expression returns the request of an access pattern in one of the [Languages]. It returns a [*compile.Error] if the
// pattern cannot be compiled to one request.
func Expression(p *model.Pattern, lang string) (string, error) {
	in, err := compile.Pattern(p)
	if err != nil {
		return "", err
	}
	return Request(in, lang)
}

// Request returns a Query, GetItem or Scan request in one of the [Languages]. The text ends with a newline.
//
// A CLI command is for POSIX shells and for version 2 of the CLI, which reads binary values in base64. It gives the
// Limit of the request as --limit, which also turns off the CLI's own paging.
func Request(in wire.Request, lang string) (string, error) {
	write, ok := writers[lang]
	if !ok {
		return "", fmt.Errorf("unknown language %q: use one of %s", lang, strings.Join(Languages(), ", "))
	}
	if err := legacy(in); err != nil {
		return "", err
	}
	return write(in), nil
}

// cli returns a request as an AWS CLI command.
func cli(in wire.Request) string {
	var b strings.Builder
	b.WriteString("aws dynamodb " + kebab(in.Op().String()))
	for _, m := range membersOf(in) {
		b.WriteString(" \\\n    --")
		name := kebab(m.Name)
		switch v := m.value.(type) {
		case bool:
			if !v {
				name = "no-" + name
			}
			b.WriteString(name)
		case string:
			b.WriteString(name + " " + shellQuote(v))
		case enum:
			b.WriteString(name + " " + shellQuote(string(v)))
		default:
			b.WriteString(name + " " + shellQuote(jsonLiterals.value(v)))
		}
	}

	b.WriteString("\n")
	return b.String()
}

// snake converts GetItem to get_item.
func snake(name string) string { return strings.ReplaceAll(kebab(name), "-", "_") }

// python returns a request as a call of boto3's client.
func python(in wire.Request) string {
	var b strings.Builder
	b.WriteString(
		"import boto3\n\nclient = boto3.client(\"dynamodb\")\n\nresponse = client." + snake(in.Op().String()) + "(\n",
	)
	for _, m := range membersOf(in) {
		b.WriteString("    " + m.Name + "=" + pythonLiterals.member(m, pythonLiterals.indent) + ",\n")
	}
	b.WriteString(")\n")
	return b.String()
}

// js returns a request as a command of the AWS SDK for JavaScript v3.
func js(in wire.Request) string {
	command := in.Op().String() + "Command"
	var b strings.Builder
	b.WriteString("import { DynamoDBClient, " + command + " } from \"@aws-sdk/client-dynamodb\";\n\n" +
		"const client = new DynamoDBClient({});\n\n" +
		"const response = await client.send(new " + command + "({\n")
	for _, m := range membersOf(in) {
		b.WriteString("  " + m.Name + ": " + jsLiterals.member(m, jsLiterals.indent) + ",\n")
	}
	b.WriteString("}));\n")
	return b.String()
}
