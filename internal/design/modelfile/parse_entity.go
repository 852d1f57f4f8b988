package modelfile

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/design/model"

	"go.yaml.in/yaml/v4"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keys"
)

// A draft is an entity whose templates are parsed once the types of fields are
// known.
type draft struct {
	e          *model.Entity
	key        *yaml.Node
	own        []*model.Field
	attributes []*draftAttribute
	samples    *yaml.Node
	mutable    *yaml.Node
}

type draftAttribute struct {
	t        *model.Template
	src      string
	at, when *yaml.Node // the template's text and its condition
	sure     bool       // the type is declared
}

func (p *parser) entities(n *yaml.Node) {
	if !p.present(n) {
		return
	}
	var drafts []*draft
	for _, m := range p.members(n, "entities") {
		if d := p.entity(m); d != nil {
			drafts = append(drafts, d)
			p.m.Entities = append(p.m.Entities, d.e)
		}
	}
	for _, d := range drafts {
		p.infer(d)
	}
	for _, d := range drafts {
		p.finish(d)
	}
}

var entityName = regexp.MustCompile(`^[\pL_][\pL\pN_ .-]*$`)

func (p *parser) entity(m member) *draft {
	e := &model.Entity{Pos: p.pos(m.key), Name: m.name}
	d := &draft{e: e, key: m.key}
	what := "entity " + m.name
	if !entityName.MatchString(m.name) {
		p.fail(
			m.key, "names consist of letters, digits, _, -, . and spaces, and begin with a letter",
			"%s is not a valid entity name", clip(m.name),
		)
	}
	o := p.object(m.value, what, "table", "about", "fields", "attributes", "mutable", "samples", "count", "rates")
	e.Table = p.tableNamed(o["table"], m.key, what)
	if o["about"] != nil {
		e.About, _ = p.text(o["about"], "about")
	}
	d.own = p.fields(o["fields"])
	if p.present(o["attributes"]) {
		for _, a := range p.members(o["attributes"], "attributes") {
			if t := p.attribute(e, a); t != nil {
				d.attributes = append(d.attributes, t)
			}
		}
	}
	d.mutable, d.samples = o["mutable"], o["samples"]
	if n := o["count"]; n != nil {
		e.Count = p.integer(n, "count", 0, 1_000_000_000)
	}
	if n := o["rates"]; n != nil {
		rates := p.object(n, "rates", "reads", "writes")
		if rates["reads"] != nil {
			e.Reads = p.number(rates["reads"], "reads")
		}
		if rates["writes"] != nil {
			e.Writes = p.number(rates["writes"], "writes")
		}
	}
	return d
}

// tableNamed returns the table that n names, or the model's only table.
func (p *parser) tableNamed(n, at *yaml.Node, what string) *model.Table {
	if n == nil {
		if len(p.m.Tables) == 1 {
			return p.m.Tables[0]
		}
		if len(p.m.Tables) > 1 {
			p.fail(at, "add table: "+p.m.Tables[0].Name, "%s does not name its table", what)
		}
		return nil
	}
	name, ok := p.text(n, "the table of "+what)
	if !ok {
		return nil
	}
	t := p.m.Table(name)
	if t == nil {
		p.fail(n, text.DidYouMean(name, p.tableNames()), "unknown table %s", clip(name))
	}
	return t
}

func (p *parser) tableNames() (all []string) {
	for _, t := range p.m.Tables {
		all = append(all, t.Name)
	}
	return all
}

// attribute reads a template, {template: …} or {value: …}.
func (p *parser) attribute(e *model.Entity, m member) *draftAttribute {
	t := &model.Template{Pos: p.pos(m.key), Name: m.name, Kind: attr.String}
	d := &draftAttribute{t: t}
	var keyKind attr.Kind
	if e.Table != nil {
		keyKind = e.Table.Kinds()[m.name]
	}
	if keyKind != 0 {
		t.Kind, d.sure = keyKind, true
	}
	v := p.deref(m.value)
	if v == nil {
		return nil
	}
	if v.Kind != yaml.MappingNode {
		p.cutOff(v, m.name)
		src, ok := p.text(v, "attribute "+m.name)
		if !ok {
			return nil
		}
		d.src, d.at = src, v
		return d
	}
	if text, ok := unquoted(v); ok {
		p.fail(
			v, fmt.Sprintf("put text with braces in quotes: %s: %q", m.name, text),
			"YAML reads attribute %s as a mapping", m.name,
		)
		d.src, d.at = text, v // as intended, to find further errors
		return d
	}
	o := p.object(v, "attribute "+m.name, "template", "type", "value", "when")
	d.when = o["when"]
	switch {
	case o["value"] != nil && o["template"] != nil:
		p.fail(v, "keep one of them", "attribute %s has both a template and a value", m.name)
		return nil
	case o["value"] != nil:
		if o["type"] != nil {
			p.fail(
				o["type"], "write the value as {N: 1} to declare its type", "attribute %s has the type of its value",
				m.name,
			)
		}
		c, ok := p.value(o["value"], m.name, keyKind)
		if !ok {
			return nil
		}
		t.Kind, t.Const = c.Kind(), c
		return d
	case o["template"] == nil:
		p.fail(
			m.key, `write {template: "ORDER#{orderId}"} or {value: …}`,
			"attribute %s has neither a template nor a value", m.name,
		)
		return nil
	}
	if n := o["type"]; n != nil {
		word := p.choice(n, "the type of an attribute with a template", "S", "N", "B")
		if kind, ok := attr.ParseKind(word); ok {
			if keyKind != 0 && kind != keyKind {
				p.fail(n, "", "attribute %s is a key of type %s, not %s", m.name, keyKind, kind)
			} else {
				t.Kind, d.sure = kind, true
			}
		}
	}
	p.cutOff(o["template"], m.name)
	src, ok := p.text(o["template"], "the template of "+m.name)
	if !ok {
		return nil
	}
	d.src, d.at = src, o["template"]
	return d
}

// unquoted returns the template that a mapping would be with quotes, such as
// {placed:date}.
func unquoted(n *yaml.Node) (string, bool) {
	if n.Kind != yaml.MappingNode || n.Style&yaml.FlowStyle == 0 || len(n.Content) != 2 {
		return "", false
	}
	key, value := n.Content[0], n.Content[1]
	if key.Kind != yaml.ScalarNode || value.Kind != yaml.ScalarNode || !empty(value) ||
		slices.Contains([]string{"template", "type", "value", "when"}, key.Value) {
		return "", false
	}
	return "{" + key.Value + "}", true
}

// cutOff fails for text that YAML cuts off before a component, because # after
// a space begins a comment.
func (p *parser) cutOff(n *yaml.Node, name string) {
	n = p.deref(n)
	if n == nil || !strings.HasPrefix(n.LineComment, "#{") {
		return
	}
	p.fail(
		n, "put the text in quotes", "attribute %s ends before %s, which YAML reads as a comment", name,
		clip(n.LineComment),
	)
}

var componentIn = regexp.MustCompile(`\{\{|\}\}|\{([^{}:]+)(?::([^{}]*))?\}`)

// components calls fn with the names and types of the components of a template,
// which may be invalid.
func components(src string, fn func(name, typ string)) {
	for _, m := range componentIn.FindAllStringSubmatch(src, -1) {
		if m[1] != "" {
			fn(m[1], m[2])
		}
	}
}

// infer finds the fields in the templates of d. An undeclared field belongs to
// the model. A field without a type takes the first one that a template gives
// it, or the most precise of several time types.
func (p *parser) infer(d *draft) {
	d.e.Fields = slices.Clone(d.own)
	for _, a := range d.attributes {
		components(a.src, func(name, typ string) {
			f := p.fieldOf(d, name)
			if f == nil {
				if _, err := keys.Parse("{" + name + "}"); err != nil {
					return // parsing the template reports the error
				}
				f = &model.Field{Pos: a.t.Pos, Name: name, Distribution: model.Distribution{Name: "uniform"}}
				p.m.Fields = append(p.m.Fields, f)
			}
			if typ = strings.TrimSuffix(typ, ":desc"); typ != "" && typ != "desc" && !p.declared[f] {
				if t, err := keys.ParseType(typ); err == nil && (f.Type.Name == "" || model.Finer(t, f.Type)) {
					f.Type = t
				}
			}
			if !slices.Contains(d.e.Fields, f) {
				d.e.Fields = append(d.e.Fields, f)
			}
		})
	}
}

func (p *parser) fieldOf(d *draft, name string) *model.Field {
	for _, list := range [][]*model.Field{d.own, p.m.Fields} {
		for _, f := range list {
			if f.Name == name {
				return f
			}
		}
	}
	return nil
}

// finish parses the templates with the types of fields, then the samples.
func (p *parser) finish(d *draft) {
	e := d.e
	used := map[string]bool{}
	whole := true
	for _, a := range d.attributes {
		components(a.src, func(name, _ string) { used[name] = true })
		if a.when != nil {
			p.when(d, a)
		}
		if a.at != nil {
			t, err := compileTemplate(e, a)
			if err != nil {
				whole = false
				p.failKey(p.pos(a.at), "attribute "+a.t.Name, err)
				continue
			}
			a.t.Template = t
		}
		e.Attributes = append(e.Attributes, a.t)
	}
	for _, f := range d.own {
		if used[f.Name] || e.Attribute(f.Name) != nil {
			continue
		}
		if t, err := fieldAttribute(e, f); err == nil {
			e.Attributes = append(e.Attributes, t)
		}
	}
	if d.mutable != nil {
		for _, n := range p.list(d.mutable, "mutable") {
			name, ok := p.text(n, "a mutable field")
			if ok && e.Field(name) == nil {
				p.fail(n, text.DidYouMean(name, fieldNames(e.Fields)), "entity %s has no field %s", e.Name, clip(name))
			} else if ok {
				e.Mutable = append(e.Mutable, name)
			}
		}
	}
	if e.Table == nil {
		return
	}
	for _, a := range e.Table.Keys() {
		t := e.Attribute(a.Name)
		switch {
		case t == nil && whole:
			p.fail(
				d.key, fmt.Sprintf("add %s to its attributes", a.Name),
				"entity %s has no attribute %s, a key of table %s", e.Name, a.Name, e.Table.Name,
			)
		case t != nil && len(t.When) > 0:
			p.failAt(
				t.Pos, "remove the condition", "attribute %s is a key of table %s, so every item has it", a.Name,
				e.Table.Name,
			)
		}
	}
	if d.samples != nil && p.present(d.samples) {
		for _, n := range p.list(d.samples, "samples") {
			p.sample(e, n, whole)
		}
	}
}

func fieldNames(list []*model.Field) (all []string) {
	for _, f := range list {
		all = append(all, f.Name)
	}
	return all
}

// numeric are the types whose encoded values are plain numbers.
var numeric = []string{"number", "int", "epoch", "epochms", "year"}

// compileTemplate parses a template. The only component of an attribute of type
// N is a number unless it has another type.
func compileTemplate(e *model.Entity, a *draftAttribute) (*keys.Template, error) {
	types := map[string]keys.Type{}
	for _, f := range e.Fields {
		types[f.Name] = f.Type
		if a.t.Kind == attr.Number && !slices.Contains(numeric, f.Type.Name) {
			types[f.Name] = keys.Type{Name: "number"}
		}
	}
	t, err := keys.ParseWith(a.src, types)
	if err != nil || a.t.Kind != attr.Number {
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

// fieldAttribute returns the attribute of a field that no template names.
func fieldAttribute(e *model.Entity, f *model.Field) (*model.Template, error) {
	t := &model.Template{Pos: f.Pos, Name: f.Name, Kind: attr.String}
	switch f.Type.Name {
	case "number", "int", "signed", "decimal", "epoch", "epochms", "year":
		t.Kind = attr.Number
	}
	if e.Table != nil {
		if kind := e.Table.Kinds()[f.Name]; kind != 0 {
			t.Kind = kind
		}
	}
	var err error
	t.Template, err = compileTemplate(e, &draftAttribute{t: t, src: "{" + f.Name + "}"})
	return t, err
}

func (p *parser) when(d *draft, a *draftAttribute) {
	for _, m := range p.members(a.when, "when") {
		f := p.fieldOf(d, m.name)
		if f == nil {
			p.fail(
				m.key, text.DidYouMean(m.name, append(fieldNames(d.own), fieldNames(p.m.Fields)...)),
				"unknown field %s", clip(m.name),
			)
			continue
		}
		if !slices.Contains(d.e.Fields, f) {
			d.e.Fields = append(d.e.Fields, f)
		}
		if a.t.When == nil {
			a.t.When = map[string][]string{}
		}
		a.t.When[m.name] = p.texts(m.value, "when "+m.name)
		for _, v := range a.t.When[m.name] {
			if len(f.Values) > 0 && !slices.Contains(f.Values, v) {
				p.fail(m.value, text.DidYouMean(v, f.Values), "field %s is never %s", f.Name, clip(v))
			}
		}
	}
}

// sample reads a sample and checks that its item can be built.
func (p *parser) sample(e *model.Entity, n *yaml.Node, whole bool) {
	s := &model.Sample{Pos: p.pos(p.deref(n)), Values: map[string]string{}}
	kinds := e.Table.Kinds()
	known := fieldNames(e.Fields)
	for _, t := range e.Attributes {
		kinds[t.Name] = t.Kind
		known = append(known, t.Name)
	}
	var b attr.Builder
	before := len(p.errs)
	for _, m := range p.members(n, "a sample of "+e.Name) {
		if f := e.Field(m.name); f != nil {
			if v, ok := p.text(m.value, "field "+m.name); ok {
				s.Values[m.name] = v
				if _, err := f.Type.Encode(v); err != nil && whole {
					p.failKey(p.pos(m.value), "field "+m.name, err)
				}
			}
			continue
		}
		if like := similar(m.name, known); like != "" && !slices.Contains(known, m.name) {
			p.fail(
				m.key, "did you mean "+like+"? If not, declare it in fields",
				"entity %s has neither a field nor an attribute %s", e.Name, clip(m.name),
			)
			continue
		}
		if v, ok := p.value(m.value, m.name, kinds[m.name]); ok {
			b.Add(m.name, v)
		}
	}
	s.Attributes = b.Item()
	e.Samples = append(e.Samples, s)
	if len(p.errs) > before || !whole {
		return
	}
	if _, err := e.ItemWith(s.Values, s.Attributes); err != nil {
		p.failAt(s.Pos, "", "sample of %s: %s", e.Name, model.KeyError(err))
	}
}

func (p *parser) items(n *yaml.Node) {
	if !p.present(n) {
		return
	}
	for _, m := range p.members(n, "items") {
		t := p.m.Table(m.name)
		if t == nil {
			p.fail(m.key, text.DidYouMean(m.name, p.tableNames()), "unknown table %s", clip(m.name))
			continue
		}
		kinds := t.Kinds()
		for _, e := range p.list(m.value, "the items of "+m.name) {
			e = p.deref(e)
			it, ok := p.itemOf(e, "an item of "+m.name, kinds)
			if !ok || e == nil {
				continue
			}
			for _, a := range t.Keys() {
				if it.Get(a.Name).Kind() != a.Kind {
					p.fail(e, "", "the item has no %s, a key of table %s", a.Name, t.Name)
					ok = false
				}
			}
			if ok {
				p.m.Items = append(p.m.Items, &model.RawItem{Pos: p.pos(e), Table: t, Item: it})
			}
		}
	}
}
