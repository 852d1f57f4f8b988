package gen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/keys"
)

// A tree describes a generated file, with names for one language. The template of the language writes it as code.
type tree struct {
	Model     *model.Model
	Constants []constant
	Templates []templateOf
	Entities  []*entity
	Requests  []*reading
	// Missing has a sentence for each pattern that reads but gets no function. The sentence gives the reason.
	Missing []string

	names *scope
}

// A constant is the constant for the name of a table, an index or a key attribute.
type constant struct {
	of          string
	Name, Value string
}

// A templateOf is the template of a key attribute of an entity.
type templateOf struct {
	t            *model.Template
	Name, Source string
	Parts        []keys.Part
}

func newTree(m *model.Model, l *language) (*tree, error) {
	t := &tree{Model: m, Missing: Missing(m), names: &scope{l: l}}
	t.declareConstants()
	for _, e := range m.Entities {
		if e.Table == nil {
			return nil, fmt.Errorf("entity %s has no table", e.Name)
		}
		for _, a := range e.Table.Definition().Attributes {
			if of := e.Attribute(a.Name); of != nil && of.Template != nil {
				t.Templates = append(t.Templates, templateOf{
					of, t.names.add(templateName, e.Name+" "+of.Name), of.Template.Explicit(), of.Template.Parts(),
				})
			}
		}
	}
	for _, e := range m.Entities {
		t.Entities = append(t.Entities, t.entity(e))
	}
	for _, p := range m.Patterns {
		r, err := newReading(p)
		if err != nil || p.IsWrite() {
			continue
		}
		r.tree, r.Name = t, t.names.add(functionName, p.Name)
		inner := &scope{l: l, outer: t.names}
		for _, s := range r.Steps {
			switch s := s.(type) {
			case *parameter:
				s.Name, s.Type = inner.add(valueName, s.Field+" "+s.Suffix), l.types[s.kind]
			case *computation:
				s.Name, s.Template = inner.add(valueName, s.attribute), t.template(s.t)
			}
		}
		for i, k := range r.Key {
			r.Key[i].Attribute = t.constant("attribute " + k.Attribute)
		}
		for i, c := range r.Conditions {
			r.Conditions[i].Attribute = t.constant("attribute " + c.Attribute)
		}
		t.Requests = append(t.Requests, r)
	}
	return t, nil
}

func (t *tree) declareConstants() {
	add := func(words, value string) {
		t.Constants = append(t.Constants, constant{words, t.names.add(constantName, words), value})
	}
	var attributes []string
	for _, table := range t.Model.Tables {
		add("table "+table.Name, table.Name)
		for _, x := range table.Indexes {
			add("index "+table.Name+" "+x.Name, x.Name)
		}
		for _, a := range table.Definition().Attributes {
			if !slices.Contains(attributes, a.Name) {
				attributes = append(attributes, a.Name)
			}
		}
	}
	for _, name := range attributes {
		add("attribute "+name, name)
	}
}

// constant returns the name of the constant whose field of equals words, such as "table Orders".
func (t *tree) constant(words string) string {
	return t.Constants[slices.IndexFunc(t.Constants, func(c constant) bool { return c.of == words })].Name
}

// template returns the generated name of a template.
func (t *tree) template(of *model.Template) string {
	return t.Templates[slices.IndexFunc(t.Templates, func(one templateOf) bool { return one.t == of })].Name
}

// Missing returns a sentence for each pattern that reads but gets no function. The sentence gives the reason.
func Missing(m *model.Model) (all []string) {
	for _, p := range m.Patterns {
		if p.IsWrite() {
			continue
		}
		if _, err := newReading(p); err != nil {
			reason := strings.TrimSuffix(oneLine(err.Error()), ".")
			all = append(all, fmt.Sprintf("%s has no function: %s.", oneLine(p.Name), reason))
		}
	}
	return all
}
