package convert

import (
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/expr/ast"
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
	keys, sort := keysIn(e.Table, x)

	var fields []string
	for _, a := range slices.Concat(keys, sort) {
		if e.Attribute(a.Name) == nil {
			return
		}
	}
	for _, part := range e.Parts(keys) {
		if !slices.Contains(fields, part.Name) {
			fields = append(fields, part.Name)
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

	var values []string
	for _, f := range fields {
		values = append(values, best.Values[f])
	}
	p := &model.Pattern{Name: e.Name, Table: e.Table, Index: x, Entity: e}
	if err := im.addDerived(p, fields, values); err != nil {
		im.add(Loss{What: "pattern " + p.Name, Why: err.Error()})
	}
}

// keysIn returns the partition key and the sort key of a table or an index.
func keysIn(t *model.Table, x *model.Index) (partition, sort []model.Attribute) {
	if x != nil {
		return x.Partition, x.Sort
	}
	return t.Partition, t.Sort
}

// addDerived adds a pattern with the values of some fields, if it is one request.
func (im *importer) addDerived(p *model.Pattern, fields, values []string) error {
	p.About, p.Operation = derivedAbout, "Query"
	if p.Index == nil && len(p.Table.Sort) == 0 {
		p.Operation = "GetItem"
	}
	for i, f := range fields {
		p.Where = append(p.Where, model.Condition{Field: f, Op: ast.Equal, Args: []string{values[i]}})
	}
	if len(fields) > 0 {
		p.Name += " by " + strings.Join(fields, " and ")
	}
	if p.Index != nil {
		p.Name += " in " + p.Index.Name
	}
	_, err := compile.Pattern(im.m, p)
	if err == nil {
		im.addPattern(p)
	}
	return err
}

// deriveRaw adds a query of the first partition of a table without entities.
func (im *importer) deriveRaw(t *model.Table, x *model.Index) {
	keys, sort := keysIn(t, x)

	for _, r := range im.m.Items {
		if r.Table != t {
			continue
		}

		var names, values []string
		for _, a := range keys {
			v := r.Item.Get(a.Name)
			if v.Kind() != a.Kind || a.Kind == attr.Binary {
				break
			}
			names, values = append(names, a.Name), append(values, keyText(v))
		}

		has := func(a model.Attribute) bool { return r.Item.Get(a.Name).Kind() == a.Kind }
		if len(names) < len(keys) || slices.ContainsFunc(sort, func(a model.Attribute) bool { return !has(a) }) {
			continue
		}
		// An error means that the index gets no pattern.
		_ = im.addDerived(&model.Pattern{Name: t.Name, Table: t, Index: x}, names, values)
		return
	}
}
