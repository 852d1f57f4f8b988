package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/terminal"
	"github.com/sortkey/sortkey/internal/text"
)

// An entityRow describes one entity in the page's overview of the design.
type entityRow struct {
	*model.Entity
	N     int // from 1
	Color string
	Items int // at the declared scale
	Bytes int // of an item, on average
	// Places are the table and the indexes that hold items of the entity.
	Places   []place
	Patterns []*pattern // that read or write it
	Findings []finding
}

// A place has the keys of an entity's items in a table or an index.
type place struct {
	Space *space
	Keys  []keyChart
	// When is the condition under which an item is in the table or index, or "". Share is the fraction of the
	// entity's items that are there.
	When  string
	Share float64
}

// A keyChart is a key attribute with its template.
type keyChart struct {
	Name  string
	Parts []keyPart
}

// A keyPart is a part of a template: literal text or a component. A component has the colour of its field.
type keyPart struct {
	Literal     string
	Name, Type  string
	Color, Help string
}

// chart returns a row for each entity of the model, with its keys in each table and index.
func (p *Page) chart() (rows []*entityRow) {
	fields := fieldColors(p.Model)
	for i, e := range p.Model.Entities {
		r := &entityRow{Entity: e, N: i + 1, Color: p.colors[e.Name]}
		for _, s := range p.Spaces {
			if s.Index == nil && s.Table == e.Table {
				all := s.of(e)
				r.Items, r.Bytes = int(all.DeclaredItems+0.5), all.Bytes/max(all.Items, 1)
			}
			if at, ok := s.place(e, fields, r.Items); ok {
				r.Places = append(r.Places, at)
			}
		}
		for _, one := range p.Access {
			if slices.Contains(one.entities(), e) {
				r.Patterns = append(r.Patterns, one)
			}
		}
		for _, g := range p.Groups {
			for _, f := range g.Findings {
				if f.Entity == e.Name && f.Rule != check.Rule {
					r.Findings = append(r.Findings, f)
				}
			}
		}
		rows = append(rows, r)
	}
	return rows
}

// place returns the keys of the items of e in s. It returns false if s cannot have items of e.
func (s *space) place(e *model.Entity, fields map[string]string, items int) (place, bool) {
	if e.Table != s.Table {
		return place{}, false
	}

	p := place{Space: s, Share: 1}
	var conditions []string
	for _, a := range slices.Concat(s.Hash, s.Sort) {
		t := e.Attribute(a.Name)
		if t == nil {
			return place{}, false
		}
		p.Keys = append(p.Keys, keyChart{a.Name, keyParts(t, fields)})
		if c := t.Condition(); c != "" && !slices.Contains(conditions, c) {
			conditions = append(conditions, c)
		}
	}
	p.When = strings.Join(conditions, " and ")
	if items > 0 {
		p.Share = min(s.of(e).DeclaredItems/float64(items), 1)
	}
	return p, true
}

// keyParts returns the parts of a template, each in the colour of its field.
func keyParts(t *model.Template, fields map[string]string) (all []keyPart) {
	if t.Template == nil {
		return []keyPart{{Literal: strings.Trim(text.Literal(t.Const), `"`)}}
	}
	for _, p := range t.Template.Parts() {
		if p.Name == "" {
			all = append(all, keyPart{Literal: p.Literal})
			continue
		}
		one := keyPart{Name: p.Name, Color: fields[p.Name], Help: p.Type.String()}
		if p.Typed {
			one.Type = p.Type.String()
		}
		all = append(all, one)
	}
	return all
}

// fieldColors maps each field in a template to a CSS class. It numbers the classes in the order of the model.
func fieldColors(m *model.Model) map[string]string {
	all := map[string]string{}
	for _, e := range m.Entities {
		for _, t := range e.Attributes {
			if t.Template == nil {
				continue
			}
			for _, name := range t.Template.Components() {
				if all[name] == "" {
					all[name] = fmt.Sprintf("k%d", len(all))
				}
			}
		}
	}
	return all
}

// Belongs names the parents of the entity, or returns "" if it has none.
func (r *entityRow) Belongs() string {
	var names []string
	for _, p := range r.Parents {
		names = append(names, p.Entity.Name)
	}
	return text.Join(names, "and")
}

// A palette maps the names of entities to CSS classes.
type palette map[string]string

func newPalette(m *model.Model) palette {
	p := palette{"": "en"}
	for i, e := range m.Entities {
		p[e.Name] = fmt.Sprintf("e%d", i)
	}
	return p
}

// short replaces invisible characters in s by visible ones, and cuts s in the middle to at most width columns.
func short(s string, width int) string { return terminal.ClipMiddle(text.Visible(s), width) }

// amount formats a figure and its noun.
func amount(f float64, noun string) string { return text.Amount(text.Figure(f), noun) }

// named returns an entity's name, or "no entity".
func named(entity string) string {
	if entity == "" {
		return "no entity"
	}
	return entity
}
