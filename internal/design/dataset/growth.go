package dataset

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"github.com/sortkey/sortkey/internal/design/model"

	"github.com/sortkey/sortkey/keys"
)

// A Growth estimates how many rows a group of generated rows has at the declared scale. A group is the rows of a
// partition, or those with equal values of more fields.
//
// The caller first counts each group with [Growth.Count]. Growth then matches the groups of an entity with the
// declared groups (see [census]) by rank, both in descending order of rows. The largest group represents the largest
// declared one. Each other group represents the declared groups of the same relative ranks.
type Growth struct {
	w      *Dataset
	by     func(*model.Entity) grouping
	counts map[*model.Entity][]count
	scales map[groupID]scale
	once   sync.Once
}

// A groupID identifies the rows of one entity in a group, by the first row of the group.
type groupID struct {
	e     *model.Entity
	first *Row
}

// A count is the number of an entity's generated rows in a group.
type count struct {
	first *Row
	n     int
}

// A scale tells how many declared groups a group represents, and how many declared rows each of its rows represents.
type scale struct{ times, rows float64 }

// Growth returns the growth of the partitions of a space. The caller need not count them.
func (w *Dataset) Growth(s *Space) *Growth {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s.growth == nil {
		s.growth = w.GrowthBy(s, nil, nil, "")
		for _, p := range s.Parts {
			s.growth.Count(s.In(p))
		}
	}
	return s.growth
}

// GrowthBy returns the growth of groups of rows. The rows of a group have equal partition keys and equal values of
// the fields in sorted, which are in the sort key. sorted has the type in which values are compared; the zero type
// means the type in the key. Only rows with the values in fixed are in groups. The rows of a group may differ in the
// field named ignored. The caller must count the groups.
func (w *Dataset) GrowthBy(s *Space, sorted map[string]keys.Type, fixed map[string]string, ignored string) *Growth {
	return w.growth(func(e *model.Entity) grouping {
		all := Finest(e, s.Hash)
		for f, t := range Finest(e, s.Sort) {
			as, ok := sorted[f.Name]
			if !ok {
				continue
			}
			if model.Finer(t, as) {
				t = as
			}
			if in, ok := all[f]; !ok || model.Finer(t, in) {
				all[f] = t
			}
		}
		maps.DeleteFunc(all, func(f *model.Field, _ keys.Type) bool { return f.Name == ignored })
		return grouping{all, slices.Concat(s.Hash, s.Sort), fixed}
	})
}

// GrowthOf returns the growth of groups of items. The items of a group have equal values of those of the named fields
// that their entity has. Only items with all listed key attributes are in groups. The caller must count the groups.
func (w *Dataset) GrowthOf(names []string, list ...model.Attribute) *Growth {
	return w.growth(func(e *model.Entity) grouping {
		all := map[*model.Field]keys.Type{}
		for _, f := range e.Fields {
			if slices.Contains(names, f.Name) {
				all[f] = f.Type
			}
		}
		return grouping{fields: all, keys: list}
	})
}

func (w *Dataset) growth(by func(*model.Entity) grouping) *Growth {
	return &Growth{w: w, by: by, counts: map[*model.Entity][]count{}, scales: map[groupID]scale{}}
}

// Count counts a group. The slice identifies the group: the caller passes the same slice to [Growth.In] and
// [Growth.Times].
func (g *Growth) Count(rows []Row) {
	if g.w.Scale >= 1 {
		return
	}
	var room [4]entityRows
	for _, some := range countRows(room[:0], rows) {
		g.counts[some.e] = append(g.counts[some.e], count{&rows[0], some.n})
	}
}

// match matches the counted groups of all entities with the declared groups.
func (g *Growth) match() {
	for e, groups := range g.counts {
		all, made := g.w.census(e, g.by(e)), len(groups)
		declared := all.groups()
		if declared == 0 {
			continue
		}
		// before returns how many declared groups precede those that the group at a rank represents. The largest
		// group represents only one declared group, and the others equally many.
		before := func(rank int) float64 {
			if step := declared / float64(made); rank == 0 || made == 1 || step < 1 {
				return step * float64(rank)
			}
			return 1 + float64(rank-1)*(declared-1)/float64(made-1)
		}
		slices.SortStableFunc(groups, func(a, b count) int { return cmp.Compare(b.n, a.n) })
		for rank, group := range groups {
			from, to := before(rank), before(rank+1)
			rows := (all.sum(to) - all.sum(from)) / (to - from)
			g.scales[groupID{e, group.first}] = scale{to - from, rows / float64(group.n)}
		}
	}
}

// scale returns the scale of a group's rows of an entity.
func (g *Growth) scale(e *model.Entity, rows []Row) scale {
	g.once.Do(g.match)
	if s, ok := g.scales[groupID{e, &rows[0]}]; ok {
		return s
	}
	return scale{1, 1}
}

// Times returns how many declared groups of an entity's rows a group represents. This may be a fraction. It is 1 for
// a group without generated rows of the entity.
func (g *Growth) Times(e *model.Entity, rows []Row) float64 { return g.scale(e, rows).times }

// In returns a function that returns the number of rows at the declared scale that the row of an item in the group
// represents. It returns 1 for samples and raw items.
func (g *Growth) In(rows []Row) func(*Item) float64 {
	var last *model.Entity
	each := 1.0
	return func(it *Item) float64 {
		if !it.Generated || len(g.counts) == 0 {
			return 1
		}
		if it.Entity != last {
			last, each = it.Entity, g.scale(it.Entity, rows).rows
		}
		return each
	}
}

// Groups returns the number of declared groups of an entity, or 0 if it is not known.
func (g *Growth) Groups(e *model.Entity) float64 {
	return g.w.census(e, g.by(e)).groups()
}

// Further returns the share of the rows in the declared groups of an entity that have other values of the named fields
// than the rows before them in their group. It ignores the first row of each group.
func (g *Growth) Further(e *model.Entity, names []string) float64 {
	by := g.by(e)
	all := g.w.census(e, by)
	by.fields = maps.Clone(by.fields)
	for _, f := range e.Fields {
		if slices.Contains(names, f.Name) {
			by.fields[f] = f.Type
		}
	}
	groups := all.groups()
	rest := all.sum(groups) - groups
	if groups == 0 || rest <= 0 {
		return 1
	}
	return (g.w.census(e, by).groups() - groups) / rest
}

// entityRows is the number of rows of generated items of an entity.
type entityRows struct {
	e *model.Entity
	n int
}

// countRows appends the number of rows of generated items for each entity.
func countRows(all []entityRows, rows []Row) []entityRows {
	last := -1
	made := uint16(0) // made of the previous row
	for i := range rows {
		if m := rows[i].made; m == 0 || m != made {
			it := rows[i].Item
			if !it.Generated {
				continue
			}
			if made = m; last < 0 || all[last].e != it.Entity {
				if last = slices.IndexFunc(all, func(o entityRows) bool { return o.e == it.Entity }); last < 0 {
					last = len(all)
					all = append(all, entityRows{e: it.Entity})
				}
			}
		}
		all[last].n++
	}
	return all
}
