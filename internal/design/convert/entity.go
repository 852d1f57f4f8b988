package convert

import (
	"slices"

	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keys"
)

// entities creates entities from the items of a table. Items of a declared entity are its samples, and items
// that fit no entity stay raw.
func (im *importer) entities(t *model.Table) {
	p := im.pools[t]
	if p == nil {
		p = &pool{}
	}
	var rest, unfit []*row
	for _, r := range p.rows {
		if e := im.m.Classify(t, r.it); e == nil || !hasLiteral(e) {
			rest = append(rest, r)
		} else if s := sample(e, r.it); s != nil {
			e.Samples = append(e.Samples, s)
		} else {
			unfit = append(unfit, r)
		}
	}
	for _, e := range im.m.Entities {
		if e.Table == t && len(e.Samples) == 0 && im.o.Items > 0 {
			e.Count = 1
			im.add(Loss{
				What: "the items of " + e.Name, Why: "the design has none, so count generates one",
				Hint: "add samples, or set count",
			})
		}
	}
	im.raw(t, unfit)

	adopt(t, rest)
	for _, g := range groups(t, rest) {
		f := g.rows[0].facet
		if f != nil && !slices.ContainsFunc(g.rows, func(r *row) bool { return r.facet != f }) {
			g.aliases = f.aliases
			if !f.used && f.name != "" {
				g.name, f.used = f.name, true
			}
		}
		im.addEntity(t, g)
	}
}

// adopt gives items without a facet the only one with items whose keys have the same words.
func adopt(t *model.Table, rows []*row) {
	owners := map[string]*facet{}
	for _, r := range rows {
		shape := shapes(t, r.it)
		if other, ok := owners[shape]; ok && r.facet != nil && other != r.facet {
			owners[shape] = nil
		} else if r.facet != nil {
			owners[shape] = r.facet
		}
	}
	for _, r := range rows {
		if r.facet == nil {
			r.facet = owners[shapes(t, r.it)]
		}
	}
}

// addEntity creates the entity of a group, with the items that fit it as
// samples. Other items become raw items.
func (im *importer) addEntity(t *model.Table, g *group) {
	e := im.infer(t, g)
	if e == nil {
		im.raw(t, g.rows)
		return
	}
	e.Name = im.entityName(g.name)
	im.m.Entities = append(im.m.Entities, e)

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
}

func (im *importer) raw(t *model.Table, rows []*row) {
	for _, r := range rows {
		im.m.Items = append(im.m.Items, &model.RawItem{Table: t, Item: r.it})
	}
}

// hasLiteral reports whether the keys of e contain literal text, or an attribute is constant.
func hasLiteral(e *model.Entity) bool {
	return slices.ContainsFunc(e.Attributes, func(t *model.Template) bool {
		literal := func(p keys.Part) bool { return p.Literal != "" }
		return t.Template == nil || e.Table.Has(t.Name) && slices.ContainsFunc(t.Template.Parts(), literal)
	})
}
