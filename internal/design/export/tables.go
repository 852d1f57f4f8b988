package export

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/tabledef"
	"github.com/sortkey/sortkey/internal/text"
)

// schemaOf returns the definition of a table.
func schemaOf(t *model.Table) (*tabledef.Schema, error) {
	s, err := tabledef.Parse(t.CreateRequest())
	if err == nil && t.TTL != "" {
		s.TimeToLiveSpecification = &tabledef.TimeToLive{AttributeName: t.TTL, Enabled: true}
	}
	return s, err
}

// indented encodes a value as indented JSON with a final newline.
func indented(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(v)
	return b.Bytes(), err
}

// createTable writes the CreateTable request of the model's first table, in the form that aws dynamodb create-table
// reads.
func createTable(m *model.Model) ([]byte, error) {
	s, err := schemaOf(m.Tables[0])
	if err != nil {
		return nil, err
	}
	s.TimeToLiveSpecification = nil // not a member of the request
	return indented(s)
}

// ordered is a JSON object whose members keep their order.
type ordered []entry

type entry struct {
	name  string
	value any
}

func (o *ordered) add(name string, value any) { *o = append(*o, entry{name, value}) }

// MarshalJSON implements json.Marshaler.
func (o ordered) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	b.WriteByte('{')
	for i, e := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := enc.Encode(e.name); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := enc.Encode(e.value); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// maxDescription is CloudFormation's limit on the description of a template, in bytes.
const maxDescription = 1024

func cloudFormation(m *model.Model) ([]byte, error) {
	names := identifiers{}
	var resources ordered
	for _, t := range m.Tables {
		s, err := schemaOf(t)
		if err != nil {
			return nil, err
		}
		id := names.add(pascal(t.Name), "Table")
		resources.add(id, ordered{{"Type", "AWS::DynamoDB::Table"}, {"Properties", s}})
	}
	template := ordered{{"AWSTemplateFormatVersion", "2010-09-09"}}
	if about := strings.TrimSpace(m.About); about != "" {
		template.add("Description", text.Clip(about, maxDescription-len("…")))
	}
	template.add("Resources", resources)
	return yamlOf(template)
}

// yamlOf encodes a value as YAML, with the members in the order of its JSON.
func yamlOf(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, err
	}
	blockStyle(&doc)
	return yaml.Dump(&doc, yaml.WithLineWidth(-1), yaml.WithQuotePreference(yaml.QuoteDouble), yaml.WithIndent(2))
}

// plainText matches text that needs no quotes in YAML, because every version of YAML reads it as text. The words in
// yamlWords are exceptions. CloudFormation reads YAML 1.1, which has more forms of numbers than version 1.2.
var (
	plainText = text.Pattern(`^[A-Za-z_][A-Za-z0-9_.:-]*$`)
	yamlWords = []string{"on", "off", "yes", "no", "y", "true", "false", "null"}
)

// blockStyle writes a node and its children in block style, and quotes text that needs it.
func blockStyle(n *yaml.Node) {
	n.Style = 0
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" &&
		(!plainText().MatchString(n.Value) || slices.Contains(yamlWords, strings.ToLower(n.Value))) {
		n.Style = yaml.DoubleQuotedStyle
	}
	for _, c := range n.Content {
		blockStyle(c)
	}
}

// identifiers is the set of identifiers that a file uses already. Its method add returns an unused one.
type identifiers map[string]bool

func (all identifiers) add(name, otherwise string) string {
	if name == "" || '0' <= name[0] && name[0] <= '9' {
		name = otherwise + name
	}
	free := name
	for i := 2; all[free]; i++ {
		free = name + strconv.Itoa(i)
	}
	all[free] = true
	return free
}

// words splits a name into words of ASCII letters and digits.
func words(name string) []string {
	return strings.FieldsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	})
}

// pascal converts a name to an identifier: orders-prod to OrdersProd.
func pascal(name string) string {
	var b strings.Builder
	for _, w := range words(name) {
		b.WriteString(strings.ToUpper(w[:1]) + w[1:])
	}
	return b.String()
}
