package convert

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/internal/item"
)

const derivedAbout = "Derived from the keys, because the design has no access patterns."

// derive derives access patterns from keys: for each entity a query of the partition of the table, and of that
// of each index, in which it has the most items. Count says that the patterns expect the rows that they return.
func (im *importer) derive(ctx context.Context, count bool) error {
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
			rows, err := rowsOf(ctx, w, p)
			switch {
			case context.Cause(ctx) != nil:
				return context.Cause(ctx)
			case err != nil:
				im.add(Loss{What: "pattern " + p.Name, Why: err.Error()})
				continue
			case count && p.Operation == "Query":
				p.Expect.Rows = &rows
			}
			im.m.Patterns = append(im.m.Patterns, p)
		}
	}
	return nil
}

// derived returns a query of the partition in which an entity has the most items, or nil if none is in the index.
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

	var best dataset.Values
	most, counts, first := 0, map[string]int{}, map[string]dataset.Values{}
	for it := range w.ItemsOf(e) {
		missing := func(a model.Attribute) bool { return it.Attributes.Get(a.Name).Kind() != a.Kind }
		lacks := func(field string) bool { return it.Values.Get(field) == "" }
		if slices.ContainsFunc(all, missing) || slices.ContainsFunc(fields, lacks) {
			continue
		}
		var key []byte
		for _, a := range partition {
			key = item.AppendKey(key, it.Attributes.Get(a.Name))
		}
		id := string(key)
		if counts[id]++; counts[id] == 1 {
			first[id] = it.Values
		}
		if counts[id] > most {
			most, best = counts[id], first[id]
		}
	}
	if most == 0 {
		return nil
	}

	p := &model.Pattern{
		Name: e.Name, About: derivedAbout, Operation: "Query", Table: e.Table, Index: x, Entity: e,
	}
	if x == nil && len(e.Table.Sort) == 0 {
		p.Operation = "GetItem"
	}
	for _, f := range fields {
		p.Where = append(p.Where, model.Condition{Field: f, Op: ast.Equal, Args: []string{best.Get(f)}})
	}
	if len(fields) > 0 {
		p.Name += " by " + strings.Join(fields, " and ")
	}
	if x != nil {
		p.Name += " in " + x.Name
	}
	return p
}

// rowsOf returns the number of rows of a pattern over all pages.
func rowsOf(ctx context.Context, w *dataset.Dataset, p *model.Pattern) (int, error) {
	in, err := compile.Pattern(w.Model, p)
	if err != nil {
		return 0, err
	}
	o := explain.Options{Items: -1, Brief: true}
	r, err := explain.Run(ctx, explain.InProcess(w.DB), explain.Question{Input: in}, o)
	switch {
	case err != nil:
		return 0, err
	case r.Refused != nil:
		return 0, errors.New("the service refuses it: " + r.Refused.Message)
	}
	return r.Returned, nil
}
