package modelfile

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/sortkey/sortkey/internal/design/model"
)

// document returns the root of the file's only document, or nil.
func (p *parser) document(data []byte) *yaml.Node {
	top := p.at(&yaml.Node{Line: 1, Column: 1}, "")
	p.limit = maxValues + maxValuesPerByte*len(data)
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

	loader, err := yaml.NewLoader(bytes.NewReader(data))
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
	return doc.Content[0]
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
