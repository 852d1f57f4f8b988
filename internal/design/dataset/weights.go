package dataset

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/sortkey/sortkey/internal/design/model"
)

// A Stand is a number of declared items of a parent for which a generated one stands, and how many times as
// many rows and bytes each of them has.
type Stand struct{ Times, Rows, Bytes float64 }

// Weights say for which declared items of a parent each generated one stands: those whose rows have nearly as
// many bytes. The largest of few parents are among those generated, so each alone would say too much
// of the others.
type weights struct {
	parent *generator
	ways   map[*model.Entity][]*link // to the parent
	// of has the stands of each generated item of the parent, the one with most rows first.
	of [][]Stand
	// made is the number of rows of each generated item, bytes those that they have, about, and grown is made with the
	// growth of the links. OfEntity is made by entity.
	made, bytes, grown []float64
	// cost is bytes with the growth of the links: what is nearest in bytes costs about the same.
	cost     []float64
	ofEntity map[*model.Entity][]float64
	// weights, unless it is nil, is the number of declared rows for which each row of a generated item stands: the
	// groups hold the rows of several items of the parent, such as those of a region.
	weights []float64
	none    float64 // declared items of the parent without rows, if all that are generated have some
}

// maxStands limits the stands of all generated items together, about.
const maxStands = 20_000

// weights returns the weights for rows of some entities, in groups that are equal in some fields of each, which
// the items of a parent give. It returns nil if all rows were generated, or nothing is known of the declared ones.
func (w *Dataset) weights(parent *model.Entity, fields map[*model.Entity]map[*model.Field]float64) *weights {
	given := map[*model.Entity][]*model.Field{}
	var names []string
	for e, all := range fields {
		_, given[e] = w.identified(e, all)
		names = append(names, e.Name)
		for _, f := range given[e] {
			names = append(names, f.Name)
		}
	}

	slices.Sort(names)
	id := parent.Name + "\x00" + strings.Join(names, "\x00")
	w.mu.Lock()
	defer w.mu.Unlock()
	if s, ok := w.weightings[id]; ok {
		return s
	}
	s := &weights{parent: w.generators[parent], ways: map[*model.Entity][]*link{}}
	if s.parent == nil || parent.Count > maxAssigned || !s.lead(given) || !s.match(w) {
		s = nil
	} else if !s.distinct(given) {
		s.weigh()
	}
	if w.weightings == nil {
		w.weightings = map[string]*weights{}
	}
	w.weightings[id] = s
	return s
}

// identified returns the entity whose items give an entity as many of some fields as they can, and those: itself
// if its key is among them, as fine as in the table: the month of a time does not tell its items apart.
func (w *Dataset) identified(e *model.Entity, fields map[*model.Field]float64) (*model.Entity, []*model.Field) {
	whole := Finest(e, e.Table.Keys())
	if own := e.KeyFields(); len(own) > 0 &&
		!slices.ContainsFunc(own, func(f *model.Field) bool { return fields[f] == 0 || fields[f] < whole[f] }) {
		return e, own
	}
	var given []*model.Field
	for _, f := range e.Fields {
		if fields[f] > 0 && e.CarriedFrom(f) != nil {
			given = append(given, f)
		}
	}
	if len(given) == 0 {
		return nil, nil
	}
	return w.Giver(e, given), given
}

// lead finds the ways to the parent. It reports false if an entity has none.
func (s *weights) lead(given map[*model.Entity][]*model.Field) bool {
	for e := range given {
		if e == s.parent.e {
			s.ways[e] = nil
			continue
		}
		ways := s.parent.w.generators[e].ways()
		i := slices.IndexFunc(ways, func(way []*link) bool { return end(nil, way) == s.parent })
		if i < 0 {
			return false
		}
		s.ways[e] = ways[i]
	}
	return true
}

// distinct reports whether each generated item of the parent has its own values of the fields that it gives.
func (s *weights) distinct(given map[*model.Entity][]*model.Field) bool {
	for e, fields := range given {
		if e == s.parent.e || slices.Contains(fields, ownedField(s.parent.e)) {
			continue
		}
		seen := make(map[string]bool, s.parent.count)
		var id []byte
		for i := range s.parent.count {
			id = id[:0]
			for _, f := range fields {
				text, _ := s.parent.carried(f, i)
				id = append(append(id, text...), 0)
			}
			if seen[string(id)] {
				return false
			}
			seen[string(id)] = true
		}
	}
	return true
}

// weigh sets the weights.
func (s *weights) weigh() {
	s.weights = make([]float64, len(s.of))
	for at, stands := range s.of {
		for _, stand := range stands {
			s.weights[at] += stand.Times * stand.Rows
		}
	}
}

// carried returns the value of a field of an item, or of one to which it belongs.
func (g *generator) carried(f *model.Field, item uint64) (string, bool) {
	if slices.Contains(g.fields, f) {
		return g.value(f, item), true
	}
	for _, l := range g.links {
		if text, ok := l.parent.carried(f, l.index(item)); ok {
			return text, true
		}
	}
	return "", false
}

// match gives each declared item of the parent to a generated one. It reports false if their rows are not known, or
// all were generated.
func (s *weights) match(w *Dataset) bool {
	declared, ok := s.count(w)
	if !ok {
		return false
	}
	slices.SortFunc(declared, func(a, b rowsOf) int { return cmp.Compare(b.bytes, a.bytes) })
	rows := len(declared)
	for rows > 0 && declared[rows-1].rows == 0 {
		rows--
	}

	order := make([]int, len(s.made)) // of the generated ones with rows, the largest first
	for i := range order {
		order[i] = i
	}
	order = slices.DeleteFunc(order, func(i int) bool { return s.made[i] == 0 })
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.cost[b], s.cost[a]) })
	if len(order) == 0 || rows == 0 {
		return false
	}

	s.of = make([][]Stand, len(s.made))
	for i, sizes := range s.assign(order, declared[:rows]) {
		s.of[order[i]] = s.divide(order[i], sizes, i == 0)
	}
	s.none = float64(len(declared) - rows)
	if without := len(s.made) - len(order); without > 0 {
		for at := range s.made {
			if s.made[at] == 0 {
				s.of[at] = []Stand{{Times: s.none / float64(without)}}
			}
		}
		s.none = 0
	}
	return true
}

// rowsOf are the rows that belong to a declared item, and their bytes, about.
type rowsOf struct{ rows, bytes float64 }

// count returns what belongs to each declared item of the parent, and counts what was generated.
func (s *weights) count(w *Dataset) (declared []rowsOf, ok bool) {
	declared = make([]rowsOf, s.parent.e.Count)
	n := s.parent.count
	s.made, s.grown = make([]float64, n), make([]float64, n)
	s.bytes, s.cost = make([]float64, n), make([]float64, n)
	s.ofEntity = map[*model.Entity][]float64{}
	whole := true
	for e, way := range s.ways {
		counts, size := w.countsBy(e, s.parent.e), w.sizeOf(e)
		if e != s.parent.e && len(counts) != len(declared) {
			return nil, false
		}
		for i := range declared {
			rows := 1.0
			if e != s.parent.e {
				rows = float64(counts[i])
			}
			declared[i].rows += rows
			declared[i].bytes += rows * size
		}

		growth := 1.0
		for _, l := range way {
			growth *= l.growth
		}
		g, made := w.generators[e], make([]float64, n)
		whole = whole && g.count == uint64(e.Count)
		for i := range g.count {
			made[follow(way, i)]++
		}
		for at, rows := range made {
			s.made[at] += rows
			s.bytes[at] += rows * size
			s.grown[at] += rows * growth
			s.cost[at] += rows * growth * size
		}
		s.ofEntity[e] = made
	}
	return declared, !whole
}

// sizeOf returns the average size of generated items of an entity, of the first thousand.
func (w *Dataset) sizeOf(e *model.Entity) float64 {
	n, bytes := 0, 0
	for it := range w.ItemsOf(e) {
		if it.Generated {
			n++
			bytes += it.Attributes.Size()
		}
		if n == 1000 {
			break
		}
	}
	return float64(bytes) / float64(max(n, 1))
}

// assign returns the numbers of rows of the declared items for which each of some generated ones stands, both in
// descending order. Each run of equal ones stands for the nearest, but for at least as many as it has, and the
// largest for the largest. Within a run they take turns.
func (s *weights) assign(order []int, declared []rowsOf) [][]rowsOf {
	type run struct{ members, end int }
	var runs []run
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && s.cost[order[to]] == s.cost[order[from]] {
			to++
		}
		end := len(declared)
		if to < len(order) {
			middle := math.Sqrt(s.cost[order[from]]) * math.Sqrt(s.cost[order[to]])
			end = sort.Search(end, func(i int) bool { return declared[i].bytes < middle })
		}
		runs = append(runs, run{to - from, end})
		from = to
	}

	if len(order) <= len(declared) {
		least, most := 0, len(declared)
		for i := range runs {
			least = max(least+runs[i].members, runs[i].end)
			runs[i].end = least
		}
		for i := len(runs) - 1; i >= 0; i-- {
			runs[i].end = min(runs[i].end, most)
			most = runs[i].end - runs[i].members
		}
	}

	given := make([][]rowsOf, len(order))
	first, at := 0, 0
	for _, r := range runs {
		for i := at; i < r.end; i++ {
			member := first + (i-at)%r.members
			given[member] = append(given[member], declared[i])
		}
		first, at = first+r.members, max(at, r.end)
	}
	return given
}

// divide returns the stands of a generated item for declared ones with so many rows, in descending order. The
// largest of all stands alone.
func (s *weights) divide(at int, sizes []rowsOf, largest bool) (all []Stand) {
	parts := min(max(maxStands/len(s.made), 2), 32)
	for len(sizes) > 0 {
		left := parts - len(all)
		n := (len(sizes) + left - 1) / left
		if largest {
			n, largest = 1, false
		}
		rows, bytes := 0.0, 0.0
		for _, size := range sizes[:n] {
			rows, bytes = rows+size.rows, bytes+size.bytes
		}
		sizes = sizes[n:]

		times := float64(n)
		next := Stand{Times: times, Rows: rows / times / s.made[at], Bytes: bytes / times / max(s.bytes[at], 1)}
		if k := len(all) - 1; k >= 0 && all[k].Rows == next.Rows && all[k].Bytes == next.Bytes {
			all[k].Times += next.Times
			continue
		}
		all = append(all, next)
	}
	return all
}

// weight returns the number of declared rows for which a row stands, by its item: 1 for samples, raw items and those
// of other entities.
func (s *weights) weight(it *Item) float64 {
	if at, ok := s.number(it); ok {
		return s.weights[at]
	}
	return 1
}

// number returns the number of the parent of a generated item, and whether it is known.
func (s *weights) number(it *Item) (uint64, bool) {
	if it.Values.g == nil || !it.Generated {
		return 0, false
	}
	item := it.Values.n & (1<<attemptBit - 1)
	if it.Entity == s.parent.e {
		return item, true
	}
	way, ok := s.ways[it.Entity]
	return follow(way, item), ok
}
