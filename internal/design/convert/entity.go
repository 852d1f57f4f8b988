package convert

import (
	"slices"
	"strconv"

	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keys"
)

// entities creates entities from the items of a table. Items that fit no entity
// stay raw.
func (im *importer) entities(t *model.Table) {
	p := im.pool(t)
	if p.over > 0 {
		im.add(Loss{
			What: "items of table " + t.Name,
			Why:  text.Count(p.over, "item") + " beyond the first " + strconv.Itoa(max(im.o.Items, 0)),
			Hint: "--items N imports more",
		})
	}

	assignGroups(t, p)
	var made []*model.Entity
	for _, g := range p.groups {
		for _, part := range splitGroup(t, g) {
			if e := im.addEntity(t, part); e != nil {
				made = append(made, e)
			}
		}
	}

	var rest []*row
	for _, r := range p.rows {
		if r.group != nil {
			continue
		}
		if e := im.m.Classify(t, r.it); e != nil && slices.Contains(made, e) && hasLiteral(e) {
			if s := sample(e, r.it); s != nil {
				e.Samples = append(e.Samples, s)
				continue
			}
		}
		rest = append(rest, r)
	}

	for _, g := range groups(t, rest) {
		im.addEntity(t, g)
	}
}

// addEntity creates the entity of a group, with the items that fit it as
// samples. Other items become raw items.
func (im *importer) addEntity(t *model.Table, g *group) *model.Entity {
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
		im.loss(
			unfit[0].n, text.Count(len(unfit), "item")+" of "+e.Name,
			"they do not fit the templates of the entity, so they are raw items of table "+t.Name,
			"check their keys, and attributes whose names differ in one letter",
		)
		im.raw(t, unfit)
	}
	return e
}

func (im *importer) raw(t *model.Table, rows []*row) {
	for _, r := range rows {
		im.m.Items = append(im.m.Items, &model.RawItem{Table: t, Item: r.it})
	}
}

// hasLiteral reports whether the keys of e contain literal text.
func hasLiteral(e *model.Entity) bool {
	return slices.ContainsFunc(e.Table.Keys(), func(a model.Attribute) bool {
		t := e.Attribute(a.Name)
		literal := func(p keys.Part) bool { return p.Literal != "" }
		return t != nil && (t.Template == nil || slices.ContainsFunc(t.Template.Parts(), literal))
	})
}
