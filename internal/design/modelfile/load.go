package modelfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

// document returns the root of the file's only document, or nil.
func (p *parser) document(data []byte) *yaml.Node {
	top := p.at(&yaml.Node{Line: 1, Column: 1}, "")
	p.left = maxValues + maxValuesPerByte*len(data)
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
	if !p.resolve(root, 0) {
		most := maxValues + maxValuesPerByte*len(data)
		p.at(root, "").fail("use fewer aliases", "the file expands to more than %d values", most)
		return nil
	}
	return root
}

// resolve puts what aliases and << stand for into their places. It counts nodes, so that a small file cannot expand to
// a large one, and reports whether there are few enough.
func (p *parser) resolve(n *yaml.Node, depth int) bool {
	if p.left--; p.left < 0 || depth > maxLevels {
		return false
	}
	var merged []*yaml.Node
	for i := 0; i < len(n.Content); i++ {
		if n.Content[i].Kind == yaml.AliasNode {
			n.Content[i] = n.Content[i].Alias
		}
		if !p.resolve(n.Content[i], depth+1) {
			return false
		}
		if n.Kind == yaml.MappingNode && i%2 == 1 && n.Content[i-1].ShortTag() == "!!merge" {
			merged = append(merged, n.Content[i])
			n.Content = slices.Delete(n.Content, i-1, i+1)
			i -= 2
		}
	}
	for _, from := range merged {
		p.merge(n, from)
	}
	return true
}

// merge adds the entries of a mapping, or of a list of them, that another mapping lacks.
func (p *parser) merge(n, from *yaml.Node) {
	switch from.Kind {
	case yaml.SequenceNode:
		for _, one := range from.Content {
			p.merge(n, one)
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(from.Content); i += 2 {
			if !hasMember(n, from.Content[i].Value) {
				n.Content = append(n.Content, from.Content[i:i+2]...)
			}
		}
	default:
		p.at(from, "").fail("", "<< must be a mapping, not %s", kindOf(from))
	}
}

func hasMember(n *yaml.Node, name string) bool {
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return true
		}
	}
	return false
}

// surrogates matches JSON escapes of a surrogate pair, which YAML does not
// support.
var surrogates = text.Pattern(`(\\\\)*\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}`)

func pair(escapes []byte) []byte {
	at := len(escapes) - len(`\ud83d\ude00`)
	high, err := strconv.ParseUint(string(escapes[at+2:at+6]), 16, 16)
	low, err2 := strconv.ParseUint(string(escapes[at+8:]), 16, 16)
	if err != nil || err2 != nil {
		return escapes
	}
	return append(bytes.Clone(escapes[:at]), fmt.Sprintf(`\U%08X`, utf16.DecodeRune(rune(high), rune(low)))...)
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
