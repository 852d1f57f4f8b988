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

// A census has the sizes of the groups of an entity's declared items, the largest group first. To count the groups,
// the dataset draws the field values of at most maxPlanned declared items, but does not make the items.
type census []class

// A class is a run of groups in a census that all have the same number of rows.
type class struct {
	rows float64
	// groups and all are running totals up to and including this class: groups counts groups, all counts rows.
	groups, all float64
}

// A grouping says which items of an entity form a group: those with equal values of all fields. Before it compares
// values, it converts each to its type in fields, such as a time to its month.
type grouping struct {
	fields map[*model.Field]keys.Type
	// Groups contain only items that have all key attributes in keys and the values in fixed.
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

// sum returns the total number of rows in the largest groups. The parameter groups is the number of these groups. It
// may be a fraction.
func (c census) sum(groups float64) float64 {
	i, _ := slices.BinarySearchFunc(c, groups, func(o class, n float64) int { return cmp.Compare(o.groups, n) })
	last := c[min(i, len(c)-1)]
	return last.all - (last.groups-groups)*last.rows
}

// maxPlanned is the largest number of items that a census draws. If the model declares more, it draws a sample of
// them.
const maxPlanned = 1 << 19

// plan returns a generator for each entity. Each generator is prepared for all declared items, up to maxPlanned, but
// makes no items. plan returns no generators if some items cannot get parents.
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
			return w.planned
		}
		for _, g := range generators {
			g.redraw()
		}
	}
	return w.planned
}

// census counts the declared items of an entity by group. It returns nil if the model generates no items of the
// entity.
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

	// If the model declares more items than were drawn, scale up the number of groups, but not above the number of
	// possible combinations of values. If that limit applies, the groups get more rows instead.
	more := float64(e.Count) / float64(g.count)
	times := 1.0
	if more > 1 {
		now := w.combinations(e, by.fields, func(o *model.Entity) float64 { return float64(w.planned[o].count) })
		if times = w.Possible(e, by.fields) / now; !(times < more) { // if both are infinite, times is NaN
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

// redraw sets how often the generator redraws the key of each planned item. Like [builder.item], it redraws a key
// that an earlier item has.
func (g *generator) redraw() {
	own := Finest(g.e, g.e.Table.Keys())
	given := maps.Clone(own)
	for _, f := range g.fields[:g.key] {
		delete(given, f)
	}
	// If a field has many more values than there are items, hardly any key occurs twice.
	many := func(d *domain) bool { return d.size == 0 || d.size/64 > g.count }
	if g.alone() || slices.ContainsFunc(g.domains[:g.key], many) {
		return
	}
	known := make([]map[uint64]uint64, g.key)
	for k := range known {
		known[k] = map[uint64]uint64{}
	}
	taken, attempt := map[uint64]bool{}, make([]uint64, g.count)
	for i, parents := range g.groupsBy(given) {
		for {
			key := parents
			for k := range known {
				key = mix(key*3 + g.hashOf(k, uint64(i), attempt[i], own[g.fields[k]], known[k]))
			}
			if !taken[key] || attempt[i] == attempts {
				taken[key] = true
				break
			}
			attempt[i]++
		}
	}
	g.attempts = attempt
}

// attempt returns how often the generator redraws the key of a planned item.
func (g *generator) attempt(item uint64) uint64 {
	if g.attempts == nil {
		return 0
	}
	return g.attempts[item]
}

// filter returns a function that reports whether the grouping by puts an item in a group at all.
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
			values[name] = g.draw(k, item, g.attempt(item))
			if want, ok := by.fixed[name]; ok && values[name] != want {
				return false
			}
		}
		return !slices.ContainsFunc(templates, func(t *model.Template) bool { return !t.Holds(values) })
	}
}

// groupsBy returns a group ID for each item. The ID is a hash of the item's values of the fields.
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
				all[i] = mix(all[i]*3 + g.hashOf(k, uint64(i), g.attempt(uint64(i)), t, known))
			}
		}
	}
	return all
}

// hashOf returns the hash of an item's value of field k, written as type t. The item must not copy the field from a
// parent. hashOf caches hashes that are slow to compute in known, by the index of the value.
func (g *generator) hashOf(k int, item, attempt uint64, t keys.Type, known map[uint64]uint64) uint64 {
	const few = 1 << 16
	d, index := g.domains[k], item
	if k >= g.key {
		attempt = 0
	}
	if d.size > 0 {
		index = d.index(g.hash, item, g.count, attempt, g.owns[k])
	}
	coarse := model.Finer(d.f.Type, t)
	if !coarse && (d.size == 0 || d.size > few) { // nearly all values differ, so the index can replace the text
		return mix(index + 1)
	}
	if hash, ok := known[index]; ok {
		return hash
	}
	text := g.draw(k, item, attempt)
	if as, err := t.Canonical(text); err == nil && coarse {
		text = as
	} else if coarse {
		text = model.InPeriod(t, text)
	}
	hash := hash64(text)
	if len(known) < few {
		known[index] = hash
	}
	return hash
}

// Declared returns the number of items of an entity at the declared scale, including those in the file.
func (w *Dataset) Declared(e *model.Entity) float64 {
	n := float64(w.counts[e])
	if made := w.made[e]; made > 0 {
		n += float64(e.Count - made)
	}
	return n
}

// Made returns the number of generated items of an entity.
func (w *Dataset) Made(e *model.Entity) int { return w.made[e] }

// Represents returns the number of declared items that an item in the dataset represents.
func (w *Dataset) Represents(it *Item) float64 {
	if made := w.made[it.Entity]; it.Generated && made > 0 {
		return float64(it.Entity.Count) / float64(made)
	}
	return 1
}

// Giver returns the ancestor of e whose items give all the listed fields to the items of e, or nil. If several do, it
// returns the farthest.
func (w *Dataset) Giver(e *model.Entity, fields []*model.Field) *model.Entity {
	for _, p := range e.Parents {
		if !slices.ContainsFunc(fields, func(f *model.Field) bool { return !p.Entity.Gives(f, e) }) {
			return cmp.Or(w.Giver(p.Entity, fields), p.Entity)
		}
	}
	return nil
}

// Finest returns the fields in the listed key attributes of an entity. A key may contain only a part of a field, such
// as the day of a time. Each field gets the most precise type in which one of the attributes contains it.
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

// Possible returns how many combinations of values of the fields are possible at the declared scale (see [Finest]).
func (w *Dataset) Possible(e *model.Entity, fields map[*model.Field]keys.Type) float64 {
	return w.combinations(e, fields, func(o *model.Entity) float64 { return float64(o.Count) })
}

// combinations returns how many combinations of values of the fields are possible. The function count returns the
// number of items of an entity. Fields that items copy from a parent cannot have more combinations than the parent
// has items.
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

// distinct returns how many values of a field are possible. The function count returns the number of items of an
// entity. The result must match the domain that newDomain makes.
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

// valuesAs returns the number of values of a field written as type t, such as the number of days between the bounds
// of a time. It is infinite for ids and text.
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
