package world

import (
	"github.com/sortkey/sortkey/internal/design/model"
)

// A drawing counts the declared items of an entity by some fields that are drawn for each item by itself,
// without making the items.
type drawing struct {
	g      *generator
	fields []int
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
// if it carries one of them, has too many values, or writes a time less finely than it is.
func (w *World) draw(e *model.Entity, fields map[*model.Field]float64) *drawing {
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
	}
	if len(d.fields) == 0 {
		return nil
	}

	d.counts, d.seen = make([]uint32, combinations), make([]bool, combinations)
	n := min(uint64(e.Count), maxDrawn)
	for i := range n {
		d.counts[d.index(i, 0)]++
	}
	d.each = float64(e.Count) / float64(n)
	return d
}

// index returns the combination of an item whose key was drawn again some times.
func (d *drawing) index(item, attempt uint64) (at uint64) {
	g := d.g
	for _, k := range d.fields {
		again := attempt
		if k >= g.key {
			again = 0
		}
		at = at*g.domains[k].size + g.domains[k].index(g.hash, item, uint64(g.e.Count), again, g.owns[k])
	}
	return at
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
