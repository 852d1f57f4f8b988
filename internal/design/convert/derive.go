package convert

import (
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/expr/ast"
	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/item"
)

const derivedAbout = "Derived from the keys, because the design has no access patterns."

// derive derives access patterns from keys: for each entity, and for each table
// without entities, a query of a large partition in the table and in each
// index.
func (im *importer) derive() {
	for _, t := range im.m.Tables {
		places := []*model.Index{nil}
		places = append(places, t.Indexes...)
		for _, e := range im.m.Entities {
			if e.Table != t {
				continue
			}
			for _, x := range places {
				im.deriveEntity(e, x)
			}
		}
		hasSamples := func(e *model.Entity) bool { return e.Table == t && len(e.Samples) > 0 }
		if slices.ContainsFunc(im.m.Entities, hasSamples) {
			continue
		}
		for _, x := range places {
			im.deriveRaw(t, x)
		}
	}
}

// deriveEntity adds a query of the partition with the most samples of an
// entity.
func (im *importer) deriveEntity(e *model.Entity, x *model.Index) {
	keys, sort := e.Table.Partition, e.Table.Sort
	if x != nil {
		keys, sort = x.Partition, x.Sort
	}

	var fields []string
	for _, a := range keys {
		t := e.Attribute(a.Name)
		if t == nil {
			return
		}
		if t.Template == nil {
			continue
		}
		for _, c := range t.Template.Components() {
			if !slices.Contains(fields, c) {
				fields = append(fields, c)
			}
		}
	}

	for _, a := range sort {
		if e.Attribute(a.Name) == nil {
			return
		}
	}

	var best *model.Sample
	counts := map[string]int{}
	first := map[string]*model.Sample{}
	most := 0
	for _, s := range e.Samples {
		var id []byte
		good := true
		for _, f := range fields {
			v, ok := s.Values[f]
			good = good && ok
			id = item.AppendKey(id, attr.NewString(v))
		}
		for _, a := range slices.Concat(keys, sort) {
			good = good && s.Attributes.Get(a.Name).Kind() == 0
		}
		if !good {
			continue
		}
		if first[string(id)] == nil {
			first[string(id)] = s
		}
		if counts[string(id)]++; counts[string(id)] > most {
			most, best = counts[string(id)], first[string(id)]
		}
	}
	if best == nil {
		return
	}

	p := &model.Pattern{About: derivedAbout, Operation: "Query", Table: e.Table, Index: x, Entity: e}
	if x == nil && len(sort) == 0 {
		p.Operation = "GetItem"
	}
	for _, f := range fields {
		p.Where = append(p.Where, model.Condition{Field: f, Op: ast.Equal, Args: []string{best.Values[f]}})
	}

	p.Name = e.Name
	if len(fields) > 0 {
		p.Name += " by " + strings.Join(fields, " and ")
	}
	if x != nil {
		p.Name += " in " + x.Name
	}
	if _, err := compile.Pattern(im.m, p); err != nil {
		im.add(Loss{What: "pattern " + p.Name, Why: err.Error()})
		return
	}

	im.addPattern(p)
}

// deriveRaw adds a query of the first partition of a table without entities.
func (im *importer) deriveRaw(t *model.Table, x *model.Index) {
	keys, sort := t.Partition, t.Sort
	if x != nil {
		keys, sort = x.Partition, x.Sort
	}

	for _, r := range im.m.Items {
		if r.Table != t {
			continue
		}

		p := &model.Pattern{About: derivedAbout, Operation: "Query", Table: t, Index: x}
		var names []string
		for _, a := range keys {
			v := r.Item.Get(a.Name)
			if v.Kind() != a.Kind || a.Kind == attr.Binary {
				break
			}
			names = append(names, a.Name)
			p.Where = append(p.Where, model.Condition{Field: a.Name, Op: ast.Equal, Args: []string{keyText(v)}})
		}

		has := func(a model.Attribute) bool { return r.Item.Get(a.Name).Kind() == a.Kind }
		if len(names) < len(keys) || slices.ContainsFunc(sort, func(a model.Attribute) bool { return !has(a) }) {
			continue
		}
		if x == nil && len(sort) == 0 {
			p.Operation = "GetItem"
		}

		p.Name = t.Name + " by " + strings.Join(names, " and ")
		if x != nil {
			p.Name += " in " + x.Name
		}
		if _, err := compile.Pattern(im.m, p); err == nil {
			im.addPattern(p)
		}
		return
	}
}
