package diff

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/expr/ast"
)

// tries is how many items a pattern is tried with, beside its own values.
const tries = 20

// mostRead is the most rows of a pattern that are compared.
const mostRead = 10_000

// A reader compares what patterns read while the items of both versions are there with what they should.
type reader struct {
	ctx    context.Context
	middle *dataset.Dataset // both versions
	gone   map[string]bool
}

// misread returns a pattern that would not read the same rows while the items of both versions are there, with
// the table and the index that it reads, or nil. It is one of the target if made.
func (p *planner) misread() (found *model.Pattern, made bool, err error) {
	middle, err := dataset.Holding(p.ctx, p.unionTables(), p.unionItems())
	if err != nil {
		return nil, false, err
	}
	defer middle.Close()
	r := reader{ctx: p.ctx, middle: middle, gone: map[string]bool{}}
	olds := p.oldItems()
	was, err := dataset.Holding(p.ctx, p.was.Dataset.Model.Tables, olds)
	if err != nil {
		return nil, false, err
	}
	defer was.Close()
	for _, q := range p.was.Dataset.Model.Patterns {
		if same, err := r.same(p.was.Dataset.Model, was, q, olds); err != nil || !same {
			return q, false, err
		}
	}

	var items []dataset.Item
	for i := range p.items {
		if v := &p.items[i]; v.table != nil {
			items = append(items, dataset.Item{Table: v.table, Entity: v.entity, Attributes: v.item})
		} else if v.table == nil {
			r.gone[place(v.was.Table, v.was.Attributes)] = true
		}
	}
	end, err := dataset.Holding(p.ctx, p.target.Tables, items)
	if err != nil {
		return nil, false, err
	}
	defer end.Close()
	items = append(items, p.fresh()...)
	for _, q := range p.target.Patterns {
		if same, err := r.same(p.target, end, q, items); err != nil || !same {
			return q, true, err
		}
	}
	return nil, false, nil
}

// oldItems returns the items of the old version that can be carried: an example that the new version cannot write
// is not among them.
func (p *planner) oldItems() (all []dataset.Item) {
	for i := range p.items {
		all = append(all, *p.items[i].was)
	}
	return all
}

// unionTables returns the tables of both versions, with the indexes of both.
func (p *planner) unionTables() (all []*model.Table) {
	both(p.was.Dataset.Model.Tables, p.target.Tables, tableName, func(a, b *model.Table) {
		switch {
		case a == nil:
			all = append(all, b)
		case b == nil:
			all = append(all, a)
		default:
			t := *a
			t.Indexes = slices.Clone(a.Indexes)
			for _, x := range b.Indexes {
				if a.Index(x.Name) == nil {
					t.Indexes = append(t.Indexes, x)
				}
			}
			all = append(all, &t)
		}
	})
	return all
}

// unionItems returns the items of both versions.
func (p *planner) unionItems() (all []dataset.Item) {
	for i := range p.items {
		v := &p.items[i]
		switch {
		case v.kept:
			all = append(all, dataset.Item{Table: v.table, Entity: v.was.Entity, Attributes: v.both()})
		default:
			all = append(all, *v.was)
			if v.table != nil {
				all = append(all, dataset.Item{Table: v.table, Entity: v.entity, Attributes: v.item})
			}
		}
	}
	return all
}

// fresh returns the items of the new version of which the old one has no entity, so that they are not there yet.
func (p *planner) fresh() (all []dataset.Item) {
	taken := maps.Clone(p.parts)
	for _, pr := range p.pairs {
		taken[pr.is] = true
	}
	for i := range p.is.Dataset.Items {
		if it := &p.is.Dataset.Items[i]; it.Entity != nil && !taken[it.Entity] {
			e := p.target.Entity(it.Entity.Name)
			if made, err := e.Item(it.Values.Map()); err == nil {
				all = append(all, dataset.Item{Table: e.Table, Entity: e, Attributes: made})
			}
		}
	}
	return all
}

// same reports whether a pattern, also with the values of some items, reads among the items of both versions
// what it reads among those of its own.
func (r *reader) same(m *model.Model, own *dataset.Dataset, p *model.Pattern, items []dataset.Item) (bool, error) {
	if p.IsWrite() {
		return true, nil
	}
	for _, q := range variants(p, items) {
		q.Limit = 0 // where it ends depends on the items
		want, ok, err := r.read(own, m, q, p.Limit > 0)
		if err != nil {
			return false, err
		}
		if !ok {
			continue // it is wrong in its own version
		}
		if got, ok, err := r.read(r.middle, m, q, p.Limit > 0); err != nil || !ok || !slices.Equal(want, got) {
			return false, err
		}
	}
	return true, nil
}

// read returns the keys of the rows that a pattern returns, and whether it is a request that is answered. It
// leaves out items that are to be deleted, which the old version reads too, unless a limit counts them.
func (r *reader) read(
	w *dataset.Dataset, m *model.Model, p *model.Pattern, limited bool,
) (keys []string, ok bool, err error) {
	pr, err := check.Through(r.ctx, w.Target(), m, p, explain.Options{Brief: true, Items: mostRead})
	if err != nil || pr.Total == nil || pr.Total.Refused != nil {
		return nil, false, err
	}
	t := m.Table(pr.Total.Table)
	if t == nil {
		return nil, false, nil
	}
	for _, row := range pr.Total.Rows {
		if key := place(t, row.Key); row.Returned && (limited || !r.gone[key]) {
			keys = append(keys, key)
		}
	}
	if b := pr.Batch; b != nil {
		keys = append(keys, fmt.Sprint(b.Keys, b.Items))
	}
	return keys, true, nil
}

// variants returns a pattern with its own values and with those of items of its entity: of each twice, once
// with the ranges of the pattern and once with ranges at the item.
func variants(p *model.Pattern, items []dataset.Item) []*model.Pattern {
	own := *p
	all := []*model.Pattern{&own}
	if p.Entity == nil || len(p.Where) == 0 {
		return all
	}
	var some []*dataset.Item
	for i := range items {
		if items[i].Entity == p.Entity {
			some = append(some, &items[i])
		}
	}
	step := max(1, len(some)/tries)
	for i := 0; i < len(some); i += step {
		values := p.Entity.FieldsOf(some[i].Attributes)
		for _, ranges := range []bool{false, true} {
			if q := withValues(p, values, ranges); q != nil {
				all = append(all, q)
			}
		}
	}
	return all
}

// withValues returns a pattern with other values, or nil if one lacks or nothing would differ.
func withValues(p *model.Pattern, values map[string]string, ranges bool) *model.Pattern {
	q := *p
	q.Where = slices.Clone(p.Where)
	hasRange := false
	for i, w := range q.Where {
		v, ok := values[w.Field]
		switch {
		case w.Op == model.In:
			continue
		case !ok:
			return nil
		case w.Op == ast.Equal || ranges:
			q.Where[i].Args = slices.Repeat([]string{v}, len(w.Args))
		}
		hasRange = hasRange || w.Op != ast.Equal
	}
	if ranges && !hasRange {
		return nil
	}
	return &q
}
