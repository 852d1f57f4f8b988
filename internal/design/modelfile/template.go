package modelfile

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keys"
)

// An attribute is an attribute of an entity as written in the file.
type attribute struct {
	model.Template
	Type attr.Kind // declared type of a template's attribute, or 0
	src  string    // text of the template, or ""
	at   value     // place of the template
}

// keyKind returns the type of an attribute in the keys of the entity's table and its indexes, or 0 if it is in none.
func keyKind(e *model.Entity, name string) attr.Kind {
	if e.Table == nil {
		return 0
	}
	return e.Table.Kinds()[name]
}

func startAttribute(key value, a *attribute) bool {
	a.Kind = cmp.Or(keyKind(key.entity, a.Name), attr.String)
	return true
}

// readTemplate reads the text of a template.
func readTemplate(in value, a *attribute) {
	// In YAML, # after a space begins a comment.
	if n := in.node; n != nil && strings.HasPrefix(n.LineComment, "#{") {
		in.fail(
			"put the text in quotes", "attribute %s ends before %s, which YAML reads as a comment", a.Name,
			clip(n.LineComment),
		)
	}
	var ok bool
	if a.src, ok = in.text(); ok {
		a.at = in
	}
}

func writeTemplate(a *attribute) *yaml.Node {
	if a.Template.Template == nil {
		return nil
	}
	n := stringNode(a.Template.Template.String())
	n.Style = yaml.DoubleQuotedStyle
	return n
}

// templateCodec is the codec of the template of an attribute.
var templateCodec = special(readTemplate, writeTemplate).unread()

// constantCodec is the codec of an attribute with the same value in all items.
var constantCodec = special(func(in value, a *attribute) {
	c, ok := in.called(a.Name).attribute(keyKind(in.entity, a.Name))
	if ok {
		a.Kind, a.Const = c.Kind(), c
	}
}, func(a *attribute) *yaml.Node {
	if a.Template.Template != nil {
		return nil
	}
	return valueNode(a.Const)
})

// whenCodec is the codec of an attribute's condition: the allowed values or the range of each field.
var whenCodec = special(
	readWhen,
	func(a *attribute) *yaml.Node {
		if !a.Conditional() {
			return nil
		}
		n := flowNode()
		for _, field := range slices.Sorted(maps.Keys(a.When)) {
			put(n, field, listNode(yaml.FlowStyle, a.When[field], textNode))
		}
		for _, r := range a.Ranges {
			put(n, r.Field, conditionNode(r.Op, r.Args))
		}
		return n
	},
).later()

func readWhen(in value, a *attribute) {
	of := in.entity
	for _, e := range in.entries() {
		if !e.key.known(e.name, namesOf(in.fieldsFor(of)), "unknown field %s") {
			continue
		}
		f := in.fieldOf(of, e.name)
		if !slices.Contains(of.Fields, f) {
			of.Fields = append(of.Fields, f)
		}
		if n := e.node; n != nil && n.Kind == yaml.MappingNode {
			e.what = "when " + e.name
			e.fieldRange(f, a)
			continue
		}
		if a.When == nil {
			a.When = map[string][]string{}
		}
		a.When[e.name] = e.called("when " + e.name).texts()
		for _, v := range a.When[e.name] {
			if len(f.Values) > 0 {
				e.known(v, f.Values, "field %s is never %s", f.Name)
			}
		}
	}
}

// fieldRange reads a condition on the range of a field, such as {"<": 5}.
func (e entry) fieldRange(f *model.Field, a *attribute) {
	c, ok := e.condition()
	switch {
	case !ok:
		return
	case c.Op == model.In || c.Op == ast.OpBeginsWith:
		e.fail(`write a list of values, or one of <, <=, >, >= and between, as in {"<": 5}`,
			"%s is not a condition", e.what)
		return
	}
	for _, arg := range c.Args {
		if _, err := f.Type.Canonical(arg); err != nil {
			e.failKey(e.pos(), e.what, err)
			return
		}
	}
	a.Ranges = append(a.Ranges, model.FieldRange{Field: f.Name, Type: f.Type, Op: c.Op, Args: c.Args})
}

func beforeAttribute(in value, a *attribute) bool {
	template, constant := in.get("template"), in.get("value")
	switch {
	case constant.node != nil && template.node != nil:
		in.fail("keep one of them", "attribute %s has both a template and a value", a.Name)
		return false
	case template.node != nil:
		if !in.short {
			template.what = "the template of " + a.Name
		}
		readTemplate(template, a)
	case constant.node == nil:
		in.failAt(
			a.Pos, `write {template: "ORDER#{orderId}"} or {value: …}`,
			"attribute %s has neither a template nor a value", a.Name,
		)
		return false
	case in.members["type"] != nil:
		in.get("type").fail(
			"write the value as {N: 1} to declare its type", "attribute %s has the type of its value", a.Name,
		)
		delete(in.members, "type")
	}
	return true
}

// afterAttribute checks an attribute and reports whether it has a template or a value.
func afterAttribute(in value, a *attribute) bool {
	key := keyKind(in.entity, a.Name)
	switch {
	case a.Type == 0:
	case key != 0 && a.Type != key:
		in.get("type").fail("", "attribute %s is a key of type %s, not %s", a.Name, key, a.Type)
	default:
		a.Kind = a.Type
	}
	return a.at.node != nil || !a.Const.IsZero()
}

var componentIn = text.Pattern(`\{\{|\}\}|\{([^{}:]+)(?::([^{}]*))?\}`)

// components calls fn with the name and the type of each component of a template. The template may be invalid.
func components(src string, fn func(name, typ string)) {
	for _, m := range componentIn().FindAllStringSubmatch(src, -1) {
		if m[1] != "" {
			fn(m[1], m[2])
		}
	}
}

// numeric are the types whose encoding is a plain number, without padding.
var numeric = []string{"number", "int", "epoch", "epochms", "year"}

// parseTemplate parses a template. An attribute of type N must have a template of one component, or be a plain
// number. A component whose type is not numeric gets the type number.
func parseTemplate(e *model.Entity, kind attr.Kind, src string) (*keys.Template, error) {
	types := map[string]keys.Type{}
	for _, f := range e.Fields {
		types[f.Name] = f.Type
		if kind == attr.Number && !slices.Contains(numeric, f.Type.Name) {
			types[f.Name] = keys.Type{Name: "number"}
		}
	}
	t, err := keys.ParseWith(src, types)
	if err != nil || kind != attr.Number {
		return t, err
	}
	parts := t.Parts()
	if len(parts) == 1 && parts[0].Name != "" && slices.Contains(numeric, parts[0].Type.Name) {
		return t, nil
	}
	if len(parts) == 1 && parts[0].Name == "" {
		_, err := attr.NewNumber(parts[0].Literal)
		return t, err
	}
	return nil, &keys.Error{
		Msg:    "the template of a number must be one component of a numeric type",
		Advice: "write {total:number}, or remove the type N",
	}
}

// fieldAttribute returns the attribute that stores a field under the field's name.
func fieldAttribute(e *model.Entity, f *model.Field) (*model.Template, error) {
	t := &model.Template{Pos: f.Pos, Name: f.Name, Kind: attr.String}
	switch f.Type.Name {
	case "number", "int", "signed", "decimal", "epoch", "epochms", "year":
		t.Kind = attr.Number
	}
	if kind := keyKind(e, f.Name); kind != 0 {
		t.Kind = kind
	}
	var err error
	t.Template, err = parseTemplate(e, t.Kind, "{"+f.Name+"}")
	return t, err
}

// implied returns the attributes that the file need not list: one for each of the entity's own fields that is neither
// the name nor a component of an attribute in list.
func implied(e *model.Entity, own []*model.Field, list []*model.Template) (all []*model.Template) {
	named := map[string]bool{}
	for _, t := range list {
		for _, name := range append(t.Components(), t.Name) {
			named[name] = true
		}
	}
	for _, f := range own {
		if t, err := fieldAttribute(e, f); err == nil && !named[f.Name] {
			all = append(all, t)
		}
	}
	return all
}

// explicit returns the attributes of an entity that the file must list. It drops those at the end that the own fields
// imply (see [implied]).
func explicit(e *model.Entity, own []*model.Field) []*model.Template {
	for n := range e.Attributes {
		list := e.Attributes[:n:n]
		if slices.EqualFunc(append(list, implied(e, own, list)...), e.Attributes, sameAttribute) {
			return list
		}
	}
	return e.Attributes
}

func sameAttribute(a, b *model.Template) bool {
	return a == b || a.Name == b.Name && a.Kind == b.Kind && !a.Conditional() && !b.Conditional() &&
		a.Template != nil && b.Template != nil && a.Template.String() == b.Template.String()
}
