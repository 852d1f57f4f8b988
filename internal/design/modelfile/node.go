package modelfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/sortkey/sortkey/internal/design/model"

	"go.yaml.in/yaml/v4"

	"github.com/sortkey/sortkey/internal/terminal"
	"github.com/sortkey/sortkey/internal/text"
)

// Limits of a model file. They are far above what people write, and keep a
// hostile file from exhausting memory.
const (
	maxFileBytes = 32 << 20
	maxDepth     = 64
	maxErrors    = 100
	// The number of values that a file may expand to with its aliases: a base,
	// plus a number for each byte.
	maxValues        = 100_000
	maxValuesPerByte = 8
)

// A reader reads YAML nodes and collects errors.
type reader struct {
	file  string
	errs  model.Errors
	nodes int  // read, including aliases
	limit int  // of nodes
	over  bool // the limit was exceeded
}

func (r *reader) pos(n *yaml.Node) model.Pos {
	if n == nil {
		return model.Pos{File: r.file}
	}
	return model.Pos{File: r.file, Line: n.Line, Col: n.Column}
}

func (r *reader) fail(n *yaml.Node, hint, format string, args ...any) {
	r.failAt(r.pos(n), hint, format, args...)
}

func (r *reader) failAt(pos model.Pos, hint, format string, args ...any) {
	if len(r.errs) < maxErrors {
		r.errs = append(r.errs, &model.ParseError{Pos: pos, Msg: fmt.Sprintf(format, args...), Hint: hint})
	}
}

// document returns the root of the file's only document, or nil.
func (r *reader) document(data []byte) *yaml.Node {
	top := &yaml.Node{Line: 1, Column: 1}
	r.limit = maxValues + maxValuesPerByte*len(data)
	switch {
	case len(data) > maxFileBytes:
		r.fail(
			top, "generate items instead of listing them", "the file has %d bytes, and the limit is %d", len(data),
			maxFileBytes,
		)
		return nil
	case !utf8.Valid(data):
		r.fail(top, "save the file as UTF-8", "the file is not UTF-8 text")
		return nil
	}
	loader, err := yaml.NewLoader(bytes.NewReader(surrogates.ReplaceAllFunc(data, pair)))
	if err != nil {
		r.syntax(err)
		return nil
	}
	var doc, more yaml.Node
	if err := loader.Load(&doc); err != nil && !errors.Is(err, io.EOF) {
		r.syntax(err)
		return nil
	}
	if err := loader.Load(&more); err == nil && more.Kind != 0 {
		r.fail(&more, "a model is one document: put the others into separate files", "the file has a second document")
	} else if err != nil && !errors.Is(err, io.EOF) {
		r.syntax(err)
		return nil
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 {
		r.fail(top, "sortkey design new writes a first model", "the file is empty")
		return nil
	}
	r.joinTypes(doc.Content[0], 0)
	return doc.Content[0]
}

// joinTypes puts together types whose commas YAML takes for the ends of values,
// as in {kind: enum(A,B,C)}, so that each gives one error.
func (r *reader) joinTypes(n *yaml.Node, depth int) {
	if depth > maxDepth {
		return
	}
	for i := 1; n.Kind == yaml.MappingNode && n.Style&yaml.FlowStyle != 0 && i < len(n.Content); i += 2 {
		v := n.Content[i]
		if v.Kind != yaml.ScalarNode || v.Style != 0 || !strings.Contains(v.Value, "(") ||
			strings.Contains(v.Value, ")") {
			continue
		}
		for k := i + 1; k+1 < len(n.Content) && n.Content[k].Kind == yaml.ScalarNode && empty(n.Content[k+1]); k += 2 {
			if !strings.HasSuffix(n.Content[k].Value, ")") {
				continue
			}
			for _, rest := range n.Content[i+1 : k+2] {
				if rest.Value != "" {
					v.Value += "," + rest.Value
				}
			}
			r.fail(
				v, fmt.Sprintf("put it in quotes: %q", v.Value), "inside braces, a comma ends a value, so %s is cut",
				clip(v.Value),
			)
			n.Content = slices.Delete(n.Content, i+1, k+2)
			break
		}
	}
	for _, c := range n.Content {
		r.joinTypes(c, depth+1)
	}
}

// surrogates matches JSON escapes of a surrogate pair, which YAML does not
// support.
var surrogates = regexp.MustCompile(`(\\\\)*\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}`)

func pair(escapes []byte) []byte {
	at := len(escapes) - len(`\ud83d\ude00`)
	high, err := strconv.ParseUint(string(escapes[at+2:at+6]), 16, 16)
	low, err2 := strconv.ParseUint(string(escapes[at+8:]), 16, 16)
	if err != nil || err2 != nil {
		return escapes
	}
	return append(bytes.Clone(escapes[:at]), fmt.Sprintf(`\U%08X`, utf16.DecodeRune(rune(high), rune(low)))...)
}

func (r *reader) syntax(err error) {
	top := model.Pos{File: r.file, Line: 1, Col: 1}
	if load, ok := errors.AsType[*yaml.LoadError](err); ok {
		if load.Mark.Line > 0 {
			top.Line, top.Col = load.Mark.Line, max(load.Mark.Column, 1)
		}
		hint := ""
		if strings.Contains(load.Message, "cannot start any token") {
			hint = "indent with spaces, not tabs, and put text that begins with @, ` or % in quotes"
		}
		if strings.Contains(load.Message, "did not find expected") {
			hint = "check this line and those before it for an unclosed quote, bracket or brace; put templates in quotes"
		}
		r.failAt(top, hint, "not YAML: %s", load.Message)
		return
	}
	r.failAt(top, "", "not YAML: %v", err)
}

// deref follows aliases. It counts nodes, so that a small file cannot expand to
// a large one.
func (r *reader) deref(n *yaml.Node) *yaml.Node {
	for range maxDepth {
		if n == nil || n.Kind != yaml.AliasNode {
			break
		}
		n = n.Alias
	}
	if r.nodes++; r.nodes > r.limit {
		if !r.over {
			r.fail(n, "use fewer aliases", "the file expands to more than %d values", r.limit)
		}
		r.over = true
	}
	if r.over || n == nil || n.Kind == yaml.AliasNode {
		return nil
	}
	return n
}

func kindOf(n *yaml.Node) string {
	switch {
	case n == nil || empty(n):
		return "nothing"
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	}
	return "the text " + strconv.Quote(clip(n.Value))
}

// clip shortens text for a message.
func clip(s string) string { return terminal.Clip(s, 60) }

// empty reports whether a node has no text in the file.
func empty(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Value == "" && n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0
}

// A member is a name in a mapping with its value.
type member struct {
	name       string
	key, value *yaml.Node
}

// members returns the members of a mapping in order, followed by those merged
// with <<.
func (r *reader) members(n *yaml.Node, what string) []member { return r.membersAt(n, what, 0) }

func (r *reader) membersAt(n *yaml.Node, what string, depth int) []member {
	at := n
	if n = r.deref(n); n == nil {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		r.fail(at, "", "%s must be a mapping of names, not %s", what, kindOf(n))
		return nil
	}
	var all []member
	var merged []*yaml.Node
	first := make(map[string]*yaml.Node, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := r.deref(n.Content[i])
		if key == nil {
			continue
		}
		if key.Kind != yaml.ScalarNode {
			r.fail(key, "", "a name in %s must be text, not %s", what, kindOf(key))
			continue
		}
		if key.ShortTag() == "!!merge" {
			merged = append(merged, n.Content[i+1])
			continue
		}
		if before := first[key.Value]; before != nil {
			r.fail(key, "keep one of them", "%s is in %s twice, first on line %d", clip(key.Value), what, before.Line)
			continue
		}
		first[key.Value] = key
		all = append(all, member{key.Value, key, n.Content[i+1]})
	}
	for _, m := range merged {
		if depth > maxDepth {
			break
		}
		for _, in := range r.membersAt(m, what, depth+1) {
			if first[in.name] == nil {
				first[in.name] = in.key
				all = append(all, in)
			}
		}
	}
	return all
}

// mapped reports whether a mapping has a member.
func mapped(n *yaml.Node, name string) bool {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return true
		}
	}
	return false
}

// object returns the members of a mapping, whose names must be known.
func (r *reader) object(n *yaml.Node, what string, known ...string) map[string]*yaml.Node {
	all := map[string]*yaml.Node{}
	for _, m := range r.members(n, what) {
		if !slices.Contains(known, m.name) {
			r.fail(m.key, text.DidYouMean(m.name, known), "%s has no member %s", what, clip(m.name))
			continue
		}
		all[m.name] = m.value
	}
	return all
}

// list returns the elements of a list. Any other node is its own only element.
func (r *reader) list(n *yaml.Node, what string) []*yaml.Node {
	n = r.deref(n)
	switch {
	case n == nil:
		return nil
	case n.Kind == yaml.SequenceNode:
		return n.Content
	case empty(n):
		r.fail(n, "", "%s must be a list, not empty", what)
		return nil
	}
	return []*yaml.Node{n}
}

// text returns a scalar as written, whatever its YAML type.
func (r *reader) text(n *yaml.Node, what string) (string, bool) {
	at := n
	if n = r.deref(n); n == nil {
		return "", false
	}
	if n.Kind != yaml.ScalarNode || empty(n) {
		hint := ""
		if n.Kind == yaml.MappingNode {
			hint = "put text with braces in quotes"
		}
		r.fail(at, hint, "%s must be text, not %s", what, kindOf(n))
		return "", false
	}
	return n.Value, true
}

func (r *reader) texts(n *yaml.Node, what string) []string {
	var all []string
	for _, e := range r.list(n, what) {
		if s, ok := r.text(e, what); ok {
			all = append(all, s)
		}
	}
	return all
}

func (r *reader) integer(n *yaml.Node, what string, least, most int) int {
	s, ok := r.text(n, what)
	if !ok {
		return 0
	}
	i, err := strconv.ParseInt(strings.ReplaceAll(s, "_", ""), 10, 64)
	if err != nil || i < int64(least) || i > int64(most) {
		if _, err := strconv.ParseFloat(s, 64); err != nil {
			s = strconv.Quote(s)
		}
		r.fail(n, "", "%s must be a whole number from %d to %d, not %s", what, least, most, clip(s))
		return 0
	}
	return int(i)
}

func (r *reader) number(n *yaml.Node, what string) float64 {
	s, ok := r.text(n, what)
	if !ok {
		return 0
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f < 0 || math.IsNaN(f) || math.IsInf(f, 0) {
		r.fail(n, "", "%s must be a non-negative number, not %s", what, clip(s))
		return 0
	}
	return f
}

func (r *reader) flag(n *yaml.Node, what string) bool {
	s, ok := r.text(n, what)
	if ok && s != "true" && s != "false" {
		r.fail(n, "", "%s must be true or false, not %s", what, clip(s))
	}
	return s == "true"
}

// choice returns a scalar, which must be one of the words.
func (r *reader) choice(n *yaml.Node, what string, words ...string) string {
	s, ok := r.text(n, what)
	if ok && !slices.Contains(words, s) {
		r.fail(n, text.DidYouMean(s, words), "%s must be one of %s, not %s", what, strings.Join(words, ", "), clip(s))
		return ""
	}
	return s
}
