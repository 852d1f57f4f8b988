package gen

import (
	"bytes"
	"embed"
	"fmt"
	"go/format"
	"strings"
	"text/template"

	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

// Go generates a Go file of package keys. It imports package keys, which encodes values and refuses
// invalid ones, and the AWS SDK for Go v2.
func Go(m *model.Model) ([]byte, error) {
	code, err := golangCode.generate(m)
	if err != nil {
		return nil, err
	}
	out, err := format.Source(code)
	if err != nil {
		return nil, fmt.Errorf("the generated file does not parse: %w", err)
	}
	return out, nil
}

// Python generates a Python module. It needs Python 3.9 and the package sortkey-keys. Items and keys have the form of
// the client of boto3, whose numbers are texts, so that no digit is lost.
func Python(m *model.Model) ([]byte, error) { return pythonCode.generate(m) }

// TypeScript generates a TypeScript module. It needs ECMAScript 2020 and the package @sortkey/keys. Items and keys have
// the form of @aws-sdk/client-dynamodb, whose numbers are texts: the document client would turn them into doubles.
func TypeScript(m *model.Model) ([]byte, error) { return scriptCode.generate(m) }

//go:embed templates
var sources embed.FS

// A language says how the template of a file writes names, values and comments.
type language struct {
	file string // the name of the template
	// types are those of texts, numbers and times.
	types map[kind]string
	// name returns a name of a kind for some words, without a look at others.
	name map[nameKind]func(words string) string
	// suffix is added to a name that another one has.
	suffix map[nameKind]string
	words  []string // reserved ones, and those that generated code uses
	// functions says that the keys of an entity are made by functions instead of methods.
	functions bool
	// literal writes a value, and doc a comment on what follows, each line after an indent.
	literal func(value any) string
	member  func(m member) string
	doc     func(indent, text string) string
}

func (l *language) generate(m *model.Model) ([]byte, error) {
	t, err := newTree(m, l)
	if err != nil {
		return nil, err
	}
	funcs := template.FuncMap{
		"literal": l.literal, "member": l.member, "lower": lowerWords, "camel": camelWords, "capital": capital,
		"values": listed,
		"doc": func(indent string, parts ...string) string {
			return l.doc(indent, oneLine(strings.Join(parts, " ")))
		},
	}
	code := template.Must(template.New(l.file).Funcs(funcs).ParseFS(sources, "templates/"+l.file))
	var b bytes.Buffer
	err = code.Execute(&b, t)
	return b.Bytes(), err
}

// listed returns the names of values in a list, each after a prefix.
func listed(prefix string, all []*value) string {
	names := make([]string, len(all))
	for i, v := range all {
		names[i] = prefix + v.Name
	}
	return strings.Join(names, ", ")
}

// oneLine returns a text for a comment. What nobody sees is an escape: the control characters that a compiler
// refuses, and those that make code look like other code.
func oneLine(s string) string { return text.Visible(strings.Join(strings.Fields(s), " ")) }

// wrap breaks text into lines of at most width characters.
func wrap(text string, width int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len([]rune(line))+1+len([]rune(word)) > width {
			lines = append(lines, line)
			line = ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return append(lines, line)
}
