package dataset

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/sortkey/sortkey/internal/design/model"

	"github.com/sortkey/sortkey/keys"
)

// A Growth estimates how many rows a group of generated rows would have at the declared scale. A group consists of
// the rows of a partition, or of the rows that also have equal values of some other fields.
//
// The caller first counts each group with [Growth.Count]. Growth then sorts the counted groups of an entity and its
// declared groups (see [census]) by size, the largest first. It assumes that the largest counted group represents the
// largest declared group, and that each other group represents the declared groups at the same relative place in the
// order.
type Growth struct {
	w      *Dataset
	by     func(*model.Entity) grouping
	counts map[*model.Entity][]count
	scales map[groupID]scale
	once   sync.Once
}

// A groupID identifies an entity's rows in a group. first is the first row of the whole group.
type groupID struct {
	e     *model.Entity
	first *Row
}

// A count is the number of an entity's generated rows in a group.
type count struct {
	first *Row
	n     int
}

// A scale says what a group represents: times is the number of declared groups, and rows is the number of declared
// rows for each of its rows.
type scale struct{ times, rows float64 }

// Growth returns the growth of the partitions of a space. It counts the partitions itself, so the caller must not.
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

// GrowthBy returns the growth of groups of rows in a space. The rows of a group have equal partition keys and equal
// values of the sort key fields in sorted. The map sorted says in which type to compare the values of a field; the
// zero type means the type in the key. Only rows with the values in fixed belong to a group. The field ignored may
// differ within a group. The caller must count the groups.
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

// GrowthOf returns the growth of groups of items. The items of a group have equal values of the named fields, as far
// as their entity has these fields. Only items with all attributes in list belong to a group. The caller must count
// the groups.
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

// Count counts a group. The first row of the slice identifies the group, so the caller must pass the same slice to
// [Growth.In] and [Growth.Times].
func (g *Growth) Count(rows []Row) {
	if g.w.Scale >= 1 {
		return
	}
	of := map[*model.Entity]int{}
	for i := range rows {
		if it := rows[i].Item; it.Generated {
			of[it.Entity]++
		}
	}
	for e, n := range of {
		g.counts[e] = append(g.counts[e], count{&rows[0], n})
	}
}

// match finds the scale of each counted group (see [Growth]).
func (g *Growth) match() {
	for e, groups := range g.counts {
		all, made := g.w.census(e, g.by(e)), len(groups)
		declared := all.groups()
		if declared == 0 {
			continue
		}
		// before returns how many declared groups precede those that the counted group at a rank represents. The
		// group at rank 0 represents one declared group. The others divide the remaining declared groups evenly.
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

// scale returns what the rows of an entity in a group represent.
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

// In returns a function that takes the item of a row in the group. The function returns how many rows at the declared
// scale this row represents. For samples and raw items, it returns 1.
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

// Variety says how the number of different values of the named fields grows with the rows of a group: as a power of
// their number, with the exponent that Variety returns. The exponent is 0 if all rows of a group have the same values,
// and 1 if all have different ones.
func (g *Growth) Variety(e *model.Entity, names []string) float64 {
	by := g.by(e)
	all := g.w.census(e, by)
	by.fields = maps.Clone(by.fields)
	for _, f := range e.Fields {
		if slices.Contains(names, f.Name) {
			by.fields[f] = f.Type
		}
	}
	groups := all.groups()
	if len(all) == 0 || all.sum(groups) <= groups { // no generated items, or one for each group
		return 1
	}
	return math.Log(g.w.census(e, by).groups()/groups) / math.Log(all.sum(groups)/groups)
}
