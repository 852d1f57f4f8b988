package modelfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

// document returns the root of the only document in the file, or nil after reporting an error.
func (p *parser) document(data []byte) *yaml.Node {
	top := p.at(&yaml.Node{Line: 1, Column: 1}, "")
	switch {
	case len(data) > maxFileBytes:
		top.fail(
			"generate items instead of listing them", "the file has %d bytes, and the limit is %d", len(data),
			maxFileBytes,
		)
		return nil
	case !utf8.Valid(data):
		top.fail("save the file as UTF-8", "the file is not UTF-8 text")
		return nil
	}

	loader, err := yaml.NewLoader(bytes.NewReader(surrogates().ReplaceAllFunc(data, pair)))
	if err != nil {
		p.syntax(err)
		return nil
	}

	var doc, more yaml.Node
	if err := loader.Load(&doc); err != nil && !errors.Is(err, io.EOF) {
		p.syntax(err)
		return nil
	}

	if err := loader.Load(&more); err == nil && more.Kind != 0 {
		p.at(&more, "").fail(
			"a model is one document: put the others into separate files", "the file has a second document",
		)
	} else if err != nil && !errors.Is(err, io.EOF) {
		p.syntax(err)
		return nil
	}

	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 {
		top.fail("sortkey design new writes a first model", "the file is empty")
		return nil
	}
	root := doc.Content[0]
	if alias := aliasIn(root); alias != nil {
		p.at(alias, "").fail("write the value again", "the file has an alias, *%s", alias.Value)
		return nil
	}
	return root
}

// aliasIn returns the first YAML alias in a node, or nil.
func aliasIn(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n
	}
	for _, c := range n.Content {
		if alias := aliasIn(c); alias != nil {
			return alias
		}
	}
	return nil
}

// surrogates matches the JSON escapes of a surrogate pair, which YAML does not support, and the escaped backslashes
// before them.
var surrogates = text.Pattern(`(\\\\)*\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}`)

// pair replaces the surrogate pair at the end of a match of surrogates by its character.
func pair(escapes []byte) []byte {
	at := len(escapes) - len(`\ud83d\ude00`)
	var char string
	if json.Unmarshal([]byte(`"`+string(escapes[at:])+`"`), &char) != nil {
		return escapes
	}
	return append(bytes.Clone(escapes[:at]), char...)
}

func (p *parser) syntax(err error) {
	top := model.Pos{File: p.file, Line: 1, Col: 1}
	if load, ok := errors.AsType[*yaml.LoadError](err); ok {
		if load.Mark.Line > 0 {
			top.Line, top.Col = load.Mark.Line, max(load.Mark.Column, 1)
		}
		hint := ""
		if strings.Contains(load.Message, "cannot start any token") {
			hint = "indent with spaces, not tabs, and put text that begins with @, ` or % in quotes"
		}
		if strings.Contains(load.Message, "did not find expected") {
			hint = "check this line and those before it for an unclosed quote, bracket or brace; " +
				"put templates in quotes"
		}
		p.failAt(top, hint, "not YAML: %s", load.Message)
		return
	}
	p.failAt(top, "", "not YAML: %v", err)
}
