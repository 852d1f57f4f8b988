package dataset

import (
	"maps"
	"math"
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
// declared one. Each other group represents the declared groups around the same relative rank.
type Growth struct {
	w    *Dataset
	by   func(*model.Entity) grouping
	of   map[*model.Entity]*matching
	once sync.Once
}

// A matching tells which declared groups each generated group of an entity represents.
type matching struct {
	made   map[int]int     // number of groups, by their number of rows
	strata map[int]stratum // the stratum that groups with this number of rows represent
	parts  int             // number of parts that each stratum is divided into
	all    census
}

// A stratum is a range of ranks of declared groups, which n generated groups represent.
type stratum struct {
	all         census
	from, to, n float64
}

// A Stand is one or more declared groups of about the same size that a generated group represents. Times is their
// number, which may be a fraction.
type Stand struct {
	Times float64
	// Rows is the number of rows of each of these groups, as a multiple of the number that [Growth.In] gives.
	Rows float64
	each []float64
	of   []entityRows
}

// maxStands is the largest number of Stands of all groups of an entity together, and maxParts that of a single group.
const (
	maxStands = 200_000
	maxParts  = 32
)

// Growth returns the growth of the partitions of a space. The caller need not count them.
func (w *Dataset) Growth(s *Space) *Growth {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s.growth == nil {
		s.growth = w.GrowthBy(s, nil, nil)
		for _, p := range s.Parts {
			s.growth.Count(s.In(p))
		}
	}
	return s.growth
}

// GrowthBy returns the growth of groups of rows. The rows of a group have equal partition keys and equal values of
// the fields in sorted, which are in the sort key. sorted has the type in which values are compared; the zero type
// means the type in the key. Only rows with the values in fixed are in groups. The caller must count the groups.
func (w *Dataset) GrowthBy(s *Space, sorted map[string]keys.Type, fixed map[string]string) *Growth {
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
	return &Growth{w: w, by: by, of: map[*model.Entity]*matching{}}
}

// Count counts a group.
func (g *Growth) Count(rows []Row) {
	if g.w.Scale >= 1 {
		return
	}
	var room [4]entityRows
	for _, some := range countRows(room[:0], rows) {
		if g.of[some.e] == nil {
			g.of[some.e] = &matching{made: map[int]int{}, strata: map[int]stratum{}}
		}
		g.of[some.e].made[some.n]++
	}
}

// match matches the counted groups of all entities with the declared groups.
func (g *Growth) match() {
	for e, m := range g.of {
		m.all = g.w.census(e, g.by(e))
		made := 0
		for _, n := range m.made {
			made += n
		}
		declared := m.all.groups()
		if declared == 0 {
			continue
		}
		// before returns how many declared groups precede those that the generated group at a rank represents.
		before := func(rank int) float64 {
			step := declared / float64(made)
			switch {
			case rank == 0 || rank == made || step < 1:
				return step * float64(rank)
			case rank == 1:
				return 1 // the largest group represents only one declared group
			}
			return max(1, (float64(rank)-0.5)*(declared-1)/float64(made-1))
		}
		m.parts = min(max(maxStands/made, 2), maxParts)
		rank := 0
		for _, rows := range slices.Backward(slices.Sorted(maps.Keys(m.made))) {
			n := m.made[rows]
			m.strata[rows] = stratum{m.all, before(rank), before(rank + n), float64(n)}
			rank += n
		}
	}
}

// bound returns the rank at which part k of a stratum begins. In the stratum that contains the largest of all groups,
// this group is the whole first part.
func (s *stratum) bound(k, parts int) float64 {
	if s.from > 0 || k == 0 {
		return s.from + (s.to-s.from)*float64(k)/float64(parts)
	}
	first := min(1, s.to)
	return first + (s.to-first)*float64(k-1)/float64(parts-1)
}

// rows returns the average rows of a group in part k.
func (s *stratum) rows(k, parts int) float64 {
	const least = 1e-6
	to := max(s.bound(k+1, parts), least)
	from := min(s.bound(k, parts), to-least)
	return (s.all.sum(to) - s.all.sum(from)) / (to - from)
}

// usual returns the average rows of a group in the stratum. In the stratum that contains the largest of all groups,
// it returns the rows of that group instead.
func (s *stratum) usual() float64 {
	if s.from == 0 {
		return s.rows(0, maxParts)
	}
	return s.rows(0, 1)
}

// stand returns the Stand for a group. counted has the group's number of rows of each entity. The function rows
// returns the number of rows of a declared group in a stratum.
func (g *Growth) stand(counted []entityRows, rows func(*stratum) float64) (s Stand) {
	s.of, s.each = counted, make([]float64, len(counted))
	for i, some := range counted {
		s.each[i] = 1
		if m := g.of[some.e]; m != nil {
			if stratum, ok := m.strata[some.n]; ok {
				s.each[i] = rows(&stratum) / float64(some.n)
			}
		}
	}
	return s
}

// Each returns the number of rows at the declared scale that the row of an item in the group represents. It returns 1
// for samples and raw items.
func (s *Stand) Each(it *Item) float64 {
	for i := range s.of {
		if it.Generated && s.of[i].e == it.Entity {
			return s.each[i]
		}
	}
	return 1
}

// Stands returns the declared groups that a group of generated rows represents, the largest first. It finds them by
// the group's number of rows of e. Rows of other entities in the group grow as their own numbers say. It reports
// false if the group represents only itself.
func (g *Growth) Stands(e *model.Entity, rows []Row) (all []Stand, ok bool) {
	g.once.Do(g.match)
	counted := countRows(nil, rows)
	at := slices.IndexFunc(counted, func(o entityRows) bool { return o.e == e })
	if at < 0 || g.of[e] == nil {
		return nil, false
	}
	m := g.of[e]
	main, ok := m.strata[counted[at].n]
	for k := 0; ok && k < m.parts; k++ {
		next := g.stand(counted, func(s *stratum) float64 { return s.rows(k, m.parts) })
		next.Times = (main.bound(k+1, m.parts) - main.bound(k, m.parts)) / main.n
		if last := len(all) - 1; last >= 0 && alike(all[last].each, next.each) {
			all[last].Times += next.Times
			continue
		}
		all = append(all, next)
		all[len(all)-1].Rows = next.each[at] * float64(counted[at].n) / main.usual()
	}
	return all, ok
}

func alike(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Abs(x-y) <= 1e-9*x })
}

// Groups returns the number of declared groups of an entity, or 0 if it is not known.
func (g *Growth) Groups(e *model.Entity) float64 {
	g.once.Do(g.match)
	if m := g.of[e]; m != nil {
		return m.all.groups()
	}
	return 0
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

// In returns a function that returns the number of rows at the declared scale that the row of an item in the group
// represents. It returns 1 for samples and raw items. The largest group has as many rows as the largest declared
// group. Another group has the average of the declared groups that it represents.
func (g *Growth) In(rows []Row) func(*Item) float64 {
	if len(g.of) == 0 {
		return func(*Item) float64 { return 1 }
	}
	g.once.Do(g.match)
	s := g.stand(countRows(nil, rows), (*stratum).usual)
	return s.Each
}
