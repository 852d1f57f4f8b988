package modelfile

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/terminal"
	"github.com/sortkey/sortkey/internal/text"
)

// Limits of a model file. They are far above what people write and keep a malicious file from exhausting memory.
const (
	maxFileBytes = 32 << 20
	maxDepth     = 64
	maxErrors    = 100
)

// A parser reads a model and collects errors. It skips invalid parts and checks the rest.
type parser struct {
	file string
	errs model.Errors

	m        *model.Model
	declared map[*model.Field]bool // fields that declare their own type

	broken map[*model.Entity]bool // entities with an invalid template
	linked []func()               // reads that wait until all entities are known
	later  []func()               // reads that wait until all templates are parsed

	// What is being read.
	table   *model.Table
	entity  *model.Entity
	pattern *model.Pattern
}

// A value is a node of a model file and its name in messages. The node is nil if the file lacks the value.
type value struct {
	*parser
	node *yaml.Node
	what string // name of the value in messages

	members map[string]*yaml.Node // the known members of an object
	short   bool                  // the file has the object's main member in place of a mapping
}

// at returns the value of a node. The parameter what is its name in messages.
func (p *parser) at(n *yaml.Node, what string) value { return value{parser: p, node: n, what: what} }

// get returns a member of an object.
func (in value) get(name string) value {
	if in.short {
		return in.at(in.members[name], in.what)
	}
	return in.at(in.members[name], name)
}

// lacks reports whether an object lacks a member or the member is an empty list.
func (in value) lacks(name string) bool {
	n := in.members[name]
	return n == nil || n.Kind == yaml.SequenceNode && len(n.Content) == 0
}

// find returns the element of list that the value names. If there is none, it reports an error and returns nil.
func find[T any](in value, list []*T, unknown string, args ...any) *T {
	names := namesOf(list)
	s, ok := in.text()
	if !ok || !in.known(s, names, unknown, args...) {
		return nil
	}
	return list[slices.Index(names, s)]
}

// namesOf returns the names of structs with a field Name, or of pointers to such structs.
func namesOf[T any](list []T) (all []string) {
	for _, e := range list {
		all = append(all, reflect.Indirect(reflect.ValueOf(e)).FieldByName("Name").String())
	}
	return all
}

// called returns the value with another name for messages.
func (in value) called(what string) value { return in.at(in.node, what) }

func (in value) pos() model.Pos {
	if in.node == nil {
		return model.Pos{File: in.file}
	}
	return model.Pos{File: in.file, Line: in.node.Line, Col: in.node.Column}
}

func (in value) fail(hint, format string, args ...any) { in.failAt(in.pos(), hint, format, args...) }

func (p *parser) failAt(pos model.Pos, hint, format string, args ...any) {
	if len(p.errs) < maxErrors {
		p.errs = append(p.errs, &model.ParseError{Pos: pos, Msg: fmt.Sprintf(format, args...), Hint: hint})
	}
}

// known reports whether s is one of the names. If not, it adds an error with the format, its arguments, and s as the
// last argument.
func (in value) known(s string, names []string, format string, args ...any) bool {
	ok := slices.Contains(names, s)
	if !ok {
		in.fail(text.DidYouMean(s, names), format, append(args, clip(s))...)
	}
	return ok
}

// oneOf reports whether s is one of the words. If not, it adds an error.
func (in value) oneOf(s string, words []string) bool {
	return in.known(s, words, "%s must be one of %s, not %s", in.what, strings.Join(words, ", "))
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
	const quoted = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	return n.Kind == yaml.ScalarNode && n.Value == "" && n.Style&quoted == 0
}

// An entry is a name and its value in a mapping.
type entry struct {
	value
	name string
	key  value
}

// entries returns the entries of a mapping in order.
func (in value) entries() (all []entry) {
	n := in.node
	if n == nil {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		in.fail("", "%s must be a mapping of names, not %s", in.what, kindOf(n))
		return nil
	}
	lines := make(map[string]int, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		name := n.Content[i]
		e := entry{in.at(n.Content[i+1], name.Value), name.Value, in.at(name, in.what)}
		switch {
		case name.Kind != yaml.ScalarNode:
			e.key.fail("", "a name in %s must be text, not %s", in.what, kindOf(name))
		case lines[e.name] > 0:
			e.key.fail("keep one of them", "%s is in %s twice, first on line %d", clip(e.name), in.what, lines[e.name])
		default:
			lines[e.name] = name.Line
			all = append(all, e)
		}
	}
	return all
}

// list returns the elements of a list. It returns any other value as the only element.
func (in value) list() (all []value) {
	switch n := in.node; {
	case n == nil:
		return nil
	case n.Kind == yaml.SequenceNode:
		for _, e := range n.Content {
			all = append(all, in.at(e, in.what))
		}
		return all
	case empty(n):
		in.fail("", "%s must be a list, not empty", in.what)
		return nil
	}
	return []value{in}
}

// texts returns the elements of a list of texts.
func (in value) texts() (all []string) {
	for _, e := range in.list() {
		if s, ok := e.text(); ok {
			all = append(all, s)
		}
	}
	return all
}

// text returns a scalar as written, whatever its YAML type.
func (in value) text() (string, bool) {
	n := in.node
	if n == nil {
		return "", false
	}
	if n.Kind != yaml.ScalarNode || empty(n) {
		hint := ""
		if n.Kind == yaml.MappingNode {
			hint = "put text with braces in quotes"
		}
		in.fail(hint, "%s must be text, not %s", in.what, kindOf(n))
		return "", false
	}
	return n.Value, true
}
