package diff

import (
	"context"
	"slices"

	"github.com/sortkey/sortkey/expr/ast"
	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/world"
)

// tries is how many items a pattern is tried with, beside its own values.
const tries = 20

// mostRead is the most rows of a pattern that are compared.
const mostRead = 10_000

// A reader compares what patterns read while the items of both versions are there with what they should.
type reader struct {
	ctx    context.Context
	middle *world.World // both versions
	gone   map[string]bool
}

// misread returns a pattern that would not read the same rows while the items of both versions are there, with
// the table and the index that it reads, or nil. It is one of the target if made.
func (p *planner) misread() (found *model.Pattern, made bool, err error) {
	middle, err := world.Holding(p.ctx, p.unionTables(), p.unionItems())
	if err != nil {
		return nil, false, err
	}
	defer middle.Close()
	r := reader{ctx: p.ctx, middle: middle, gone: map[string]bool{}}
	was := p.was.World
	for _, q := range was.Model.Patterns {
		if same, err := r.same(was.Model, was, q); err != nil || !same {
			return q, false, err
		}
	}

	var items []world.Item
	for i := range p.items {
		if v := &p.items[i]; v.table != nil && v.times > 0 {
			items = append(items, world.Item{Table: v.table, Entity: v.entity, Attributes: v.item})
		} else if v.table == nil {
			r.gone[place(v.was.Table, v.was.Attributes)] = true
		}
	}
	end, err := world.Holding(p.ctx, p.target.Tables, items)
	if err != nil {
		return nil, false, err
	}
	defer end.Close()
	for _, q := range p.target.Patterns {
		if same, err := r.same(p.target, end, q); err != nil || !same {
			return q, true, err
		}
	}
	return nil, false, nil
}

// unionTables returns the tables of both versions, with the indexes of both.
func (p *planner) unionTables() (all []*model.Table) {
	both(p.was.World.Model.Tables, p.target.Tables, tableName, func(a, b *model.Table) {
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
func (p *planner) unionItems() (all []world.Item) {
	for i := range p.items {
		v := &p.items[i]
		switch {
		case v.times == 0:
		case v.stays():
			all = append(all, world.Item{Table: v.table, Entity: v.was.Entity, Attributes: v.both()})
		default:
			all = append(all, *v.was)
			if v.table != nil {
				all = append(all, world.Item{Table: v.table, Entity: v.entity, Attributes: v.item})
			}
		}
	}
	return all
}

// same reports whether a pattern reads in both versions' items what it reads in those of its own.
func (r *reader) same(m *model.Model, own *world.World, p *model.Pattern) (bool, error) {
	if p.IsWrite() {
		return true, nil
	}
	for _, q := range variants(p, own.Items) {
		want, ok, err := r.read(own, m, q)
		if err != nil {
			return false, err
		}
		if !ok {
			continue // it is wrong in its own version
		}
		if got, ok, err := r.read(r.middle, m, q); err != nil || !ok || !slices.Equal(want, got) {
			return false, err
		}
	}
	return true, nil
}

// read returns the keys of the rows that a pattern returns, and whether it is a request that is answered.
func (r *reader) read(w *world.World, m *model.Model, p *model.Pattern) (keys []string, ok bool, err error) {
	pr, err := check.Through(r.ctx, explain.InProcess(w.DB), m, p, explain.Options{Brief: true, Items: mostRead})
	if err != nil || pr.Total == nil || pr.Total.Refused != nil {
		return nil, false, err
	}
	t := m.Table(pr.Total.Table)
	if t == nil {
		return nil, false, nil
	}
	for _, row := range pr.Total.Rows {
		if key := place(t, row.Key); row.Returned && !r.gone[key] {
			keys = append(keys, key)
		}
	}
	return keys, true, nil
}

// variants returns a pattern with its own values and with those of items of its entity: of each twice, once
// with the ranges of the pattern and once with ranges at the item.
func variants(p *model.Pattern, items []world.Item) []*model.Pattern {
	all := []*model.Pattern{p}
	if p.Entity == nil || p.Request != nil || len(p.Where) == 0 {
		return all
	}
	var own []*world.Item
	for i := range items {
		if items[i].Entity == p.Entity {
			own = append(own, &items[i])
		}
	}
	step := max(1, len(own)/tries)
	for i := 0; i < len(own); i += step {
		values := p.Entity.FieldsOf(own[i].Attributes)
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
