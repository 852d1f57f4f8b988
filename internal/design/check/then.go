package check

import (
	"context"
	"maps"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/internal/text"
)

// mostThen is the largest number of rows for which PatternResult.then gets an item.
const mostThen = 100_000

// then gets an item of the entity Pattern.Then for each row, as a program would after the query. The values of the
// row give the key of the item.
func (p *PatternResult) then(ctx context.Context, target explain.Target, m *model.Model) error {
	e := p.Pattern.Then
	if e == nil || p.Total.Refused != nil {
		return nil
	}
	var keys []attr.Item
	for _, row := range p.Total.Items {
		key, ok := p.keyFrom(m, row)
		if !ok {
			p.lost++
			continue
		}
		keys = append(keys, key)
	}
	var err error
	p.Batch, err = explain.GetBatch(ctx, target, e.Table.Name, keys)
	return err
}

// keyFrom returns the key of the item to get for a row. It returns false if the row lacks a value for the key.
func (p *PatternResult) keyFrom(m *model.Model, row attr.Item) (attr.Item, bool) {
	values := map[string]string{}
	for _, w := range p.Pattern.Where {
		if w.Op == ast.Equal {
			values[w.Field] = w.Args[0]
		}
	}

	from := p.Pattern.Entity
	if own := m.Classify(p.Pattern.Table, row); own != nil {
		from = own
	}
	if from != nil {
		maps.Copy(values, from.FieldsOf(row))
	}

	item, err := p.Pattern.Then.Item(values)
	if err != nil {
		return nil, false
	}
	var b attr.Builder
	for _, a := range p.Pattern.Then.Table.Keys() {
		v := item.Get(a.Name)
		if v.Kind() != a.Kind {
			return nil, false
		}
		b.Add(a.Name, v)
	}
	return b.Item(), true
}

// batch fails the pattern if a row lacks a value for the key, or if no item has the key. It looks at the rows for the
// values in the model. A sample of the items need not have the item.
func (j *judge) batch() {
	if j.p.Then == nil {
		return
	}
	name := j.p.Then.Name
	if n := j.pr.lost; n > 0 {
		j.fail(
			nil, "project the fields in the key of "+name+", or keep them in the rows",
			"%s lead to no %s, because they lack a value of its key", rows(n), name,
		)
	} else if b := j.pr.Batch; b.Items < b.Keys && !j.pr.sampled {
		j.fail(
			nil, "", "the rows lead to %s of %s, but to only %s", text.Count(b.Keys, "key"), name,
			text.Count(b.Items, "item"),
		)
	}
}
