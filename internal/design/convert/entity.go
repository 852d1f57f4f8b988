package convert

import (
	"cmp"

	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

// entities creates entities from the items of a table. Items that fit an entity become its samples. Items that fit no
// entity become raw items.
func (im *importer) entities(t *model.Table) {
	p := im.pools[t]
	if p == nil {
		p = &pool{}
	}
	var rest, unfit []*row
	for _, r := range p.rows {
		if e := im.m.Classify(t, r.it); e == nil {
			rest = append(rest, r)
		} else {
			unfit = append(unfit, addSamples(e, []*row{r})...)
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

	for _, g := range groups(t, rest) {
		if f := onlyFacet(g.rows); f != nil {
			g.aliases = f.aliases
			if !f.used && f.name != "" {
				g.name, f.used = f.name, true
			}
		}
		im.addEntity(t, g)
	}
}

// onlyFacet returns the facet that all rows have in common. It returns nil if the rows have no facet, or several.
func onlyFacet(rows []*row) (only *facet) {
	for _, r := range rows {
		if r.facet != nil && only != nil && r.facet != only {
			return nil
		}
		only = cmp.Or(only, r.facet)
	}
	return only
}

// addEntity creates the entity of a group. The items that fit it become samples, and the others raw items. If most do
// not fit, it creates no entity.
func (im *importer) addEntity(t *model.Table, g *group) {
	e := im.infer(t, g)
	if e == nil {
		im.raw(t, g.rows)
		return
	}
	unfit := addSamples(e, g.rows)
	if len(e.Samples) <= len(unfit) {
		im.raw(t, g.rows)
		return
	}
	e.Name = im.entityName(g.name)
	im.m.Entities = append(im.m.Entities, e)
	if len(unfit) > 0 {
		im.loss(
			unfit[0].n, text.Count(len(unfit), "item")+" of "+e.Name,
			"they do not fit the templates of the entity, so they are raw items of table "+t.Name,
			"check their keys, and attributes whose names differ in one letter",
		)
		im.raw(t, unfit)
	}
}

// addSamples adds the items that fit an entity as its samples, and returns the others.
func addSamples(e *model.Entity, rows []*row) (unfit []*row) {
	for _, r := range rows {
		if s := sample(e, r.it); s != nil {
			e.Samples = append(e.Samples, s)
		} else {
			unfit = append(unfit, r)
		}
	}
	return unfit
}

func (im *importer) raw(t *model.Table, rows []*row) {
	for _, r := range rows {
		im.m.Items = append(im.m.Items, &model.RawItem{Table: t, Item: r.it})
	}
}
