package dataset

import (
	"cmp"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/sortkey/sortkey/internal/design/model"
)

// A link connects the generated items of an entity to the items of a parent.
type link struct {
	parent *generator
	per    model.Per
	// of has, for each item, the index of its parent item. sizes has the number of items that belong to each parent
	// item. sizes is sorted by rank until assign shuffles it.
	of    []uint32
	sizes []uint64
	zipf  *zipf // weights of all declared items of the parent, or nil
}

// newLink returns the link from an entity to the items that the parent's generator makes.
func newLink(e *model.Entity, p model.Parent, parent *generator) (*link, error) {
	if parent == nil {
		return nil, errorAt(e.Pos, "entity %s belongs to %s, of which no items are generated", e.Name, p.Entity.Name)
	}
	l := &link{parent: parent, per: p.Per}
	if p.Per.Skew > 0 {
		if p.Entity.Count > maxZipf {
			return nil, errorAt(
				e.Pos, "entity %s: a zipf distribution needs at most %d of %s", e.Name, maxZipf, p.Entity.Name,
			)
		}
		l.zipf = newZipf(p.Entity.Count, p.Per.Skew)
	}
	return l, nil
}

// index returns the index of an item's parent item. Before assign has decided that, the index is arbitrary.
func (l *link) index(item uint64) uint64 {
	if l.of == nil {
		return item % l.parent.count
	}
	return uint64(l.of[item])
}

// follow walks a path of links that begins at an item, and returns the index of the ancestor's item at its end.
func follow(way []*link, item uint64) uint64 {
	for _, l := range way {
		item = l.index(item)
	}
	return item
}

// way returns the path from g to the ancestor's generator that draws field f, whose values the items of child copy.
// It returns nil if child does not copy f from g's ancestors.
func (g *generator) way(f *model.Field, child *model.Entity) []*link {
	for _, l := range g.links {
		p := l.parent
		switch {
		case !p.e.Gives(f, child):
		case slices.Contains(p.fields, f):
			return []*link{l}
		default:
			return append([]*link{l}, p.way(f, child)...)
		}
	}
	return nil
}

// parentsFirst returns the entities in the given order, but moves parents before their children.
func parentsFirst(entities []*model.Entity) (all []*model.Entity) {
	var add func(e *model.Entity)
	add = func(e *model.Entity) {
		if slices.Contains(all, e) {
			return
		}
		for _, p := range e.Parents {
			add(p.Entity)
		}
		all = append(all, e)
	}
	for _, e := range entities {
		add(e)
	}
	return all
}

// leastItems and leastParents are the smallest numbers of items to make of an entity, if the model declares that
// many. Figures from fewer items would be unreliable. The minimum for parents is lower, so that more items belong to
// each parent item.
const (
	leastItems   = 3000
	leastParents = 300
)

// plan decides how many items each generator makes and which parent items they belong to. If the model declares more
// items than the limits allow, plan makes an equal share of each entity's items, but at least g.least of them.
func (b *builder) plan(all []*generator) error {
	limit, maxBytes := float64(max(b.o.MaxItems, 0)), float64(b.o.MaxBytes)
	for _, g := range all { // parents first
		g.bytes = g.estimate()
		part := float64(2 * len(all)) // the minimum of an entity takes at most 1/part of the limits
		g.least = min(leastItems, limit/part, maxBytes/part/g.bytes)
		for _, l := range g.links {
			l.parent.least = min(l.parent.least, leastParents)
		}
	}
	// size sets how many items all generators make for a share of the declared items. It returns the sum of their
	// items as a fraction of limit, and the sum of their bytes as a fraction of maxBytes.
	size := func(share float64) (ofItems, ofBytes float64) {
		for _, g := range all {
			g.size(share)
			ofItems += float64(g.count) / limit
			ofBytes += float64(g.count) * g.bytes / maxBytes
		}
		return ofItems, ofBytes
	}

	share := 1.0
	if limit == 0 {
		share = 0
	} else if items, bytes := size(1); max(items, bytes) > 1 {
		low, high := 0.0, 1.0
		for range 20 {
			share = (low + high) / 2
			if items, bytes = size(share); max(items, bytes) > 1 {
				high = share
			} else {
				low = share
			}
		}
		share, b.w.Bytes = low, bytes > items
	}
	for _, g := range all {
		g.size(share) // again, because assign may have lowered the counts of parents
		if err := g.assign(b.o.Seed); err != nil {
			return err
		}
	}
	return nil
}

// size sets the number of items of a generator and the sizes of its links for a share of all declared items.
func (g *generator) size(share float64) {
	n := max(share*float64(g.e.Count), min(g.least, float64(g.e.Count)))
	if g.least > 0 {
		n = max(n, 1)
	}
	weights := make([][]uint64, len(g.links))
	all := make([]float64, len(g.links)) // by link: number of items that belong to the parent items made
	for i, l := range g.links {
		weights[i], all[i] = l.weights(uint64(g.e.Count))
		n = min(n, max(all[i], 1))
	}
	g.count = uint64(n)
	for i, l := range g.links {
		if l.sizes = apportion(g.count, weights[i]); l.per.Max > 0 && n > 0.9*all[i] {
			bound(l.sizes, uint64(l.per.Min), uint64(l.per.Max))
		}
	}
}

// weights returns the relative number of children of each parent item that the generator makes. sum is the number of
// children that all these parent items have together. If a sample has only some of the declared parent items, they
// stand for declared ones at equal distances of rank, from the first to the last, and get their weights.
func (l *link) weights(children uint64) (weights []uint64, sum float64) {
	made, declared := l.parent.count, uint64(l.parent.e.Count)
	weights = make([]uint64, made)
	whole := 0.0
	mean, ok := l.per.Mean()
	switch {
	case l.zipf != nil:
		whole = float64(l.zipf.sums[declared-1])
		for i := range weights {
			rank := uint64(0)
			if made > 1 {
				hi, lo := bits.Mul64(uint64(i), declared-1)
				rank, _ = bits.Div64(hi, lo, made-1)
			}
			weights[i] = l.zipf.weight(rank)
		}
	case ok:
		for i := range weights {
			weights[i] = l.per.At(uint64(i), made)
		}
		whole = mean * model.PerUnit * float64(declared)
	default:
		for i := range weights {
			weights[i] = 1
		}
		whole = float64(declared)
	}

	if made == declared {
		return weights, float64(children)
	}
	all := uint64(0)
	for _, w := range weights {
		all += w
	}
	return weights, float64(children) * (float64(all) / whole)
}

// assigner returns the random source for assigning items to a parent.
func (g *generator) assigner(l *link, seed uint64) *rand.PCG {
	name := func(e *model.Entity) string { return cmp.Or(e.Origin, e.Name) }
	return rand.NewPCG(mix(seed^hash64("belongs to", name(g.e), name(l.parent.e))), g.hash)
}

// apportion divides n into whole numbers in proportion to the weights.
func apportion(n uint64, weights []uint64) []uint64 {
	all := uint64(0)
	for _, w := range weights {
		all += w
	}
	shares := make([]uint64, len(weights))
	if all == 0 {
		return shares
	}
	sum, given := uint64(0), uint64(0)
	for i, w := range weights {
		sum += w
		hi, lo := bits.Mul64(n, sum)
		upTo, _ := bits.Div64(hi, lo, all)
		shares[i], given = upTo-given, upTo
	}
	return shares
}

// bound moves each size into the range from least to most, which rounding or an inexact count can violate. It adds to
// some sizes what it takes from others, so that the sum stays the same. If no sizes in the range have this sum, it
// changes nothing.
func bound(sizes []uint64, least, most uint64) {
	sum, over, under := uint64(0), uint64(0), uint64(0)
	for _, n := range sizes {
		sum += n
	}
	if n := uint64(len(sizes)); sum < least*n || sum > most*n {
		return
	}
	for i, n := range sizes {
		sizes[i] = min(max(n, least), most)
		over += n - min(n, most)
		under += max(n, least) - n
	}
	for i := range sizes {
		more := min(over, most-sizes[i])
		over, sizes[i] = over-more, sizes[i]+more
		less := min(under, sizes[i]-least)
		under, sizes[i] = under-less, sizes[i]-less
	}
}

// shuffle puts a list into a random order that depends only on rng.
func shuffle[T any](rng *rand.PCG, list []T) {
	for i := len(list) - 1; i > 0; i-- {
		k := draw(rng, uint64(i)+1)
		list[i], list[k] = list[k], list[i]
	}
}
