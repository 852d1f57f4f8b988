package dataset

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/design/model"

	"github.com/sortkey/sortkey/keys"
)

// A census has the sizes of the groups of an entity's declared items, the largest first. It draws the values of all
// items that the model declares, but makes none of them.
type census []class

// A class is a run of groups with the same number of rows.
type class struct {
	rows float64
	// groups and all are the number of groups up to the last of the class, and their rows.
	groups, all float64
}

// A grouping says which items of an entity form a group: those that are equal in some fields, each compared as a type.
type grouping struct {
	fields map[*model.Field]keys.Type
	// keys are attributes that all items have, and fixed are values that they have of some fields.
	keys  []model.Attribute
	fixed map[string]string
}

// groups returns the number of groups.
func (c census) groups() float64 {
	if len(c) == 0 {
		return 0
	}
	return c[len(c)-1].groups
}

// sum returns the rows of the first groups, of which there may be a fraction.
func (c census) sum(groups float64) float64 {
	i, _ := slices.BinarySearchFunc(c, groups, func(o class, n float64) int { return cmp.Compare(o.groups, n) })
	last := c[min(i, len(c)-1)]
	return last.all - (last.groups-groups)*last.rows
}

// maxPlanned is how many items a census plans. If more are declared, it plans a sample of them.
const maxPlanned = 1 << 19

// plan returns the generators of all declared items, which make none. It is empty if not all items can belong to
// parents.
func (w *Dataset) plan() map[*model.Entity]*generator {
	if w.planned == nil {
		all := &Dataset{Model: w.Model, owners: w.owners}
		b := &builder{w: all, o: Options{Seed: w.seed, MaxItems: maxPlanned, MaxBytes: math.MaxInt}}
		generators, err := newGenerators(all, w.seed)
		if err == nil {
			err = b.plan(generators)
		}
		if w.planned = all.generators; err != nil {
			w.planned = map[*model.Entity]*generator{}
		}
	}
	return w.planned
}

// census counts the declared items of an entity by groups. It returns none if the entity has no items to generate.
func (w *Dataset) census(e *model.Entity, by grouping) census {
	names := []string{fmt.Sprint(e.Name, by.keys, by.fixed)}
	for f, t := range by.fields {
		names = append(names, f.Name+":"+t.Name)
	}
	slices.Sort(names[1:])
	id := strings.Join(names, "\x00")
	w.counting.Lock()
	defer w.counting.Unlock()
	if c, ok := w.censuses[id]; ok {
		return c
	}

	g := w.plan()[e]
	if g == nil {
		return nil
	}
	counts := map[uint64]int{}
	has := g.filter(by)
	for i, group := range g.groupsBy(by.fields) {
		if has(uint64(i)) {
			counts[group]++
		}
	}

	// Of more items than are planned there are more groups, but no more than there are values. The rest are rows.
	more := float64(e.Count) / float64(g.count)
	times := 1.0
	if more > 1 {
		now := w.combinations(e, by.fields, func(o *model.Entity) float64 { return float64(w.planned[o].count) })
		if times = w.Possible(e, by.fields) / now; !(times < more) { // or neither is finite
			times = more
		}
	}
	var c census
	sum := class{}
	for _, rows := range slices.Backward(slices.Sorted(maps.Values(counts))) {
		n := float64(rows) * more / times
		sum = class{n, sum.groups + times, sum.all + n*times}
		if last := len(c) - 1; last >= 0 && c[last].rows == n {
			c[last] = sum
		} else {
			c = append(c, sum)
		}
	}
	if w.censuses == nil {
		w.censuses = map[string]census{}
	}
	w.censuses[id] = c
	return c
}

// filter returns whether an item can be in a group.
func (g *generator) filter(by grouping) func(item uint64) bool {
	var templates []*model.Template
	for _, a := range by.keys {
		if t := g.e.Attribute(a.Name); t != nil && t.Conditional() {
			templates = append(templates, t)
		}
	}
	var asked []int
	for k, f := range g.fields {
		_, fixed := by.fixed[f.Name]
		if fixed || slices.ContainsFunc(templates, func(t *model.Template) bool { return t.Asks(f.Name) }) {
			asked = append(asked, k)
		}
	}
	values := map[string]string{}
	return func(item uint64) bool {
		for _, k := range asked {
			name := g.fields[k].Name
			values[name] = g.draw(k, item, 0)
			if want, ok := by.fixed[name]; ok && values[name] != want {
				return false
			}
		}
		return !slices.ContainsFunc(templates, func(t *model.Template) bool { return !t.Holds(values) })
	}
}

// groupsBy returns the group of each item, as a hash of its values of some fields.
func (g *generator) groupsBy(fields map[*model.Field]keys.Type) []uint64 {
	all := make([]uint64, g.count)
	own := maps.Clone(fields)
	for _, l := range g.links {
		given := map[*model.Field]keys.Type{}
		for f, t := range own {
			if l.parent.e.Gives(f, g.e) {
				given[f] = t
				delete(own, f)
			}
		}
		if len(given) > 0 {
			parents := l.parent.groupsBy(given)
			for i := range all {
				all[i] = mix(all[i]*3 + parents[l.index(uint64(i))])
			}
		}
	}
	for k, f := range g.fields {
		if t, ok := own[f]; ok {
			known := map[uint64]uint64{}
			for i := range all {
				all[i] = mix(all[i]*3 + g.hashOf(k, uint64(i), t, known))
			}
		}
	}
	return all
}

// hashOf hashes the value of an item's own field as a type compares it. It keeps the hashes that take long, by the
// indexes of the values.
func (g *generator) hashOf(k int, item uint64, t keys.Type, known map[uint64]uint64) uint64 {
	const few = 1 << 16
	d, index := g.domains[k], item
	if d.size > 0 {
		index = d.index(g.hash, item, g.count, 0, g.owns[k])
	}
	coarse := model.Finer(d.f.Type, t)
	if !coarse && (d.size == 0 || d.size > few) { // each value is another one
		return mix(index + 1)
	}
	if hash, ok := known[index]; ok {
		return hash
	}
	text := g.draw(k, item, 0)
	if as, err := t.Canonical(text); err == nil && coarse {
		text = as
	}
	hash := hash64(text)
	if len(known) < few {
		known[index] = hash
	}
	return hash
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

// Giver returns the entity whose items have the values of fields of an entity that belongs to it, or nil: of
// several, the one to which the others belong.
func (w *Dataset) Giver(e *model.Entity, fields []*model.Field) *model.Entity {
	for _, p := range e.Parents {
		if !slices.ContainsFunc(fields, func(f *model.Field) bool { return !p.Entity.Gives(f, e) }) {
			return cmp.Or(w.Giver(p.Entity, fields), p.Entity)
		}
	}
	return nil
}

// Finest returns the fields of an entity in key attributes, each with the type as which they write it: a time can
// appear as a day.
func Finest(e *model.Entity, list []model.Attribute) map[*model.Field]keys.Type {
	all := map[*model.Field]keys.Type{}
	for _, part := range e.Parts(list) {
		f := e.Field(part.Name)
		if f == nil {
			continue
		}
		if t, ok := all[f]; !ok || valuesAs(f, part.Type) > valuesAs(f, t) {
			all[f] = part.Type
		}
	}
	return all
}

// Possible returns the largest possible number of combined values of fields of an entity at the declared scale (see
// [Finest]).
func (w *Dataset) Possible(e *model.Entity, fields map[*model.Field]keys.Type) float64 {
	return w.combinations(e, fields, func(o *model.Entity) float64 { return float64(o.Count) })
}

// combinations returns the largest possible number of combined values of fields of an entity, if there are so many
// items of each entity. Those that it carries from a parent have as many as there are items of it, at most.
func (w *Dataset) combinations(
	e *model.Entity, fields map[*model.Field]keys.Type, count func(*model.Entity) float64,
) float64 {
	n := 1.0
	left := maps.Clone(fields)
	for _, p := range e.Parents {
		given := map[*model.Field]keys.Type{}
		for f, t := range left {
			if p.Entity.Gives(f, e) {
				given[f] = t
				delete(left, f)
			}
		}
		if len(given) > 0 {
			n *= math.Min(w.combinations(p.Entity, given, count), count(p.Entity))
		}
	}
	for _, f := range e.Fields {
		if t, ok := left[f]; ok {
			n *= math.Min(w.distinct(f, count), valuesAs(f, t))
		}
	}
	return n
}

// distinct returns the largest possible number of values of a field, if there are so many items of each entity. It must
// match newDomain.
func (w *Dataset) distinct(f *model.Field, count func(*model.Entity) float64) float64 {
	n := valuesAs(f, f.Type)
	switch owner := w.owners[f]; {
	case len(f.Values) > 0:
		return float64(len(f.Values))
	case len(f.Type.Values) > 0:
		return float64(len(f.Type.Values))
	case f.Distinct > 0:
		return math.Min(float64(f.Distinct), n)
	case owner != nil && n >= float64(owner.Count): // the field is the whole key of another entity
		return math.Max(count(owner), 1)
	}
	return n
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
