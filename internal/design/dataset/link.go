package dataset

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/sortkey/sortkey/internal/design/model"
)

// A link leads from the generated items of an entity to those of a parent.
type link struct {
	parent *generator
	per    model.Per
	// of has the number of its parent's item for each item, and sizes the number of items for
	// each item of the parent, in no order until they are assigned.
	of    []uint32
	sizes []uint64
	zipf  *zipf // of all declared parents, or nil
	// growth is how many times as many items one parent has at the declared scale.
	growth float64
}

// newLink returns the link of an entity to a parent, which a generator makes.
func newLink(e *model.Entity, p model.Parent, parent *generator) (*link, error) {
	if parent == nil {
		return nil, errorAt(e.Pos, "entity %s belongs to %s, of which no items are generated", e.Name, p.Entity.Name)
	}
	parent.isParent = true
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

// index returns the number of the parent's item. Before items are planned, it is any.
func (l *link) index(item uint64) uint64 {
	if l.of == nil {
		return item % l.parent.count
	}
	return uint64(l.of[item])
}

// follow returns the number of the item to which a way leads.
func follow(way []*link, item uint64) uint64 {
	for _, l := range way {
		item = l.index(item)
	}
	return item
}

// way returns the links to the generator whose items give a field to those of a child, which
// carry it; none if they do not.
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

// parentsFirst returns the entities in their order, but parents before what belongs to them.
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

const (
	// leastItems is how many items of an entity are made if that many are declared, whatever its share, with
	// those that belong to them: a part of few items says little.
	leastItems = 3000
	// leastParents is how many items of a parent are made if that many are declared, so that
	// partitions differ.
	leastParents = 20
	// A parent has all its items as far as these are no more than this times their share.
	mostOfShare = 4
)

// plan decides how many items each generator makes, and to which parents they belong. If more
// are declared than the limits allow, it makes fewer parents, with as many items each as they
// have. Only where that is too many, each has fewer.
func (b *builder) plan(all []*generator) error {
	limit := max(b.o.MaxItems, 0)
	declared, bytes, most := 0, 0.0, 0.0
	for _, g := range all {
		g.bytes = g.estimate()
		most = max(most, float64(g.e.Count))
		declared += g.e.Count
		bytes += g.bytes * float64(g.e.Count)
	}

	least := leastItems
	if limit > 0 {
		least = min(least, limit/(2*len(all)))
	}
	for i := len(all) - 1; i >= 0; i-- { // what belongs to an entity comes after it
		g := all[i]
		g.below += float64(g.e.Count)
		g.belowBytes += g.bytes * float64(g.e.Count)
		for _, l := range g.links {
			l.parent.below, l.parent.belowBytes = l.parent.below+g.below, l.parent.belowBytes+g.belowBytes
		}
		whole := min(float64(least)/g.below, float64(b.o.MaxBytes)/float64(2*len(all))/g.belowBytes)
		g.least = min(g.e.Count, int(whole*float64(g.e.Count)))
	}

	share := 1.0
	if declared > limit {
		share = float64(limit) / float64(declared)
	}
	if limit > 0 && bytes*share > float64(b.o.MaxBytes) {
		share, b.w.Bytes = float64(b.o.MaxBytes)/bytes, true
	}

	const tries = 40
	fits := 0.0 // the largest share within the limits
	for range tries {
		made, bytes := 0, 0.0
		for _, g := range all {
			g.size(share, most, limit)
			made += int(g.count)
			bytes += g.bytes * float64(g.count)
		}
		full := max(float64(made)/float64(limit), bytes/float64(b.o.MaxBytes))
		if full <= 1 {
			fits = max(fits, share)
		}
		if limit == 0 || full <= 1 && (full > 0.95 || share == 1) {
			break
		}
		share = min(share/full, 1)
	}
	if limit > 0 && fits > 0 {
		share = fits
	}

	// With the least of parents there may still be too many that belong to them: then each has fewer.
	thin := 1.0
	for range tries {
		made := 0
		for _, g := range all {
			g.size(share, most, limit)
			g.thin(thin)
			made += int(g.count)
		}
		if limit == 0 || made <= max(limit, leastParents*len(all)) {
			break
		}
		thin *= float64(limit) / float64(made)
	}

	for _, g := range all {
		g.size(share, most, limit) // again, because assign may lower the counts of parents
		g.thin(thin)
		if err := g.assign(b.o.Seed); err != nil {
			return err
		}
	}
	return nil
}

// size sets the number of items of a generator, and the sizes of its links, for a share of all declared items;
// most is the largest number of them that an entity declares.
//
// An entity with others below it gets more than its share if it has few items: half a dozen shops say little of
// a hundred. What belongs to the items that are made is made too.
func (g *generator) size(share, most float64, limit int) {
	n := g.e.Count
	switch {
	case share == 1:
	case len(g.links) > 0:
		parent := g.links[0].parent
		n = int(mostOfShare * float64(n) * float64(parent.count) / float64(parent.e.Count))
	case g.isParent:
		n = min(n, int(share*math.Sqrt(float64(n)*most)))
	default:
		n = int(float64(n) * share)
	}

	if g.isParent && limit > 0 {
		n = max(n, min(g.e.Count, leastParents))
	}
	if limit > 0 {
		n = max(n, g.least, 1)
	}

	wishes := make([]float64, len(g.links))
	weights := make([][]uint64, len(g.links))
	for i, l := range g.links {
		weights[i], wishes[i] = l.weights(uint64(g.e.Count))
		n = min(n, int(wishes[i]))
	}

	if limit > 0 {
		n = max(n, 1)
	}
	g.count = uint64(n)
	for i, l := range g.links {
		l.sizes, l.growth = apportion(g.count, weights[i]), 1
		if n < int(wishes[i]) {
			l.growth = wishes[i] / float64(max(n, 1))
		}
		if l.per.Max > 0 && l.growth < 1.1 {
			bound(l.sizes, uint64(l.per.Min), uint64(l.per.Max))
		}
	}
}

// thin lowers the number of items that belong to others to a share.
func (g *generator) thin(share float64) {
	if share == 1 || len(g.links) == 0 {
		return
	}
	n := max(1, uint64(float64(g.count)*share))
	for _, l := range g.links {
		l.sizes, l.growth = apportion(n, l.sizes), l.growth*float64(g.count)/float64(n)
	}
	g.count = n
}

// weights returns numbers in proportion to the declared sizes of the parents that are made, and
// how many items these have together. If not all parents are made, those that are have the sizes
// of all, from the least to the most, at even distances.
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

// assigner returns the source of chance for assigning what belongs to a parent.
func (g *generator) assigner(l *link, seed uint64) *rand.PCG {
	return rand.NewPCG(mix(seed^hash64("belongs to", g.e.Name, l.parent.e.Name)), g.hash)
}

// apportion divides n in proportion to weights.
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

// bound moves what is beyond the bounds of a size, because of rounding or of a count that is only
// close to what per says. Their sum stays as it is, and so do they if it is beyond the bounds.
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

// shuffle puts a list into an order that depends on the generator of numbers alone.
func shuffle[T any](rng *rand.PCG, list []T) {
	for i := len(list) - 1; i > 0; i-- {
		k := draw(rng, uint64(i)+1)
		list[i], list[k] = list[k], list[i]
	}
}
