package dataset

import (
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/sortkey/sortkey/internal/design/model"

	"github.com/sortkey/sortkey/keys"
)

// A Growth says how many rows a group of generated rows has at the declared scale, by the number of rows of
// each entity in it: the rows of a partition, or those with equal values of more fields.
//
// First each group is counted with [Growth.Count]. Then the groups of an entity are matched with those that it declares
// (see [census]), both in descending order: the largest group stands for the largest declared one, and each other one
// for those about its rank.
type Growth struct {
	w    *Dataset
	by   func(*model.Entity) grouping
	of   map[*model.Entity]*matching
	once sync.Once
}

// A matching says for which declared groups the groups of an entity stand.
type matching struct {
	made   map[int]int     // groups by the number of their rows
	strata map[int]stratum // of groups with so many rows
	parts  int             // into which a stratum is divided
	all    census
}

// A stratum are the declared groups between two ranks, for which n generated ones stand.
type stratum struct {
	all         census
	from, to, n float64
}

// A Stand is a number of declared groups that have about as many rows. A generated group stands for some.
type Stand struct {
	Times float64
	// Rows is how many times as many rows each of them has as [Growth.In] says.
	Rows float64
	each []float64
	of   []entityRows
}

// maxStands limits the stands of all groups of an entity together, and of each.
const (
	maxStands = 200_000
	maxParts  = 32
)

// Growth returns the growth of the partitions of a space, which are counted.
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

// GrowthBy returns the growth of groups of rows that are equal in the partition key of a space and in some fields of
// its sort key, each with the type as which it is compared, or the zero value for that of the key. The rows have fixed
// values of some fields. No group is counted yet.
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

// GrowthOf returns the growth of groups of items that have some key attributes and are equal in the named fields, as
// far as they have them. No group is counted yet.
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

// match matches the groups of all entities.
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
		// before returns the number of declared groups before those for which a group of a rank stands.
		before := func(rank int) float64 {
			step := declared / float64(made)
			switch {
			case rank == 0 || rank == made || step < 1:
				return step * float64(rank)
			case rank == 1:
				return 1 // the largest stands for itself alone
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

// bound returns where the kth of some parts of a stratum begins. The largest of all groups is a part of its own.
func (s *stratum) bound(k, parts int) float64 {
	if s.from > 0 || k == 0 {
		return s.from + (s.to-s.from)*float64(k)/float64(parts)
	}
	first := min(1, s.to)
	return first + (s.to-first)*float64(k-1)/float64(parts-1)
}

// rows returns the rows of each group in the kth part.
func (s *stratum) rows(k, parts int) float64 {
	const least = 1e-6
	to := max(s.bound(k+1, parts), least)
	from := min(s.bound(k, parts), to-least)
	return (s.all.sum(to) - s.all.sum(from)) / (to - from)
}

// usual returns the rows of the largest of all groups, or of another one on average.
func (s *stratum) usual() float64 {
	if s.from == 0 {
		return s.rows(0, maxParts)
	}
	return s.rows(0, 1)
}

// stand returns what a group with some rows of each entity stands for, by the rows of their strata.
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

// Each returns the number of rows at the declared scale that a row of the group stands for, by its item: 1 for samples
// and raw items.
func (s *Stand) Each(it *Item) float64 {
	for i := range s.of {
		if it.Generated && s.of[i].e == it.Entity {
			return s.each[i]
		}
	}
	return 1
}

// Stands returns for which declared groups one of generated rows stands, with those of an entity, the largest first.
// The rows of other entities in the group are taken to grow with them. It reports false if the group stands for itself.
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

// Groups returns the number of declared groups of an entity, or 0 if that is not known.
func (g *Growth) Groups(e *model.Entity) float64 {
	g.once.Do(g.match)
	if m := g.of[e]; m != nil {
		return m.all.groups()
	}
	return 0
}

// entityRows are rows of generated items.
type entityRows struct {
	e *model.Entity
	n int
}

// countRows appends the number of rows of generated items, by entity.
func countRows(all []entityRows, rows []Row) []entityRows {
	last := -1
	made := uint16(0) // of the last
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

// In returns the number of rows at the declared scale that a row of a group stands for, by its item: 1 for samples and
// raw items. The largest group has as many as the largest declared one, another as many as those for which it stands on
// average.
func (g *Growth) In(rows []Row) func(*Item) float64 {
	if len(g.of) == 0 {
		return func(*Item) float64 { return 1 }
	}
	g.once.Do(g.match)
	s := g.stand(countRows(nil, rows), (*stratum).usual)
	return s.Each
}
