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

// Go generates a Go file whose package is named keys. It imports sortkey's package keys, which encodes values and
// refuses invalid ones, and the AWS SDK for Go v2.
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

// Python generates a Python module, which needs Python 3.9 and the package sortkey-keys. Items and keys have the form
// of boto3's client. This form writes numbers as text, so they keep all digits.
func Python(m *model.Model) ([]byte, error) { return pythonCode.generate(m) }

// TypeScript generates a TypeScript module, which needs ECMAScript 2020 and the package @sortkey/keys. Items and keys
// have the form of @aws-sdk/client-dynamodb, which writes numbers as text. The form of the document client would
// round numbers to doubles.
func TypeScript(m *model.Model) ([]byte, error) { return scriptCode.generate(m) }

//go:embed templates
var sources embed.FS

// A language has the functions that write names, values and comments in one language.
type language struct {
	file string // the name of the template
	// types has the language's type for each kind of value.
	types map[kind]string
	// name has, for each kind of name, a function that converts words to a name. It does not check whether the name
	// is taken.
	name map[nameKind]func(words string) string
	// suffix is appended to a name that is taken.
	suffix map[nameKind]string
	words  []string // names that are always taken: reserved words, and names that every generated file declares
	// functions is true if generated functions build the keys of an entity. Otherwise methods do.
	functions bool
	// literal writes a value. member writes a member of a request. doc writes a comment that stands before the code
	// that it describes, with the given indent.
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

// listed joins the names of values with commas, and writes prefix before each name.
func listed(prefix string, all []*value) string {
	names := make([]string, len(all))
	for i, v := range all {
		names[i] = prefix + v.Name
	}
	return strings.Join(names, ", ")
}

// oneLine puts text on one line for a comment in generated code. It escapes invisible characters for two reasons: a
// compiler refuses some control characters, and others could make the code look like different code.
func oneLine(s string) string { return text.Visible(strings.Join(strings.Fields(s), " ")) }

// wrap breaks text between words into lines of at most width characters.
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
