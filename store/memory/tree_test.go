package memory

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/address"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/store"
)

// key returns a record with b as its key: an address or any other bytes.
func key(b []byte) *record {
	r := &record{rest: b, value: valueOf(b)}
	if _, partition, sort, ok := address.Parse(b, nil); ok {
		r.sort = len(b) - len(sort)
		if r.sort != partitionEnd+len(partition) {
			r.partition = partition
		}
	}
	return r
}

// valueOf returns the value of a key in these tests. Some values are long.
func valueOf(key []byte) []byte { return bytes.Repeat(key, 1+len(key)%4) }

// addressesOf returns addresses of several kinds: in partitions of one row and of many, some of them escaped or long.
func addressesOf(rng *rand.Rand, n int) [][]byte {
	out := make([][]byte, n)
	for i := range out {
		partition, sort := fmt.Appendf(nil, "partition/%d", rng.IntN(6)), fmt.Appendf(nil, "sort/%04d", rng.IntN(n))
		switch rng.IntN(8) {
		case 0:
			partition, sort = fmt.Appendf(nil, "alone/%05d", rng.IntN(n)), nil
		case 1:
			partition = append(partition, make([]byte, rng.IntN(3))...)
		case 2:
			partition = bytes.Repeat(partition, 1+rng.IntN(20))
		case 3:
			sort = bytes.Repeat(sort, 1+rng.IntN(40))
		}
		out[i] = address.Append(nil, store.Space(1+rng.IntN(2)), partition, sort)
	}
	return out
}

// keys returns keys of several kinds: with long common prefixes, prefixes of
// each other, with trailing zeros, and random bytes.
func keys(rng *rand.Rand, n int) [][]byte {
	out := make([][]byte, n)
	for i := range out {
		switch rng.IntN(5) {
		case 0:
			out[i] = fmt.Appendf(nil, "%s/%06d", bytes.Repeat([]byte("long"), 5*rng.IntN(8)), rng.IntN(n))
		case 1:
			out[i] = bytes.Repeat([]byte{0}, rng.IntN(12))
		case 2:
			out[i] = bytes.Repeat([]byte{'a'}, rng.IntN(120))
		case 3:
			out[i] = binary.BigEndian.AppendUint32([]byte("p\x00"), uint32(rng.IntN(n)))
		default:
			out[i] = make([]byte, rng.IntN(20))
			for j := range out[i] {
				out[i][j] = byte(rng.IntN(3))
			}
		}
	}
	return out
}

// check fails the test unless the tree is well formed.
func (t *tree) check(tb testing.TB) {
	tb.Helper()
	t.checkNodes(tb, true)
}

// Check fails the test unless a store in memory is well formed. Its pages may also have bytes of other stores.
func Check(tb testing.TB, s store.Store) {
	tb.Helper()
	v := s.(*engine).hold()
	defer v.release()
	v.checkNodes(tb, false)
}

func (t *tree) checkNodes(tb testing.TB, alone bool) {
	tb.Helper()
	if t.root == nil {
		require.Zero(tb, t.rows)
		return
	}
	rows, leaves := 0, -1
	var walk func(n *node, lo, hi []byte, depth int)
	walk = func(n *node, lo, hi []byte, depth int) {
		require.NotZero(tb, n.n)
		before := lo
		for i := n.first(); i < int(n.n); i++ {
			r := n.record(i)
			k := r.appendKey(nil)
			switch {
			case before != nil && bytes.Compare(before, k) >= 0 && (i > 0 || !bytes.Equal(before, k)):
				require.Fail(tb, "order", "%q after %q", k, before)
			case hi != nil && bytes.Compare(k, hi) >= 0:
				require.Fail(tb, "above the separator", "%q, which is %q", k, hi)
			case !bytes.HasPrefix(k, n.prefix[:n.len]) || headOf(k, int(n.len)) != n.heads[i]:
				require.Fail(tb, "wrong prefix or head", "%q: %q, %x", k, n.prefix[:n.len], n.heads[i])
			}
			before = k
		}
		for i := int(n.n); i < fan; i++ {
			if n.kids != nil && n.kids[i] != nil {
				require.Fail(tb, "a deleted row is still referenced")
			}
		}
		n.checkPage(tb, alone)
		if n.kids == nil {
			n.checkRows(tb)
			rows += int(n.n)
			require.True(tb, leaves == -1 || leaves == depth)
			leaves = depth
			return
		}
		for i := range int(n.n) {
			from, to := lo, hi
			if i > 0 {
				r := n.record(i)
				from = r.appendKey(nil)
			}
			if i+1 < int(n.n) {
				r := n.record(i + 1)
				to = r.appendKey(nil)
			}
			walk(n.kids[i], from, to, depth+1)
		}
	}
	walk(t.root, nil, nil, 0)
	require.Equal(tb, t.rows, rows)
}

// checkRows fails the test unless the rows of a leaf match its keys.
func (n *node) checkRows(tb testing.TB) {
	tb.Helper()
	for i := range int(n.n) {
		r := n.record(i)
		key := r.appendKey(nil)
		if !bytes.Equal(r.value, n.value(i)) { // not with require, which takes longer than everything else here
			require.Fail(tb, "wrong value", "%q, not %q, at %q", n.value(i), r.value, key)
		}
		_, partition, sort, ok := address.Parse(key, nil)
		if !ok {
			continue
		}
		row := n.row(i)
		if !bytes.Equal(row.Partition, partition) || !bytes.Equal(row.Sort, sort) || !bytes.Equal(row.Value, r.value) {
			require.Fail(tb, "wrong row", "%q/%q at %q", row.Partition, row.Sort, key)
		}
	}
}

// checkPage fails the test unless the page of n has its records. If alone, no other store and no failed Update has
// added to the page, and then it must not have much else.
func (n *node) checkPage(tb testing.TB, alone bool) {
	tb.Helper()
	live, overflows := int(n.base)+int(n.original), 0
	type part struct{ from, to int }
	var parts []part
	for i := n.first(); i < int(n.n); i++ {
		if n.hasOverflow(i) {
			overflows++
		}
		if size := n.size(i); size > 0 {
			parts = append(parts, part{int(n.offsets[i]), int(n.offsets[i]) + size})
			live += size
		}
	}
	require.Len(tb, n.overflows, overflows)
	require.Equal(tb, overflows, bits.OnesCount64(n.overflowBits))
	for _, a := range n.overflows[len(n.overflows):cap(n.overflows)] {
		require.Zero(tb, a, "a deleted row is still referenced")
	}
	if n.page == nil {
		require.LessOrEqual(tb, int(n.n), n.first())
		return
	}

	slices.SortFunc(parts, func(a, b part) int { return a.from - b.from })
	at, taken := int(n.base)+int(n.original), len(n.page)
	if n.taken != nil {
		taken = int(n.taken.Load())
	}
	for _, p := range parts {
		if p.from < at {
			require.Fail(tb, "records overlap", "one from %d to %d, where %d bytes are taken", p.from, p.to, at)
		}
		at = p.to
	}
	require.LessOrEqual(tb, at, taken)
	require.LessOrEqual(tb, taken, len(n.page))
	require.GreaterOrEqual(tb, n.len, n.base)
	require.Equal(tb, string(n.prefix[:n.base]), string(n.page[:n.base]))
	require.Equal(tb, live, int(n.live))
	if alone {
		longest := headOfSeveral + 2*longestPacked + mostPacked
		require.LessOrEqual(tb, taken-live, live/2+deadBytes+longest, "dead bytes")
	}
}

// checkCompact fails the test unless the tree is well formed, and its leaves are full, or of one partition, and have
// pages without free space.
func (t *tree) checkCompact(tb testing.TB) {
	tb.Helper()
	t.check(tb)
	var walk func(n *node)
	walk = func(n *node) {
		if n.kids[0].kids != nil {
			for _, kid := range n.kids[:n.n] {
				walk(kid)
			}
			return
		}
		rows, loose, own := 0, 0, 0
		for _, leaf := range n.kids[:n.n] {
			rows += int(leaf.n)
			if leaf.head == headOfOne && leaf.n >= fan/2 { // the leaves before and after it may have few rows
				own++
			}
			if leaf.taken != nil || int(leaf.live) < len(leaf.page) || len(leaf.page) < cap(leaf.page) {
				loose++
			}
		}
		require.LessOrEqual(tb, loose, int(n.n)/8)
		if loose == 0 {
			require.LessOrEqual(tb, int(n.n), (rows+fan-1)/fan+int(n.n)/8+2*own)
		}
	}
	if t.root != nil && t.root.kids != nil {
		walk(t.root)
	}
}

// all returns the keys of a tree between lo and hi.
func (t *tree) all(lo, hi []byte, reverse bool) (out []string) {
	walk := t.ascend
	if reverse {
		walk = t.descend
	}
	walk(lo, hi, func(leaf *node, from, to int) bool {
		var keys []string
		for i := from; i < to; i++ {
			r := leaf.record(i)
			keys = append(keys, string(r.appendKey(nil)))
		}
		if reverse {
			slices.Reverse(keys)
		}
		out = append(out, keys...)
		return true
	})
	return out
}

// TestTree edits trees at random, compares them with a sorted slice, and checks
// that old versions do not change.
func TestTree(t *testing.T) {
	for seed := range uint64(proptest.Cases(6)) { //nolint:gosec // few
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 1))
			pool := keys(rng, 6000)
			if seed%2 == 1 {
				pool = addressesOf(rng, 6000)
			}
			var model []string
			type version struct {
				tree tree
				keys []string
			}
			var kept []version
			now, owner := tree{}, uint64(0)
			grow := 5 // the number of edits in ten that add
			for round := range 150 {
				owner++
				e := edit{&now, owner, nil}
				if round%10 == 0 {
					grow = 2 + rng.IntN(8)
				}
				for range rng.IntN(150) {
					k := pool[rng.IntN(len(pool))]
					i := sort.SearchStrings(model, string(k))
					found := i < len(model) && model[i] == string(k)
					if _, _, has := now.find(k); has != found {
						t.Fatalf("get(%x) finds a row: %t, want %t", k, !found, found)
					}
					switch {
					case rng.IntN(10) < grow:
						e.put(key(k))
						if !found {
							model = slices.Insert(model, i, string(k))
						}
					case found:
						e.delete(k)
						model = slices.Delete(model, i, i+1)
					}
				}
				now.check(t)
				k := pool[rng.IntN(len(pool))]
				if leaf, i, found := now.find(k); found {
					require.Equal(t, valueOf(k), leaf.value(i))
				}
				lo, hi := pool[rng.IntN(len(pool))], pool[rng.IntN(len(pool))]
				if bytes.Compare(lo, hi) < 0 {
					want := slices.Clone(model[sort.SearchStrings(model, string(lo)):sort.SearchStrings(model,
						string(hi))])
					require.True(t, slices.Equal(want, now.all(lo, hi, false)))
					slices.Reverse(want)
					require.True(t, slices.Equal(want, now.all(lo, hi, true)))
				}
				if rng.IntN(5) == 0 { // clear a range, or all rows from some row on
					if rng.IntN(3) == 0 {
						hi = nil
					}
					from, to := sort.SearchStrings(model, string(lo)), len(model)
					if hi != nil {
						to = max(sort.SearchStrings(model, string(hi)), from)
					}
					if bytes.Compare(lo, hi) < 0 || hi == nil {
						e.clear(lo, hi)
						model = slices.Delete(model, from, to)
						now.check(t)
						require.True(t, slices.Equal(model, now.all(nil, nil, false)),
							"after clearing %x to %x", lo, hi)
					}
				}
				if rng.IntN(8) == 0 {
					for c := (&compaction{}); !c.done; {
						if at, found := c.find(now, 0); found {
							owner++
							e := edit{&now, owner, nil}
							now.root = e.compact(now.root, at, c)
							e.lower()
						}
					}
					now.checkCompact(t)
				}
				if round%15 == 0 {
					kept = append(kept, version{now, slices.Clone(model)})
				}
			}
			for _, v := range kept {
				v.tree.checkNodes(t, false) // later ones added to its pages
				require.True(t, slices.Equal(v.keys, v.tree.all(nil, nil, false)), "an old version changed")
			}
		})
	}
}

// TestTreeInOrder checks that inserting rows in ascending order leaves nodes
// full, that descending order works, and that deleting all rows leaves nothing.
func TestTreeInOrder(t *testing.T) {
	const rows = 20_000
	at := func(i int) []byte { return fmt.Appendf(nil, "partition/%08d", i) }
	for _, step := range []int{1, -1} {
		var now tree
		e := edit{&now, 1, nil}
		for i := range rows {
			e.put(key(at(step * i & (1<<24 - 1))))
		}
		now.check(t)
		if step > 0 {
			leaves := 0
			now.ascend(nil, nil, func(*node, int, int) bool { leaves++; return true })
			require.Less(t, leaves, rows/fan*11/10)
		}
		e.owner = 2
		for _, i := range rand.New(rand.NewPCG(1, 1)).Perm(rows) {
			e.delete(at(step * i & (1<<24 - 1)))
		}
		require.Equal(t, tree{}, now)
	}
}

// TestClear clears ranges of each size at each place of a tree of three levels.
func TestClear(t *testing.T) {
	const rows = 4000
	var whole tree
	e := edit{&whole, 1, nil}
	at := func(i int) []byte { return fmt.Appendf(nil, "p/%06d", 2*i) }
	for i := range rows {
		e.put(key(at(i)))
	}
	require.NotNil(t, whole.root.kids[0].kids)
	owner, stride := uint64(1), 53
	if !proptest.Long() {
		stride *= 4
	}
	for from := 0; from < rows; from += 1 + from%7*stride {
		for _, n := range []int{0, 1, 2, fan - 1, fan, fan + 1, 3 * fan, fan * fan, rows} {
			to := min(from+n, rows)
			owner++
			now := whole
			e := edit{&now, owner, nil}
			hi := fmt.Appendf(nil, "p/%06d", 2*to-from%2) // a row, or between two
			if n == 0 {
				hi = at(from)
			}
			e.clear(at(from), hi)
			now.check(t)
			require.Equal(t, rows-(to-from), now.rows)
			if n > 0 {
				_, _, found := now.find(at(from))
				require.False(t, found)
			}
			if to < rows {
				_, _, found := now.find(at(to))
				require.True(t, found)
			}
			for i := max(from-fan, 0); i < min(to+fan, rows); i++ { // it can be edited as before
				e.put(key(at(i)))
			}
			now.check(t)
			require.Equal(t, rows, now.rows)
		}
	}
	whole.check(t)
	require.Equal(t, rows, whole.rows)
	e = edit{&whole, owner + 1, nil}
	e.clear(nil, nil)
	require.Equal(t, tree{}, whole)
}
