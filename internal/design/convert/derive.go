package convert

import (
	"context"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/expr/ast"
)

const derivedAbout = "Derived from the keys, because the design has no access patterns."

// derive adds access patterns for each entity: one query of a partition of its table, and one query of each index
// that has items of the entity.
func (im *importer) derive(ctx context.Context) error {
	w, err := dataset.Build(ctx, im.m, dataset.Options{})
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		return &Error{Msg: "cannot create the tables or items of the design: " + reason(err)}
	}
	defer w.Close()

	for _, e := range im.m.Entities {
		for _, x := range append([]*model.Index{nil}, e.Table.Indexes...) {
			p := derived(w, e, x)
			if p == nil {
				continue
			}
			if _, err := compile.Pattern(p); err != nil {
				im.add(Loss{What: "pattern " + p.Name, Why: err.Error()})
				continue
			}
			im.m.Patterns = append(im.m.Patterns, p)
		}
	}
	return nil
}

// derived returns a query of an index, or of the table if x is nil. It reads the partition of the first item of the
// entity that is in the index. For a table without a sort key, it is a GetItem. derived returns nil if the index has no
// item of the entity.
func derived(w *dataset.Dataset, e *model.Entity, x *model.Index) *model.Pattern {
	partition, all := e.Table.Partition, e.Table.Keys()
	if x != nil {
		partition, all = x.Partition, x.Keys()
	}
	var fields []string
	for _, part := range e.Parts(partition) {
		if !slices.Contains(fields, part.Name) {
			fields = append(fields, part.Name)
		}
	}

	var first *dataset.Item
	for it := range w.ItemsOf(e) {
		missing := func(a model.Attribute) bool { return it.Attributes.Get(a.Name).Kind() != a.Kind }
		lacks := func(field string) bool { return it.Values.Get(field) == "" }
		if !slices.ContainsFunc(all, missing) && !slices.ContainsFunc(fields, lacks) {
			first = it
			break
		}
	}
	if first == nil {
		return nil
	}

	p := &model.Pattern{
		Name: e.Name, About: derivedAbout, Operation: "Query", Table: e.Table, Index: x, Entity: e,
	}
	if x == nil && len(e.Table.Sort) == 0 {
		p.Operation = "GetItem"
	}
	for _, f := range fields {
		p.Where = append(p.Where, model.Condition{Field: f, Op: ast.Equal, Args: []string{first.Values.Get(f)}})
	}
	if len(fields) > 0 {
		p.Name += " by " + strings.Join(fields, " and ")
	}
	if x != nil {
		p.Name += " in " + x.Name
	}
	return p
}
