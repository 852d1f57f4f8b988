package lint

import (
	"fmt"
	"strings"

	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/model"
)

var sameShape = rule.Rule{
	ID: "same-shape", Title: "Entities whose keys look alike", Severity: model.Note,
	Help: "If nothing in the key distinguishes two entities, an item of one silently replaces an item of the other " +
		"with the same id, and readers of a row cannot tell which entity it is.",
	Example: []string{`"e1", "root" (an employee)`, `"b1", "root" (a building)`},
	Cure:    "Begin the partition key or the sort key with the entity name: EMPLOYEE#{employee}.",
	Source:  guide + "bp-adjacency-graphs.html",

	Whole: func(p *rule.Pass) {
		var shapes []string
		byShape := map[string][]*model.Entity{}
		for _, e := range p.Entities {
			shape, ok := shapeOf(e)
			if !ok {
				continue
			}
			if byShape[shape] == nil {
				shapes = append(shapes, shape)
			}
			byShape[shape] = append(byShape[shape], e)
		}
		for _, shape := range shapes {
			if all := byShape[shape]; len(all) > 1 && !sameFields(all) {
				reportAlike(p, all)
			}
		}
	},
}

// shapeOf returns the shape of an entity's key in its table. It reports false if
// the key has no components.
func shapeOf(e *model.Entity) (string, bool) {
	var b strings.Builder
	b.WriteString(e.Table.Name)
	names := 0
	for _, a := range e.Table.Keys() {
		t := e.Attribute(a.Name)
		if t == nil {
			return "", false
		}
		b.WriteByte(1)
		if t.Template == nil {
			b.Write(t.Const.Raw())
			continue
		}
		names += len(t.Template.Components())
		b.WriteString(rule.Skeleton(t.Template.Parts()))
	}
	return b.String(), names > 0
}

// sameFields reports whether entities build their keys from the same fields, so
// that they describe the same items on purpose.
func sameFields(all []*model.Entity) bool {
	names := func(e *model.Entity) string {
		var b strings.Builder
		for _, a := range e.Table.Keys() {
			if t := e.Attribute(a.Name); t != nil && t.Template != nil {
				b.WriteString(strings.Join(t.Template.Components(), " ") + ";")
			}
		}
		return b.String()
	}
	for _, e := range all[1:] {
		if names(e) != names(all[0]) {
			return false
		}
	}
	return true
}

// reportAlike reports entities whose keys have one shape.
func reportAlike(p *rule.Pass, all []*model.Entity) {
	var names []string
	for _, e := range all {
		names = append(names, e.Name)
	}
	first, second := all[0], all[1]
	v := p.TableView(second.Table)
	t := second.Attribute(v.Hash[0].Name)
	f := v.Finding("the keys of %s look alike: an item of one replaces an item of the other with the same id", names)
	f.Entity, f.Pos = second.Name, t.Pos
	f.Keys = append(v.Example(first), v.Example(second)...)
	f.Advice = "begin the partition key or the sort key with the entity name"
	if t.Template != nil {
		better := strings.ToUpper(second.Name) + "#" + t.Template.String()
		f.Propose(
			fmt.Sprintf("begin %s with the entity name: %q", t.Name, better),
			rule.WriteTemplate(second.Name, t.Name, better),
		)
	}
	p.Report(f)
}
