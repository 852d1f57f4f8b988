package convert

import (
	"slices"
	"strconv"

	"github.com/sortkey/sortkey/internal/design"
	"github.com/sortkey/sortkey/keys"
)

// entities makes entities of the items of a table, and leaves those raw that
// fit none.
func (im *importer) entities(t *design.Table) {
	p := im.pool(t)
	if p.over > 0 {
		im.add(Loss{
			What: "items of table " + t.Name, Why: counted(p.over, "item") + " beyond the first " + strconv.Itoa(max(im.o.Items, 0)),
			Hint: "--items N takes more",
		})
	}
	join(t, p)
	var made []*design.Entity
	for _, g := range p.groups {
		for _, part := range part(t, g) {
			if e := im.settle(t, part); e != nil {
				made = append(made, e)
			}
		}
	}
	var rest []*row
	for _, r := range p.rows {
		if r.group != nil {
			continue
		}
		if e := im.m.Classify(t, r.it); e != nil && slices.Contains(made, e) && telling(e) {
			if s := sample(e, r.it); s != nil {
				e.Samples = append(e.Samples, s)
				continue
			}
		}
		rest = append(rest, r)
	}
	for _, g := range groups(t, rest) {
		im.settle(t, g)
	}
}

// settle makes the entity of a group, with the items that fit it as samples.
// The others are raw.
func (im *importer) settle(t *design.Table, g *group) *design.Entity {
	e := g.entity
	if e == nil {
		e = im.infer(t, g)
	}
	if e == nil {
		im.raw(t, g.rows)
		return nil
	}
	e.Name = im.entityName(g.name, g.long, t)
	if e.About == "" {
		e.About = g.about
	}
	im.m.Entities = append(im.m.Entities, e)
	if len(g.rows) == 0 {
		im.invent(t, e, g)
	}
	var unfit []*row
	for _, r := range g.rows {
		if s := sample(e, r.it); s != nil {
			e.Samples = append(e.Samples, s)
		} else {
			unfit = append(unfit, r)
		}
	}
	if len(unfit) > 0 {
		im.lose(unfit[0].n, counted(len(unfit), "item")+" of "+e.Name, "the templates of the entity do not make them, so they are raw items of table "+t.Name, "look at their keys, and at attributes whose names differ in one letter")
		im.raw(t, unfit)
	}
	return e
}

func (im *importer) raw(t *design.Table, rows []*row) {
	for _, r := range rows {
		im.m.Items = append(im.m.Items, &design.RawItem{Table: t, Item: r.it})
	}
}

// telling reports whether the keys of e have something of their own: literal
// text.
func telling(e *design.Entity) bool {
	return slices.ContainsFunc(e.Table.Keys(), func(a design.Attribute) bool {
		t := e.Attribute(a.Name)
		return t != nil && (t.Template == nil || slices.ContainsFunc(t.Template.Parts(), func(p keys.Part) bool { return p.Literal != "" }))
	})
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}
