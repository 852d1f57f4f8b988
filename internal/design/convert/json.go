package convert

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sortkey/sortkey/internal/design/model"
)

// MaxFileBytes is the largest size of a file.
const MaxFileBytes = 32 << 20

// Like MaxFileBytes, these limits keep a malicious file from exhausting memory.
const (
	maxNodes = 2_000_000
	maxDepth = 100
)

// A document is a file of one or more JSON values.
type document struct {
	name  string
	data  []byte
	lines []int // offsets at which lines begin
	roots []*node
	nodes int
}

// A node is a JSON value with its place in the document.
type node struct {
	doc     *document
	key     string // name of a member of an object
	at, end int    // offsets in the file
	kind    jsontext.Kind
	text    string  // text of a string or a number
	list    []*node // members of an object, or elements of a list
}

// read parses a file. Its error is an [*Error].
func read(name string, data []byte) (*document, error) {
	d := &document{name: name, data: bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))}
	switch {
	case len(data) > MaxFileBytes:
		return nil, &Error{
			Pos: model.Pos{File: name}, Msg: fmt.Sprintf("the file has more than %d MB", MaxFileBytes>>20),
			Hint: "remove some items; a model is for a design, not for all data of a table",
		}
	case IsProgram(name):
		return nil, refuseProgram(name)
	case bytes.HasPrefix(data, []byte{0xFF, 0xFE}), bytes.HasPrefix(data, []byte{0xFE, 0xFF}):
		return nil, &Error{Pos: model.Pos{File: name}, Msg: "the file is UTF-16 text", Hint: "save it as UTF-8"}
	}

	dec := jsontext.NewDecoder(bytes.NewBuffer(d.data), jsontext.AllowDuplicateNames(true))
	for {
		n, err := d.value(dec, 0)
		if errors.Is(err, io.EOF) && n == nil {
			break
		}
		if err != nil {
			return nil, d.syntax(dec, err)
		}
		d.roots = append(d.roots, n)
	}

	if len(d.roots) == 0 {
		return nil, &Error{Pos: model.Pos{File: name}, Msg: "the file is empty", Hint: "use a JSON file"}
	}
	return d, nil
}

func (d *document) syntax(dec *jsontext.Decoder, err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	at := int(dec.InputOffset())
	msg := "not JSON: " + err.Error()
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		at = int(e.ByteOffset)
		if e.Err != nil {
			msg = "not JSON: " + e.Err.Error()
		}
	}
	hint := ""
	if trimmed := bytes.TrimSpace(d.data); len(trimmed) > 0 && !strings.ContainsRune(`{["`, rune(trimmed[0])) {
		hint = "a design is JSON; of a program, import what it prints: name its file to see how"
	}
	return &Error{Pos: d.pos(at), Msg: msg, Hint: hint}
}

func (d *document) value(dec *jsontext.Decoder, depth int) (*node, error) {
	from := int(dec.InputOffset())
	tok, err := dec.ReadToken()
	if err != nil {
		return nil, err
	}

	for from < len(d.data) && strings.IndexByte(" \t\r\n,:", d.data[from]) >= 0 {
		from++
	}
	n := &node{doc: d, at: from, kind: tok.Kind()}
	if d.nodes++; d.nodes > maxNodes || depth > maxDepth {
		return nil, d.tooMany(from)
	}

	switch n.kind {
	case '"', '0':
		n.text = tok.String()
	case '{':
		for dec.PeekKind() != '}' {
			name, err := dec.ReadToken()
			if err != nil {
				return n, unexpected(err)
			}
			key := name.String()
			m, err := d.value(dec, depth+1)
			if err != nil {
				return n, unexpected(err)
			}
			m.key = key
			n.list = append(n.list, m)
		}
		_, err = dec.ReadToken()
	case '[':
		for dec.PeekKind() != ']' {
			m, err := d.value(dec, depth+1)
			if err != nil {
				return n, unexpected(err)
			}
			n.list = append(n.list, m)
		}
		_, err = dec.ReadToken()
	}
	n.end = int(dec.InputOffset())
	return n, unexpected(err)
}

// tooMany returns the error for a file that exceeds the limits.
func (d *document) tooMany(at int) error {
	return &Error{
		Pos: d.pos(at),
		Msg: fmt.Sprintf("the file has more than %d values, or nests more than %d deep", maxNodes, maxDepth),
	}
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (d *document) pos(at int) model.Pos {
	if d.lines == nil {
		d.lines = []int{0}
		for i, c := range d.data {
			if c == '\n' {
				d.lines = append(d.lines, i+1)
			}
		}
	}
	line := sort.SearchInts(d.lines, at+1)
	return model.Pos{File: d.name, Line: line, Col: at - d.lines[line-1] + 1}
}

func (n *node) pos() model.Pos {
	if n == nil {
		return model.Pos{}
	}
	return n.doc.pos(n.at)
}

// raw returns the text of the value in the file.
func (n *node) raw() []byte {
	if n == nil {
		return nil
	}
	return n.doc.data[n.at:n.end]
}

func (n *node) isObject() bool { return n != nil && n.kind == '{' }

func (n *node) isList() bool { return n != nil && n.kind == '[' }

func (n *node) isText() bool { return n != nil && n.kind == '"' }

func (n *node) isTrue() bool { return n != nil && n.kind == 't' }

// get returns the last member with the name, or nil.
func (n *node) get(name string) *node {
	if !n.isObject() {
		return nil
	}
	for _, v := range slices.Backward(n.list) {
		if v.key == name {
			return v
		}
	}
	return nil
}

// str returns the text of a member, or "".
func (n *node) str(name string) string {
	if m := n.get(name); m.isText() {
		return m.text
	}
	return ""
}

// members returns the members of an object, and elems the elements of a list;
// both return nil for other values.
func (n *node) members() []*node {
	if !n.isObject() {
		return nil
	}
	return n.list
}

func (n *node) elems() []*node {
	if !n.isList() {
		return nil
	}
	return n.list
}

// orElems returns the elements of a list. It returns any other value as the only element.
func (n *node) orElems() []*node {
	if n.isList() {
		return n.list
	}
	return []*node{n}
}

// texts returns the texts in a list that are not empty.
func (n *node) texts() (all []string) {
	for _, m := range n.elems() {
		if m.isText() && m.text != "" {
			all = append(all, m.text)
		}
	}
	return all
}

// vacant reports whether n is missing, empty, null or false.
func (n *node) vacant() bool {
	return n == nil || n.kind == 'n' || n.kind == 'f' || n.isText() && n.text == "" ||
		(n.isObject() || n.isList()) && len(n.list) == 0
}
