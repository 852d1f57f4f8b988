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

// tries determines how many items give variants their values: fewer than 2*tries, spread evenly over all items.
const tries = 20

// mostRead limits the rows of a pattern that a reader compares.
const mostRead = 10_000

// A reader checks whether patterns read the same rows from two datasets. One has the items of the pattern's own
// version, the other has the items of both versions.
type reader struct {
	ctx    context.Context
	middle *dataset.Dataset // has the items of both versions
	gone   map[string]bool  // keys of the items that the plan deletes; nil for the old version
}

// misread returns a pattern that reads other rows while the items of both versions exist, or nil. made is true if the
// pattern belongs to the target.
func (p *planner) misread() (found *model.Pattern, made bool, err error) {
	middle, err := dataset.Holding(p.ctx, p.unionTables(), p.unionItems())
	if err != nil {
		return nil, false, err
	}
	defer middle.Close()
	var olds, items []dataset.Item
	gone := map[string]bool{}
	for i := range p.items {
		v := &p.items[i]
		if olds = append(olds, *v.was); v.table != nil {
			items = append(items, dataset.Item{Table: v.table, Entity: v.entity, Attributes: v.item})
		} else {
			gone[place(v.was.Table, v.was.Attributes)] = true
		}
	}
	r := reader{ctx: p.ctx, middle: middle}
	if found, err = r.misread(p.was.Dataset.Model, olds, olds); err != nil || found != nil {
		return found, false, err
	}
	r.gone = gone
	found, err = r.misread(p.target, items, slices.Concat(items, p.fresh()))
	return found, true, err
}

// misread returns the first pattern of a version that reads other rows from r.middle than from the items of the
// version alone. It runs each pattern with its own values and with the values of some of the items in tried.
func (r *reader) misread(m *model.Model, items, tried []dataset.Item) (*model.Pattern, error) {
	own, err := dataset.Holding(r.ctx, m.Tables, items)
	if err != nil {
		return nil, err
	}
	defer own.Close()
	for _, q := range m.Patterns {
		if same, err := r.same(m, own, q, tried); err != nil || !same {
			return q, err
		}
	}
	return nil, nil
}

// unionTables returns the tables of both versions, with the indexes of both.
func (p *planner) unionTables() (all []*model.Table) {
	eachName(p.was.Dataset.Model.Tables, p.target.Tables, tableName, func(a, b *model.Table) {
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
			all = append(all, dataset.Item{Table: v.table, Entity: v.was.Entity, Attributes: v.union()})
		default:
			all = append(all, *v.was)
			if v.table != nil {
				all = append(all, dataset.Item{Table: v.table, Entity: v.entity, Attributes: v.item})
			}
		}
	}
	return all
}

// fresh returns the items of new entities to which no old item belongs. These items do not exist until the program
// has switched.
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

// same reports whether a pattern reads the same rows from r.middle, which has the items of both versions, as from
// own, which has those of one. It tries the pattern's own values and the values of some items. It returns true for
// writes.
func (r *reader) same(m *model.Model, own *dataset.Dataset, p *model.Pattern, items []dataset.Item) (bool, error) {
	if p.IsWrite() {
		return true, nil
	}
	for _, q := range variants(p, items) {
		q.Limit = 0 // extra items would change where a limited page ends
		want, ok, err := r.read(own, m, q, p.Limit > 0)
		if err != nil {
			return false, err
		}
		if !ok {
			continue // the request fails even in its own version
		}
		if got, ok, err := r.read(r.middle, m, q, p.Limit > 0); err != nil || !ok || !slices.Equal(want, got) {
			return false, err
		}
	}
	return true, nil
}

// read returns the keys of the rows that a pattern returns. It returns false if the request cannot be run. It leaves
// out items that the plan deletes, because only the old version has them. If limited is true, it includes them,
// because they count towards the pattern's limit.
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

// variants returns copies of a pattern to try. The first has the pattern's own values. For each of some items there
// are two more: one with the item's values in conditions with =, and one with the item's values in ranges too.
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

// withValues returns a copy of p with the given values in its conditions with =. If ranges is true, it also puts them
// into all other conditions except IN. It returns nil if a value is missing, or if ranges is true and p has no range.
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
