package storetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/store"
)

func testGet(t *testing.T, s store.Store) {
	view(t, s, func(r store.Reader) {
		require.Equal(t, "-", get(t, r, 1, "p", "s"), "an empty store")
	})
	update(t, s, func(w store.Writer) { put(t, w, 1, row{"p", "s", "one"}) })
	view(t, s, func(r store.Reader) {
		require.Equal(t, "one", get(t, r, 1, "p", "s"))
		require.Equal(t, "-", get(t, r, 1, "p", "t"))
		require.Equal(t, "-", get(t, r, 1, "p", ""))
		require.Equal(t, "-", get(t, r, 1, "q", "s"))
		require.Equal(t, "-", get(t, r, 2, "p", "s"))
		require.Equal(t, "-", get(t, r, 1, "ps", ""))
	})

	update(t, s, func(w store.Writer) { put(t, w, 1, row{"p", "s", "two"}) })
	view(t, s, func(r store.Reader) { require.Equal(t, "two", get(t, r, 1, "p", "s"), "replaced") })
	update(t, s, func(w store.Writer) {
		del(t, w, 1, "p", "s")
		del(t, w, 1, "p", "s")
		del(t, w, 7, "none", "none")
	})
	view(t, s, func(r store.Reader) { require.Equal(t, "-", get(t, r, 1, "p", "s"), "deleted") })
}

// testKeys stores every pair of unusual partitions and sort positions.
func testKeys(t *testing.T, s store.Store) {
	var rows []row
	for _, p := range edges {
		for _, k := range edges {
			rows = append(rows, row{p, k, p + "|" + k})
		}
	}
	update(t, s, func(w store.Writer) { put(t, w, 1, rows...) })
	view(t, s, func(r store.Reader) {
		for _, want := range rows {
			require.Equal(t, want.value, get(t, r, 1, want.partition, want.sort))
		}
		require.Equal(t, ordered(rows), scan(t, r, 1, store.Everything()))
		for _, p := range edges {
			require.Equal(t, sorted(edges), sorts(t, r, 1, p, store.Range{}, false), "partition %q", p)
		}
	})
}

// testLongKeys stores the longest keys that an index of DynamoDB can have. Many of them begin alike, because some
// engines sort only a limited number of bytes of a key.
func testLongKeys(t *testing.T, s store.Store) {
	random := make([]byte, 6144) // so that no engine can compress it
	for i := range random {
		random[i] = byte(i*i>>3 ^ i*31>>2)
	}
	text := string(random)
	partitions := []string{strings.Repeat("\x00", 2048), text[:2048], text[:2047], "p"}
	var keys []string
	for _, n := range []int{0, 400, 497, 498, 499, 500, 511, 512, 513, 1013, 2548, 3000, 3060, 4096} {
		for _, end := range []string{"", "\x00", "a", "\xff"} {
			keys = append(keys, text[2048:2048+n]+end)
		}
	}
	slices.Sort(keys)
	var rows []row
	for _, p := range partitions {
		for i, k := range keys {
			rows = append(rows, row{p, k, fmt.Sprint(i)})
		}
	}
	check := func(r store.Reader) {
		require.Equal(t, ordered(rows), scan(t, r, 1, store.Everything()))
		for _, want := range rows {
			require.Equal(t, want.value, get(t, r, 1, want.partition, want.sort))
		}
		for _, p := range partitions {
			require.Equal(t, "-", get(t, r, 1, p, keys[len(keys)-1]+"x"))
			for i := 0; i < len(keys); i += 5 {
				bound := []byte(keys[i])
				require.Equal(t, keys[:i], sorts(t, r, 1, p, store.Range{Hi: bound}, false))
				backwards := slices.Clone(keys[i:])
				slices.Reverse(backwards)
				require.Equal(t, backwards, sorts(t, r, 1, p, store.Range{Lo: bound}, true))
			}
		}
	}

	update(t, s, func(w store.Writer) { put(t, w, 1, rows...) })
	view(t, s, check)
	update(t, s, func(w store.Writer) { // reads among changes of the Update
		put(t, w, 1, rows[1])
		check(w)
		del(t, w, 1, rows[1].partition, rows[1].sort)
	})
	view(t, s, func(r store.Reader) { require.Len(t, scan(t, r, 1, store.Everything()), len(rows)-1) })
}

func testValues(t *testing.T, s store.Store) {
	big := string(slices.Repeat([]byte("0123456789abcdef"), 32<<10)) // 512 KB
	update(t, s, func(w store.Writer) {
		put(t, w, 1, row{"p", "empty", ""}, row{"p", "zero", "\x00"}, row{"p", "big", big})
		require.NoError(t, w.Put(1, []byte("p"), []byte("nil"), nil))
		require.NoError(t, w.Put(1, nil, nil, []byte("nil keys")))
	})
	view(t, s, func(r store.Reader) {
		require.Equal(t, "", get(t, r, 1, "p", "empty"))
		require.Equal(t, "", get(t, r, 1, "p", "nil"))
		require.Equal(t, "\x00", get(t, r, 1, "p", "zero"))
		require.Equal(t, big, get(t, r, 1, "p", "big"))
		require.Equal(t, "nil keys", get(t, r, 1, "", ""))
	})
}

// testRanges compares every pair of bounds, present or not, in both directions,
// with a filter over the sorted positions.
func testRanges(t *testing.T, s store.Store) {
	var rows []row
	for _, k := range edges {
		rows = append(rows, row{"p", k, "v"})
	}
	update(t, s, func(w store.Writer) {
		put(t, w, 1, rows...)
		// Neighbours on all sides. No range may include them.
		put(
			t, w, 1, row{"o", "\xff", "x"}, row{"q", "", "x"}, row{"p\x00", "", "x"}, row{"p\x00", "\xff", "x"},
			row{"", "p", "x"},
		)
		put(t, w, 0, row{"p", "\xff\xff", "x"})
		put(t, w, 2, row{"p", "", "x"})
	})

	bounds := append([]string{"-", "a\x00a", "c", "\xff\xff\xff"}, edges...)
	all := sorted(edges)
	check := func(r store.Reader) {
		for _, lo := range bounds {
			for _, hi := range bounds {
				rng := store.Range{Lo: optional(lo), Hi: optional(hi)}
				want := []string{}
				for _, k := range all {
					if rng.Contains([]byte(k)) {
						want = append(want, k)
					}
				}
				require.Equal(t, want, sorts(t, r, 1, "p", rng, false), "[%q, %q)", lo, hi)
				slices.Reverse(want)
				require.Equal(t, want, sorts(t, r, 1, "p", rng, true), "[%q, %q) in reverse", lo, hi)
			}
		}
	}

	view(t, s, check)
	update(t, s, func(w store.Writer) { check(w) })
	update(t, s, func(w store.Writer) { // the update's own writes are pending
		put(t, w, 1, row{"p", "a", "new"})
		check(w)
	})
}

func testEmptyRanges(t *testing.T, s store.Store) {
	check := func(r store.Reader) {
		for _, rng := range []store.Range{
			{Lo: []byte("b"), Hi: []byte("b")},
			{Lo: []byte("c"), Hi: []byte("b")},
			{Hi: []byte{}},
			{Lo: []byte{}, Hi: []byte{}},
			{Lo: []byte("b\x00"), Hi: []byte("c")},
			{Lo: []byte("d")},
			{Hi: []byte("b")},
		} {
			for _, reverse := range []bool{false, true} {
				require.Empty(t, sorts(t, r, 1, "p", rng, reverse), "%q reverse=%t", rng, reverse)
			}
		}
		for _, span := range []store.Span{
			{First: 2, Last: 1},
			{First: store.MaxHash + 1, Last: store.MaxHash + 2},
			{Last: store.MaxHash, After: &store.Position{Partition: []byte("p"), Sort: []byte("c")}},
			store.Segment(5, 5),
		} {
			require.Empty(t, scan(t, r, 1, span), "%+v", span)
		}
	}

	update(t, s, func(w store.Writer) { put(t, w, 1, row{"p", "b", "v"}, row{"p", "c", "v"}) })
	update(t, s, func(w store.Writer) {
		del(t, w, 1, "p", "b")
		put(t, w, 1, row{"q", "b", "v"})
		del(t, w, 1, "q", "b")
	})
	view(t, s, check)
	update(t, s, func(w store.Writer) { check(w) })
}

// testPartitions checks partitions whose bytes are prefixes of each other, or would be if addresses had no end mark.
func testPartitions(t *testing.T, s store.Store) {
	for _, p := range edges {
		update(t, s, func(w store.Writer) { put(t, w, 1, row{p, "1", p}, row{p, "2", p}) })
	}
	view(t, s, func(r store.Reader) {
		for _, p := range edges {
			for _, reverse := range []bool{false, true} {
				n := 0
				for row, err := range r.Query(1, []byte(p), store.Range{}, reverse) {
					require.NoError(t, err)
					require.Equal(t, p, string(row.Value))
					if row.Partition != nil {
						require.Equal(t, p, string(row.Partition))
					}
					n++
				}
				require.Equal(t, 2, n, "partition %q", p)
			}
		}
	})
}

var spaces = []store.Space{0, 1, 2, 255, 256, 1 << 32, 1<<63 - 1, 1 << 63, 1<<64 - 2, 1<<64 - 1}

func testSpaces(t *testing.T, s store.Store) {
	rows := []row{{"", "", "v"}, {"p", "a", "v"}, {"\xff\xff\xff\xff", "\xff\xff\xff\xff", "v"}}
	update(t, s, func(w store.Writer) {
		for _, space := range spaces {
			put(t, w, space, rows...)
			put(t, w, space, row{"own", "", string(rune(space))})
		}
	})

	check := func(gone int) {
		t.Helper()
		view(t, s, func(r store.Reader) {
			for i, space := range spaces {
				got := scan(t, r, space, store.Everything())
				if i == gone {
					require.Empty(t, got, "cleared space %d", space)
					continue
				}
				require.Equal(
					t, ordered(append([]row{{"own", "", string(rune(space))}}, rows...)), got, "space %d", space,
				)
			}
		})
	}

	check(-1)
	for i, space := range spaces {
		update(t, s, func(w store.Writer) { require.NoError(t, w.Clear(space)) })
		check(i)
		update(t, s, func(w store.Writer) {
			put(t, w, space, rows...)
			put(t, w, space, row{"own", "", string(rune(space))})
		})
	}
}

func testCopiesKeys(t *testing.T, s store.Store) {
	update(t, s, func(w store.Writer) {
		p, k := []byte("a\x00p"), []byte("k")
		require.NoError(t, w.Put(1, p, k, []byte("v")))
		copy(p, "xxx")
		copy(k, "x")
	})
	view(t, s, func(r store.Reader) {
		require.Equal(t, []row{{"a\x00p", "k", "v"}}, scan(t, r, 1, store.Everything()))
	})
}

func testEarlyBreak(t *testing.T, s store.Store) {
	update(t, s, func(w store.Writer) {
		for _, k := range edges {
			put(t, w, 1, row{"p", k, "v"})
		}
	})
	check := func(r store.Reader) {
		for n := range len(edges) {
			for _, reverse := range []bool{false, true} {
				seen := 0
				for _, err := range r.Query(1, []byte("p"), store.Range{}, reverse) {
					require.NoError(t, err)
					if seen++; seen > n {
						break
					}
				}
				require.Equal(t, n+1, seen)
			}
			seen := 0
			for _, err := range r.Scan(1, store.Everything()) {
				require.NoError(t, err)
				if seen++; seen > n {
					break
				}
			}
			require.Equal(t, n+1, seen)
		}

		// An iterator may be used again. It then starts from the beginning.
		seq := r.Query(1, []byte("p"), store.Range{}, false)
		for range seq {
			break
		}
		rows, err := collect(seq)
		require.NoError(t, err)
		require.Len(t, rows, len(edges))
	}

	view(t, s, check)
	update(t, s, func(w store.Writer) { check(w) })
}

func sorted(in []string) []string {
	out := slices.Clone(in)
	slices.Sort(out)
	return out
}
