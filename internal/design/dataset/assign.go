package dataset

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

// assign decides which parent items each generated item belongs to. It makes the items of each first-parent item
// consecutive.
func (g *generator) assign(seed uint64) error {
	for i, l := range g.links {
		rng := g.assigner(l, seed)
		shuffle(rng, l.sizes)
		if i > 0 {
			return g.assignSecond(rng)
		}
		l.of = repeated(l.sizes)
	}
	return nil
}

// repeated returns the indexes of times in ascending order. It repeats index i times[i] times.
func repeated(times []uint64) (all []uint32) {
	for i, n := range times {
		all = append(all, slices.Repeat([]uint32{uint32(i)}, int(n))...)
	}
	return all
}

// assignSecond decides which item of the second parent each item belongs to. If the two parents have a common
// ancestor, it chooses a parent item that belongs to the same ancestor item as the first parent item does.
func (g *generator) assignSecond(rng *rand.PCG) error {
	first, second := g.links[0], g.links[1]
	over, under, shared := commonParent(first.parent, second.parent)
	group := func(way []*link, at uint32) uint64 {
		if !shared {
			return 0
		}
		return follow(way, uint64(at))
	}
	items, among := map[uint64][]uint32{}, map[uint64][]uint32{} // by group
	for i, at := range first.of {
		of := group(over, at)
		items[of] = append(items[of], uint32(i))
	}
	for at := range uint32(second.parent.count) {
		of := group(under, at)
		among[of] = append(among[of], at)
	}

	second.of = make([]uint32, g.count)
	missing := false
	for _, of := range slices.Sorted(maps.Keys(items)) {
		parents := among[of]
		if len(parents) == 0 && g.count == uint64(g.e.Count) {
			one, other := end(first.parent, over).e.Name, second.parent.e.Name
			return model.Errors{{
				Pos:  g.e.Pos,
				Msg:  "entity " + g.e.Name + ": some " + one + " has no " + other,
				Hint: "let each have one: write min: 1 in per of " + other,
			}}
		}
		for i, slot := range g.slots(rng, items[of], parents) {
			if second.of[items[of][i]] = unpaired; slot != unpaired {
				second.of[items[of][i]] = parents[slot]
			}
			missing = missing || slot == unpaired
		}
	}
	if !missing {
		return nil
	}
	if g.count == uint64(g.e.Count) {
		return model.Errors{{
			Pos: g.e.Pos, Msg: g.unpairable(), Hint: "lower per or count, or add a component of its own to the key",
		}}
	}
	// A sample has fewer parent items than the model declares, so there can be fewer pairs of parent items than items
	// to assign. Drop the items without a pair.
	kept := 0
	for i, at := range second.of {
		if at != unpaired {
			first.of[kept], second.of[kept] = first.of[i], at
			kept++
		}
	}
	first.of, second.of, g.count = first.of[:kept], second.of[:kept], uint64(kept)
	return nil
}

// unpairable returns the error text for the case that some items get no second parent because there are too few pairs
// of parent items.
func (g *generator) unpairable() string {
	for i, l := range g.links {
		parent, other := l.parent, g.links[1-i].parent
		if most := slices.Max(l.sizes); most > other.count {
			return fmt.Sprintf(
				"entity %s: the largest %s would have %s, one for each %s, but there are only %s of %[4]s",
				g.e.Name, parent.e.Name, text.Count(int(most), "item"), other.e.Name, text.Thousands(int(other.count)),
			)
		}
	}
	return "entity " + g.e.Name + " has more items than there are pairs of " + g.links[0].parent.e.Name + " and " +
		g.links[1].parent.e.Name
}

// unpaired stands for the index of the second parent of an item that has none.
const unpaired = math.MaxUint32

// slots returns, for each item in items, the index in parents of its second parent, or unpaired.
func (g *generator) slots(rng *rand.PCG, items, parents []uint32) []uint32 {
	if len(parents) == 0 {
		return slices.Repeat([]uint32{unpaired}, len(items))
	}

	weights := make([]uint64, len(parents))
	some := false
	for i, p := range parents {
		weights[i] = g.links[1].sizes[p]
		some = some || weights[i] > 0
	}

	for i := range weights {
		if !some {
			weights[i] = 1
		}
	}

	sizes := apportion(uint64(len(items)), weights)
	if g.key > 0 {
		slots := repeated(sizes)
		shuffle(rng, slots)
		return slots
	}

	firsts := make([]uint32, len(items))
	for i, item := range items {
		firsts[i] = g.links[0].of[item]
	}
	return pairs(rng, firsts, sizes)
}

// pairs returns a second number for each number in firsts, which must be in ascending order. No pair occurs twice,
// and the second number i occurs times[i] times. If a number in firsts cannot get a second one, it gets unpaired.
func pairs(rng *rand.PCG, firsts []uint32, times []uint64) []uint32 {
	// left[n] has the second numbers that must occur n more times
	left := make([][]uint32, slices.Max(times)+1)
	for i, n := range times {
		left[n] = append(left[n], uint32(i))
	}
	type run struct{ from, to int }
	var runs []run
	for i, f := range firsts {
		if i == 0 || f != firsts[i-1] {
			runs = append(runs, run{from: i})
		}
		runs[len(runs)-1].to = i + 1
	}
	slices.SortStableFunc(runs, func(a, b run) int { return (b.to - b.from) - (a.to - a.from) })

	// A greedy choice finds a solution if there is one. Take the longest run of equal first numbers, and give it the
	// second numbers that must still occur most often. Repeat this with the next longest run.
	seconds := make([]uint32, len(firsts))
	for _, r := range runs {
		for len(left) > 1 && len(left[len(left)-1]) == 0 {
			left = left[:len(left)-1]
		}
		taken := make([]int, 0, r.to-r.from)
		n := len(left) - 1
		for i := r.from; i < r.to; i++ {
			for n > 0 && len(left[n]) == 0 {
				n--
			}
			if n == 0 {
				seconds[i] = unpaired
				continue
			}
			last := len(left[n]) - 1
			seconds[i], left[n] = left[n][last], left[n][:last]
			taken = append(taken, n)
		}
		for i, n := range taken { // only the last numbers of a run can be unpaired, so taken[i] belongs to number i
			left[n-1] = append(left[n-1], seconds[r.from+i])
		}
	}

	// The greedy choice pairs the most frequent first numbers with the most frequent second ones. Exchange random
	// pairs so that the result does not show this.
	pair := func(i, k int) uint64 { return uint64(firsts[i])<<32 | uint64(seconds[k]) }
	have := make(map[uint64]bool, len(firsts))
	for i := range firsts {
		have[pair(i, i)] = true
	}
	for range 2 * len(firsts) {
		i, k := int(draw(rng, uint64(len(firsts)))), int(draw(rng, uint64(len(firsts))))
		if firsts[i] == firsts[k] || seconds[i] == seconds[k] || have[pair(i, k)] || have[pair(k, i)] ||
			seconds[i] == unpaired || seconds[k] == unpaired {
			continue
		}
		delete(have, pair(i, i))
		delete(have, pair(k, k))
		seconds[i], seconds[k] = seconds[k], seconds[i]
		have[pair(i, i)], have[pair(k, k)] = true, true
	}
	return seconds
}

// commonParent returns the paths from two generators to their nearest common ancestor, which may be one of the two.
// It reports false if they have none.
func commonParent(a, b *generator) (over, under []*link, ok bool) {
	for _, over := range append([][]*link{nil}, a.ways()...) {
		for _, under := range append([][]*link{nil}, b.ways()...) {
			if end(a, over) == end(b, under) {
				return over, under, true
			}
		}
	}
	return nil, nil, false
}

// ways returns the paths from g to the generators of all its ancestors, the shortest path first.
func (g *generator) ways() (all [][]*link) {
	for _, l := range g.links {
		all = append(all, []*link{l})
	}
	for i := 0; i < len(all); i++ {
		for _, l := range end(g, all[i]).links {
			all = append(all, append(slices.Clone(all[i]), l))
		}
	}
	return all
}

// end returns the generator at the end of a path.
func end(from *generator, way []*link) *generator {
	if len(way) == 0 {
		return from
	}
	return way[len(way)-1].parent
}
