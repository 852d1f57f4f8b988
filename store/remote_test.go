package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/address"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/internal/remote"
)

// A database maps keys to stored rows, in which the tail of the address comes before the value.
type database struct {
	keys    remote.Keys
	rows    map[string]remote.Row
	err     error
	fetched int // rows
}

func (d *database) Err() error         { return d.err }
func (d *database) Keys() *remote.Keys { return &d.keys }

func (d *database) put(addr, value []byte) {
	key, tail := d.keys.Key(addr)
	d.rows[string(key)] = remote.Row{Addr: d.keys.Addr(key, tail), Value: value}
}

func (d *database) Chunk(lo, hi []byte, limit int, reverse bool) (keys [][]byte, rows []remote.Row, err error) {
	sorted := slices.Sorted(maps.Keys(d.rows))
	if reverse {
		slices.Reverse(sorted)
	}
	for _, key := range sorted {
		if key >= string(lo) && key < string(hi) && len(keys) < limit {
			keys, rows = append(keys, []byte(key)), append(rows, d.rows[key])
		}
	}
	d.fetched += len(rows)
	return keys, rows, d.err
}

// newKey returns random keys. Many are equal, neighbours, prefixes of each other, or longer than a key of the
// database.
func newKey(t *proptest.T) []byte {
	return []byte(proptest.Pick(t, "", "a", "a\x00", "ab", "b", "\xff", strings.Repeat("long", 12)) +
		t.Text("ab\x00\u00ff", 0, 2))
}

type place struct {
	space           store.Space
	partition, sort string
}

func (p place) address() []byte {
	return address.Append(nil, p.space, []byte(p.partition), []byte(p.sort))
}

func newPlace(t *proptest.T) place {
	return place{proptest.Pick(t, 1, 2, store.Space(1<<64-1)), string(newKey(t)), string(newKey(t))}
}

// TestReads makes random changes over stored rows, and compares reads with a map.
func TestReads(t *testing.T) {
	proptest.Check(t, 300, func(t *proptest.T) {
		d := &database{
			keys: remote.Keys{Prefix: []byte(proptest.Pick(t, "", "r")), Longest: 40}, rows: map[string]remote.Row{},
		}
		model := map[place]string{}
		for range t.Between(0, 120) {
			at := newPlace(t)
			d.put(at.address(), []byte("stored"))
			model[at] = "stored"
		}
		var c *remote.Changes // of an Update
		if t.Often(80) {
			c = remote.NewChanges()
		}
		dirty := false
		for range t.Between(0, 60) {
			if c == nil {
				break
			}
			at := newPlace(t)
			switch n := t.IntN(100); {
			case n < 40:
				value := fmt.Sprint("changed", n)
				c.Set(remote.Row{Addr: at.address(), Value: []byte(value)})
				model[at], dirty = value, true
			case n < 70:
				c.Set(remote.Row{Addr: at.address(), Deleted: true})
				delete(model, at)
				dirty = true
			case n < 72:
				c.Clear(at.space)
				maps.DeleteFunc(model, func(o place, _ string) bool { return o.space == at.space })
				dirty = true
			default:
				value, exists := model[at]
				if known, ok := c.Get(at.space, at.address()); !ok {
					c.Remember(remote.Row{Addr: at.address(), Value: []byte(value), Deleted: !exists})
				} else {
					require.Equal(t, exists, !known.Deleted)
					require.Equal(t, value, string(known.Value))
				}
			}
		}
		if c != nil {
			require.Equal(t, !dirty, c.Empty())
			checkChanges(t, c)
		}
		addresses := map[string]place{}
		for at := range model {
			addresses[string(at.address())] = at
		}
		for range 10 {
			at, most := newPlace(t), t.Between(1, 100)
			var want []string
			expect := func(matches func(place) bool, reverse bool) {
				for _, addr := range slices.Sorted(maps.Keys(addresses)) {
					if at := addresses[addr]; matches(at) {
						want = append(want, fmt.Sprintf("%q=%s", at.sort, model[at]))
					}
				}
				if reverse {
					slices.Reverse(want)
				}
				want = want[:min(most, len(want))]
			}
			if t.Bool() {
				var rng store.Range
				if t.Bool() {
					rng.Lo = newKey(t)
				}
				if t.Bool() {
					rng.Hi = newKey(t)
				}
				reverse := t.Bool()
				expect(func(o place) bool {
					return o.space == at.space && o.partition == at.partition && o.sort >= string(rng.Lo) &&
						(rng.Hi == nil || o.sort < string(rng.Hi))
				}, reverse)
				got := first(t, most, remote.Query(d, c, at.space, []byte(at.partition), rng, reverse))
				require.Equal(t, want, got, "%v %q reverse %t", at, rng, reverse)
			} else {
				s := store.Segment(uint32(t.IntN(3)), uint32(t.Between(1, 3)))
				if t.Bool() {
					s.After = &store.Position{Partition: []byte(at.partition), Sort: []byte(at.sort)}
				}
				after := string(at.address())
				expect(func(o place) bool {
					h := store.Hash([]byte(o.partition))
					return o.space == at.space && h >= s.First && h <= s.Last &&
						(s.After == nil || string(o.address()) > after)
				}, false)
				require.Equal(t, want, first(t, most, remote.Scan(d, c, at.space, s)))
			}
		}
	})
}

// first returns at most n rows.
func first(t require.TestingT, n int, rows iter.Seq2[store.Row, error]) (got []string) {
	for row, err := range rows {
		require.NoError(t, err)
		if got = append(got, fmt.Sprintf("%q=%s", row.Sort, row.Value)); len(got) == n {
			break
		}
	}
	return got
}

// checkChanges checks the order and the size of changes.
func checkChanges(t require.TestingT, c *remote.Changes) {
	size := 0
	var last []byte
	for r := range c.All() {
		require.Negative(t, bytes.Compare(last, r.Addr))
		if last = r.Addr; !r.Unchanged {
			size += len(r.Addr) + len(r.Value)
		}
	}
	require.Equal(t, size, c.Size())
}

// TestChangesWhileReading checks that a loop does not see later changes.
func TestChangesWhileReading(t *testing.T) {
	d := &database{keys: remote.Keys{Longest: 40}, rows: map[string]remote.Row{}}
	c := remote.NewChanges()
	for i := range 5 {
		at := place{1, "p", fmt.Sprint(i)}
		if c.Set(remote.Row{Addr: at.address()}); i%2 == 0 {
			d.put(at.address(), nil)
		}
	}
	n := 0
	for row, err := range remote.Query(d, c, 1, []byte("p"), store.Range{}, false) {
		require.NoError(t, err)
		n++
		c.Set(remote.Row{Addr: place{1, "p", string(row.Sort) + "x"}.address()})
		c.Set(remote.Row{Addr: place{1, "p", string(row.Sort)}.address(), Deleted: true})
	}
	require.Equal(t, 5, n)
	require.Len(t, first(t, 9, remote.Query(d, c, 1, []byte("p"), store.Range{}, false)), 5)
}

// TestChunks checks that a read fetches about as many rows as it yields, and that it
// ends with an error of the source.
func TestChunks(t *testing.T) {
	d := &database{keys: remote.Keys{Longest: 40}, rows: map[string]remote.Row{}}
	for i := range 5000 {
		d.put(place{1, "p", fmt.Sprintf("%04d", i)}.address(), bytes.Repeat([]byte("x"), 4<<10))
	}
	for n, most := range map[int]int{1: 16, 16: 16, 17: 16 + 128, 5000: 5000} {
		d.fetched = 0
		require.Len(t, first(t, n, remote.Query(d, nil, 1, []byte("p"), store.Range{}, n%2 == 0)), n)
		require.LessOrEqual(t, d.fetched, most, "rows for %d", n)
	}
	broken := errors.New("broken")
	n := 0
	for row, err := range remote.Scan(d, nil, 1, store.Everything()) {
		if n++; n <= 10 {
			require.NoError(t, err)
			require.Equal(t, "p", string(row.Partition))
		} else {
			require.ErrorIs(t, err, broken)
		}
		if n == 10 {
			d.err = broken
		}
	}
	require.Equal(t, 11, n)
}

// TestCachedBytes checks that Changes keeps only few values of rows that were only read.
func TestCachedBytes(t *testing.T) {
	c := remote.NewChanges()
	value := make([]byte, 1<<20)
	for i := range 6 {
		c.Remember(remote.Row{Addr: place{1, "p", fmt.Sprint(i)}.address(), Value: value})
	}
	for i := range 6 {
		known, ok := c.Get(1, place{1, "p", fmt.Sprint(i)}.address())
		require.True(t, ok)
		require.Equal(t, i >= 3, known.Dropped, "value %d", i)
		require.False(t, known.Deleted)
	}
	require.Zero(t, c.Size())
	require.True(t, c.Empty())
}
