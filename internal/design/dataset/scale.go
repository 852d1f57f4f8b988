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

// A Growth says how many rows a group of generated rows has at the declared scale, by the number of rows of
// each entity in it: the rows of a partition, or those with equal values of more fields. First each group is
// counted with [Growth.Count]; then [Growth.In] knows how far the groups differ by the chance of the sample.
type Growth struct {
	w      *Dataset
	fields func(*model.Entity) map[*model.Field]float64
	keys   []model.Attribute // that all rows have
	of     map[*model.Entity]*growing
	// only are the entities whose rows are of interest, or nil for all.
	only []*model.Entity
	once sync.Once
	// stood says by entity what the parents stand for that give its groups their values, and joint the same by the
	// rows of all entities that have the parent.
	stood, joint map[*model.Entity]*weights
}

// A growing is what a [Growth] knows of the groups of one entity.
type growing struct {
	scaling
	drawn *drawing // of its groups, or nil
	// own is the number of values that distinguish the groups of one parent, or 1 if it has a single group.
	own float64
	// The groups counted, their rows, and the sum of the squares of these.
	groups, rows, squares float64
}

// Growth returns the growth of the partitions of a space, which are counted.
func (w *Dataset) Growth(s *Space) *Growth {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s.growth == nil {
		s.growth = w.GrowthBy(s, nil)
		for _, p := range s.Parts {
			s.growth.Count(s.In(p))
		}
	}
	return s.growth
}

// GrowthBy returns the growth of groups of rows that are equal in the partition key of a space and in some
// fields of its sort key, each with the type as which it is compared, or the zero value for that of the key. No
// group is counted yet.
func (w *Dataset) GrowthBy(s *Space, sorted map[string]keys.Type) *Growth {
	g := &Growth{w: w, of: map[*model.Entity]*growing{}, keys: slices.Concat(s.Hash, s.Sort)}
	g.fields = func(e *model.Entity) map[*model.Field]float64 {
		all := Finest(e, s.Hash)
		for f, n := range Finest(e, s.Sort) {
			t, ok := sorted[f.Name]
			if !ok {
				continue
			}
			if t.Name != "" {
				n = math.Min(n, valuesAs(f, t))
			}
			all[f] = math.Max(all[f], n)
		}
		return all
	}
	return g
}

// GrowthOf returns the growth of groups of items that are equal in the named fields, as far as they have them. No
// group is counted yet.
func (w *Dataset) GrowthOf(names []string) *Growth {
	return &Growth{w: w, of: map[*model.Entity]*growing{}, fields: func(e *model.Entity) map[*model.Field]float64 {
		all := map[*model.Field]float64{}
		for _, f := range e.Fields {
			if slices.Contains(names, f.Name) {
				all[f] = valuesAs(f, f.Type)
			}
		}
		return all
	}}
}

// Count counts a group.
func (g *Growth) Count(rows []Row) {
	if g.w.Scale >= 1 {
		return
	}
	var room [4]entityRows
	for _, some := range countRows(room[:0], rows) {
		o := g.of[some.e]
		if o == nil {
			fields := g.fields(some.e)
			o = &growing{scaling: g.w.scaling(some.e, fields), own: g.w.own(some.e, fields)}
			if o.then.rows > o.now.rows {
				o.drawn = g.w.draw(some.e, fields, g.keys)
			}
			g.of[some.e] = o
		}
		o.groups, o.rows, o.squares = o.groups+1, o.rows+some.n, o.squares+some.n*some.n
		if o.drawn != nil {
			o.drawn.see(some.one)
		}
	}
}

// For returns the same growth for groups of which only the rows of some entities are of interest.
func (g *Growth) For(entities []*model.Entity) *Growth {
	return &Growth{w: g.w, fields: g.fields, keys: g.keys, of: g.of, only: entities}
}

// weightings returns what the parents stand for that give the groups of each entity their values.
func (g *Growth) weightings() map[*model.Entity]*weights {
	g.once.Do(func() {
		if g.w.Scale >= 1 {
			return
		}
		families := map[*model.Entity]map[*model.Entity]map[*model.Field]float64{} // by parent
		for e := range g.of {
			if g.only != nil && !slices.Contains(g.only, e) {
				continue
			}
			fields := g.fields(e)
			if parent, _ := g.w.identified(e, fields); parent != nil {
				if families[parent] == nil {
					families[parent] = map[*model.Entity]map[*model.Field]float64{}
				}
				families[parent][e] = fields
			}
		}

		g.stood, g.joint = map[*model.Entity]*weights{}, map[*model.Entity]*weights{}
		for parent, all := range families {
			joint := g.w.weights(parent, all)
			for e, fields := range all {
				if s := g.w.weights(parent, map[*model.Entity]map[*model.Field]float64{e: fields}); s != nil {
					g.stood[e] = s
				}
				if joint != nil {
					g.joint[e] = joint
				}
			}
		}
	})
	return g.stood
}

// Stands returns for which declared groups one of generated rows stands, by the item of the parent that gives the
// rows of an entity their values, or an item that belongs to it: how many times as many rows and bytes each has as
// [Growth.In] says, those with most first. A group can stand for none. It reports false if each group stands for
// itself.
func (g *Growth) Stands(e *model.Entity, it *Item) ([]Stand, bool) {
	g.weightings()
	s := g.joint[e]
	if s == nil || s.weights != nil {
		return nil, false
	}
	at, ok := s.number(it)
	switch {
	case !ok:
		return nil, false
	case len(s.of[at]) == 0 || s.made[at] == 0:
		return s.of[at], true
	case g.of[e].own != 1:
		return g.parts(e, at), true
	}

	rows, bytes := 0.0, 0.0 // as In says
	for k, made := range s.ofEntity {
		n := made[at] * g.whole(k, at)
		rows, bytes = rows+n, bytes+n*g.w.sizeOf(k)
	}
	stands := slices.Clone(s.of[at])
	for i := range stands {
		stands[i].Rows *= s.made[at] / rows
		stands[i].Bytes *= s.bytes[at] / max(bytes, 1)
	}
	return stands, true
}

// parts returns the stands of groups that are parts of what belongs to an item of a parent: one with more rows has
// larger groups and more of them.
func (g *Growth) parts(e *model.Entity, at uint64) []Stand {
	s := g.stood[e]
	if s == nil {
		return nil
	}
	stands := slices.Clone(s.of[at])
	first := 1.0
	for i := range stands {
		size := g.of[e].grown(s.grown[at], stands[i].Rows*s.made[at])
		if i == 0 {
			first = size
		}
		stands[i].Times *= stands[i].Rows * s.made[at] / s.grown[at] / size
		stands[i].Rows, stands[i].Bytes = size/first, size/first
	}
	return stands
}

// whole returns the number of rows at the declared scale for each row of an entity that belongs to an item of a parent.
func (g *Growth) whole(e *model.Entity, at uint64) float64 {
	s := g.stood[e]
	switch {
	case s == nil || s.made[at] == 0:
		return 1
	case len(s.of[at]) == 0:
		return s.grown[at] / s.made[at]
	}
	return s.of[at][0].Rows
}

// each returns the number of rows at the declared scale for each row of an entity in a group: in the first group for
// which it stands.
func (g *Growth) each(some *entityRows) float64 {
	s, factor := g.stood[some.e], 1.0
	if s != nil {
		if at, ok := s.number(some.one); ok && len(s.of[at]) > 0 && s.made[at] > 0 {
			if g.of[some.e].own == 1 {
				return g.whole(some.e, at)
			}
			factor = g.of[some.e].grown(s.grown[at], s.of[at][0].Rows*s.made[at])
		}
	}
	return factor * g.rows(some) / some.n
}

// grown returns how many times as many rows a group has if its parent has another number of them. Chance assigns them
// to the groups.
func (o *growing) grown(from, to float64) float64 {
	if from == 0 || to == 0 {
		return 1
	}
	size := func(rows float64) float64 {
		if o.own == 1 {
			return rows
		}
		return groupRows{rows: rows}.among(o.own).rows
	}
	return size(to) / size(from)
}

// None returns the number of declared parents without rows of an entity, if no generated one has none.
func (g *Growth) None(e *model.Entity) float64 {
	g.weightings()
	if s := g.joint[e]; s != nil && s.weights == nil {
		return s.none
	}
	return 0
}

// Unseen returns the number of rows at the declared scale of each group of an entity that has none yet, as far
// as it is known.
func (g *Growth) Unseen(e *model.Entity) []float64 {
	if o := g.of[e]; o != nil && o.drawn != nil {
		return o.drawn.unseen()
	}
	return nil
}

// entityRows are rows of generated items.
type entityRows struct {
	e   *model.Entity
	one *Item
	n   float64
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
					all = append(all, entityRows{e: it.Entity, one: it})
				}
			}
		}
		all[last].n++
	}
	return all
}

// In returns the number of rows at the declared scale that a row of a group stands for, by its item: 1 for
// samples and raw items.
func (g *Growth) In(rows []Row) func(*Item) float64 {
	stood := g.weightings()
	if len(stood) == 0 && !g.grows() {
		return one
	}
	var room [4]entityRows
	all := countRows(room[:0], rows)
	if len(all) == 1 { // of most partitions, of which there can be a million
		if s := stood[all[0].e]; s != nil && s.weights != nil {
			return s.weight
		}
		return ofEntity(all[0].e, g.each(&all[0]))
	}

	each := slices.Clone(all)
	for i := range each {
		each[i].n = g.each(&all[i])
	}
	return func(it *Item) float64 {
		for i := range each {
			if it.Generated && each[i].e == it.Entity {
				if s := stood[it.Entity]; s != nil && s.weights != nil {
					return s.weight(it)
				}
				return each[i].n
			}
		}
		return 1
	}
}

// ofEntity returns a function that returns n for the generated items of an entity, and 1 for others.
func ofEntity(e *model.Entity, n float64) func(*Item) float64 {
	return func(it *Item) float64 {
		if it.Generated && it.Entity == e {
			return n
		}
		return 1
	}
}

func one(*Item) float64 { return 1 }

// grows reports whether any groups grow.
func (g *Growth) grows() bool {
	for _, o := range g.of {
		if o.then.rows > o.now.rows {
			return true
		}
	}
	return false
}

// rows returns the number of rows at the declared scale of a group with some rows of an entity.
//
// Where the values of the group are drawn for each item by itself, they are drawn for all declared items.
// Otherwise the sample makes the groups differ more than they will, relative to their size. So they get the
// mean that they will have, and differ from it by as much as they will: by the variance of the sample without
// that of chance, which grows with the square of the rows, and with that of chance at the declared scale,
// which grows with the rows.
func (g *Growth) rows(some *entityRows) float64 {
	o, n := g.of[some.e], some.n
	if o == nil || o.groups == 0 || o.then.rows <= o.now.rows {
		return n
	}
	if o.drawn != nil {
		if all, ok := o.drawn.rows(some.one); ok {
			return math.Max(n, math.Min(all, o.most))
		}
	}

	mean := o.rows / o.groups
	factor := o.then.rows / o.now.rows
	slope := factor
	if chance := o.now.noise; chance > 0 {
		signal := math.Max(0, o.squares/o.groups-mean*mean-chance)
		slope = math.Sqrt((signal*o.dense*o.dense + o.then.noise) / (signal + chance))
	}
	return math.Max(n, math.Min(factor*mean+(n-mean)*slope, o.most))
}

// A scaling is how groups of rows of an entity grow from the generated items to the declared ones.
type scaling struct {
	now, then groupRows
	// dense is how many times as many items a group is assigned at the declared scale, whether or not these have
	// its other values too. It is more than the growth where new items mostly have new values.
	dense float64
	// most is the largest number of rows of a group, as far as the model bounds it.
	most float64
}

// groupRows are the rows of groups that are not empty: how many they are on average, and by how much these
// differ by chance, as a variance.
type groupRows struct{ rows, noise float64 }

// scaling returns how groups of rows of an entity grow that have equal values of fields, each with its number
// of values at most.
//
// Items of a parent come together: if the fields tell the items of a parent apart, all rows of a group are
// there, or as large a share of them as each of these items has. Items with own values are assigned to the
// groups by chance.
func (w *Dataset) scaling(e *model.Entity, fields map[*model.Field]float64) scaling {
	made, declared := float64(w.made[e]), float64(e.Count)
	if made == 0 {
		return scaling{now: groupRows{rows: 1}, then: groupRows{rows: 1}, dense: 1}
	}

	s := scaling{
		now: groupRows{rows: made}, then: groupRows{rows: declared}, dense: declared / made, most: declared,
	}
	own := maps.Clone(fields)
	for i, p := range e.Parents {
		given := map[*model.Field]float64{}
		for f, finest := range fields {
			if p.Entity.Gives(f, e) {
				given[f] = finest
			}
		}
		if len(given) == 0 {
			continue
		}
		maps.DeleteFunc(own, func(f *model.Field, _ float64) bool { return given[f] > 0 })
		s = w.scaling(p.Entity, given).times(made/float64(w.made[p.Entity]), w.generators[e].links[i])
		break
	}
	if len(own) == 0 {
		return s
	}

	// A group has an item for each value of the other fields in the key, at most.
	others := Finest(e, e.Table.Keys())
	maps.DeleteFunc(others, func(f *model.Field, _ float64) bool { return fields[f] > 0 })
	_, most := w.values(e, others)
	s.most = math.Min(s.most, most)

	now, then := w.values(e, own)
	if own[ownedField(e)] > 0 || math.IsInf(now, 1) { // each item has its own
		return scaling{now: groupRows{rows: 1}, then: groupRows{rows: 1}, dense: 1, most: 1}
	}
	s.now, s.then = s.now.among(now), s.then.among(then)
	return s
}

// own returns how many values the fields of an entity have that no parent gives, or 1 if a parent gives all.
func (w *Dataset) own(e *model.Entity, fields map[*model.Field]float64) float64 {
	parent, given := w.identified(e, fields)
	if parent == e {
		return 1
	}
	own := maps.Clone(fields)
	for _, f := range given {
		delete(own, f)
	}
	if len(own) == 0 {
		return 1
	}
	_, n := w.values(e, own)
	return n
}

// times returns the scaling of what belongs to the rows of s: so many items to each of them, of a link.
func (s scaling) times(each float64, l *link) scaling {
	of := each * l.growth
	s.now = groupRows{s.now.rows * each, s.now.noise * each * each}
	s.then = groupRows{s.then.rows * of, s.then.noise * of * of}
	s.dense *= l.growth
	if s.most *= float64(l.per.Max); l.per.Max == 0 {
		s.most = math.Inf(1)
	}
	return s
}

// among returns the rows of groups into which chance divides rows by a number of values: those of a Poisson
// distribution without its zeros.
func (r groupRows) among(values float64) groupRows {
	each := r.rows / values
	if each < 1e-9 {
		return groupRows{rows: 1}
	}
	mean := each / -math.Expm1(-each)
	return groupRows{rows: mean, noise: math.Max(0, mean*(1+each-mean))}
}

// Giver returns the entity whose items have the values of fields of an entity that belongs to it, or nil: of
// several, the one to which the others belong.
func (w *Dataset) Giver(e *model.Entity, fields []*model.Field) *model.Entity {
	var above func(o *model.Entity) *model.Entity
	above = func(o *model.Entity) *model.Entity {
		for _, p := range o.Parents {
			if !slices.ContainsFunc(fields, func(f *model.Field) bool { return !p.Entity.Gives(f, e) }) {
				return cmp.Or(above(p.Entity), p.Entity)
			}
		}
		return nil
	}
	return above(e)
}

// maxAssigned limits the parents whose items are counted without being made.
const maxAssigned = 1 << 21

// countsBy returns how many declared items of an entity belong to each declared item of another, in the order in
// which these would be made. They are assigned as if all were made, but only counted, so that few levels of
// parents cost little. It returns nil if that is not known.
func (w *Dataset) countsBy(e, above *model.Entity) []uint64 {
	g := w.generators[e]
	if g != nil && len(g.links) == 2 && g.links[1].parent.e == above && above.Count <= maxAssigned {
		if _, _, shared := commonParent(g.links[0].parent, g.links[1].parent); !shared {
			return g.links[1].declared(g, w.seed)
		}
	}
	return w.countsOf(e, above)
}

// countsOf does the same by the first parents of all levels, whose items follow one another.
func (w *Dataset) countsOf(e, above *model.Entity) []uint64 {
	id := [2]*model.Entity{e, above}
	if sizes, ok := w.assigned[id]; ok {
		return sizes
	}
	if w.assigned == nil {
		w.assigned = map[[2]*model.Entity][]uint64{}
	}
	w.assigned[id] = nil
	g := w.generators[e]
	if g == nil || len(g.links) == 0 || g.links[0].parent.e.Count > maxAssigned {
		return nil
	}

	l := g.links[0]
	sizes := l.declared(g, w.seed)
	if l.parent.e != above {
		parents := w.countsOf(l.parent.e, above)
		sums, at := make([]uint64, len(parents)), uint64(0)
		for i, n := range parents {
			for _, size := range sizes[at : at+n] {
				sums[i] += size
			}
			at += n
		}
		sizes = sums
	}
	w.assigned[id] = sizes
	return sizes
}

// fair returns how many items of e would have been made if the sample of its parents were an average one. It is
// not: it always has the largest parents.
func (w *Dataset) fair(e *model.Entity) float64 {
	g := w.generators[e]
	if g == nil || len(g.links) == 0 {
		return float64(w.made[e])
	}
	l := g.links[0]
	return float64(e.Count) * (w.fair(l.parent.e) / float64(l.parent.e.Count)) / l.growth
}

// Declared returns the number of items of an entity at the declared scale, those of the file among them.
func (w *Dataset) Declared(e *model.Entity) float64 {
	n := float64(w.counts[e])
	if made := w.made[e]; made > 0 {
		n += float64(e.Count - made)
	}
	return n
}

// Made returns the number of generated items of an entity.
func (w *Dataset) Made(e *model.Entity) int { return w.made[e] }

// Represents returns the number of declared items that an item represents.
func (w *Dataset) Represents(it *Item) float64 {
	if made := w.made[it.Entity]; it.Generated && made > 0 {
		return float64(it.Entity.Count) / float64(made)
	}
	return 1
}

// Possible returns the largest possible number of combined values of fields of an entity, each with its number of
// values (see [Finest]), at the declared scale.
func (w *Dataset) Possible(e *model.Entity, fields map[*model.Field]float64) float64 {
	_, then := w.values(e, fields)
	return then
}

// Finest returns the fields of an entity in key attributes, each with its number of values there.
// A time can appear as a day.
func Finest(e *model.Entity, list []model.Attribute) map[*model.Field]float64 {
	all := map[*model.Field]float64{}
	for _, a := range list {
		t := e.Attribute(a.Name)
		if t == nil || t.Template == nil {
			continue
		}
		for _, p := range t.Template.Parts() {
			if f := e.Field(p.Name); f != nil {
				all[f] = math.Max(all[f], valuesAs(f, p.Type))
			}
		}
	}
	return all
}

// values returns the largest possible number of combined values of fields of an entity, in the
// generated items and at the declared scale. Those that it carries from a parent have as many as
// there are items of it, at most.
func (w *Dataset) values(e *model.Entity, fields map[*model.Field]float64) (now, then float64) {
	now, then = 1, 1
	for _, f := range e.Fields {
		if finest := fields[f]; finest > 0 && e.CarriedFrom(f) == nil {
			a, b := w.distinct(f)
			now, then = now*math.Min(a, finest), then*math.Min(b, finest)
		}
	}
	left := maps.Clone(fields)
	for _, p := range e.Parents {
		given := map[*model.Field]float64{}
		for f, finest := range left {
			if p.Entity.Gives(f, e) {
				given[f] = finest
				delete(left, f)
			}
		}
		if len(given) > 0 {
			a, b := w.values(p.Entity, given)
			now, then = now*math.Min(a, w.fair(p.Entity)), then*math.Min(b, float64(p.Entity.Count))
		}
	}
	return now, then
}

// distinct returns the largest possible number of values of a field, in the
// generated items and at the declared scale. It must match newDomain.
func (w *Dataset) distinct(f *model.Field) (now, then float64) {
	n := 0.0
	switch {
	case len(f.Values) > 0:
		n = float64(len(f.Values))
	case len(f.Type.Values) > 0:
		n = float64(len(f.Type.Values))
	case f.Distinct > 0:
		n = math.Min(float64(f.Distinct), valuesAs(f, f.Type))
	}
	if n > 0 {
		return n, n
	}

	// A field that is the whole key of another entity has a value for each of
	// that entity's items, if it can have so many.
	owner := w.owners[f]
	n = valuesAs(f, f.Type)
	if owner != nil && n >= float64(owner.Count) {
		return math.Max(w.fair(owner), 1), float64(owner.Count)
	}
	return n, n
}

// valuesAs returns the number of values of a field when written as a type, for
// example the days between the bounds of a time. It is infinite for ids and
// text.
func valuesAs(f *model.Field, t keys.Type) float64 {
	as := *f
	if model.Finer(f.Type, t) {
		as.Type = t
	}
	b, err := as.Bounds()
	if err != nil || b == nil || idLike(as.Type.Name) {
		return math.Inf(1)
	}
	return float64(b.Count())
}
