package dataset

import (
	"cmp"
	"slices"

	"github.com/sortkey/sortkey/internal/design/model"
)

// A drawing counts the declared items of an entity by some fields that are drawn for each item by itself,
// without making the items.
type drawing struct {
	g      *generator
	fields []int
	// first has for each field, unless it is nil, the first index whose value is the same: one that a model lists
	// twice is twice as frequent.
	first [][]uint64
	// counts has the items with each combination of values, and seen those that are among the generated items.
	counts []uint32
	seen   []bool
	// each is the number of declared items for each that was drawn.
	each float64
}

// A drawing has so many combinations of values and so many items at most. What is rarer differs little, and of
// more items each combination has many.
const (
	maxCombinations = 1 << 20
	maxDrawn        = 1 << 20
)

// draw returns the drawing of fields of an entity, each with its number of values as the key writes it, or nil
// if it carries one of them, has too many values, or writes a time less finely than it is. It counts the items that
// have all of some key attributes.
func (w *Dataset) draw(e *model.Entity, fields map[*model.Field]float64, keys []model.Attribute) *drawing {
	g := w.generators[e]
	d := &drawing{g: g, each: 1}
	combinations := uint64(1)
	for k, f := range g.fields {
		written := fields[f]
		if written == 0 {
			continue
		}
		size := g.domains[k].size
		even := g.domains[k].spreads() && f.Distribution.Name == "sequence"
		if len(g.from[k]) > 0 || size == 0 || float64(size) > written || even {
			return nil
		}
		if combinations *= size; combinations > maxCombinations {
			return nil
		}
		d.fields = append(d.fields, k)
		d.first = append(d.first, firstOf(cmp.Or(len(f.Values), len(f.Type.Values)), g.domains[k]))
	}
	has, ok := g.conditions(keys)
	if len(d.fields) == 0 || !ok {
		return nil
	}

	d.counts, d.seen = make([]uint32, combinations), make([]bool, combinations)
	n := min(uint64(e.Count), maxDrawn)
	for i := range n {
		if has(i) {
			d.counts[d.index(i, 0)]++
		}
	}
	d.each = float64(e.Count) / float64(n)
	return d
}

// index returns the combination of an item whose key was drawn again some times.
func (d *drawing) index(item, attempt uint64) (at uint64) {
	g := d.g
	for i, k := range d.fields {
		again := attempt
		if k >= g.key {
			again = 0
		}
		index := g.domains[k].index(g.hash, item, uint64(g.e.Count), again, g.owns[k])
		if d.first[i] != nil {
			index = d.first[i][index]
		}
		at = at*g.domains[k].size + index
	}
	return at
}

// firstOf returns the first index with the same value for each of n listed values, or nil if none are listed.
func firstOf(n int, d *domain) []uint64 {
	if n == 0 {
		return nil
	}
	all, seen := make([]uint64, n), map[string]uint64{}
	for i := range all {
		text := d.text(uint64(i), 0)
		if _, ok := seen[text]; !ok {
			seen[text] = uint64(i)
		}
		all[i] = seen[text]
	}
	return all
}

// conditions returns whether a declared item has all of some key attributes, by its number. It reports false if that
// depends on a field that it carries.
func (g *generator) conditions(keys []model.Attribute) (has func(item uint64) bool, ok bool) {
	var templates []*model.Template
	for _, a := range keys {
		if t := g.e.Attribute(a.Name); t != nil && t.Conditional() {
			templates = append(templates, t)
		}
	}
	values := map[string]string{}
	var fields []int
	for k, f := range g.fields {
		if slices.ContainsFunc(templates, func(t *model.Template) bool { return t.Asks(f.Name) }) {
			if len(g.from[k]) > 0 {
				return nil, false
			}
			fields = append(fields, k)
		}
	}
	return func(item uint64) bool {
		for _, k := range fields {
			values[g.fields[k].Name] = g.domains[k].value(g.hash, item, uint64(g.e.Count), 0, g.owns[k])
		}
		return !slices.ContainsFunc(templates, func(t *model.Template) bool { return !t.Holds(values) })
	}, true
}

// of returns the combination of a generated item, and whether it is known.
func (d *drawing) of(it *Item) (uint64, bool) {
	v := it.Values
	if v.g != d.g || v.text != nil {
		return 0, false
	}
	return d.index(v.n&(1<<attemptBit-1), v.n>>attemptBit), true
}

func (d *drawing) see(it *Item) {
	if at, ok := d.of(it); ok {
		d.seen[at] = true
	}
}

// rows returns the declared items with the values of a generated one.
func (d *drawing) rows(it *Item) (float64, bool) {
	at, ok := d.of(it)
	return float64(d.counts[at]) * d.each, ok
}

// unseen returns the declared items of each combination that no generated one has.
func (d *drawing) unseen() (all []float64) {
	for at, n := range d.counts {
		if n > 0 && !d.seen[at] {
			all = append(all, float64(n)*d.each)
		}
	}
	return all
}
