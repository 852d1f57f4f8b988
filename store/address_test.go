package store_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/address"
	"github.com/sortkey/sortkey/store"
)

var samples = []string{
	"", "\x00", "\x00\x00", "\x00\x01", "\x00\xff", "\x01", "a", "a\x00", "a\x00\x01", "a\x00\xff", "ab", "\xff",
	"\xff\x00", "\xff\xff",
}

func TestAddressBytes(t *testing.T) {
	h := func(p string) string {
		n := store.Hash([]byte(p))
		return string([]byte{byte(n >> 16), byte(n >> 8), byte(n)})
	}
	for _, tt := range []struct {
		space           store.Space
		partition, sort string
		want            string
	}{
		{1, "a", "b", "\x00\x00\x00\x00\x00\x00\x00\x01" + h("a") + "a\x00\x01b"},
		{0, "", "", "\x00\x00\x00\x00\x00\x00\x00\x00" + h("") + "\x00\x01"},
		{1 << 63, "a\x00b", "\x00", "\x80\x00\x00\x00\x00\x00\x00\x00" + h("a\x00b") + "a\x00\xffb\x00\x01\x00"},
		{2, "\x00\x00", "", "\x00\x00\x00\x00\x00\x00\x00\x02" + h("\x00\x00") + "\x00\xff\x00\xff\x00\x01"},
	} {
		got := address.Append([]byte("dst"), tt.space, []byte(tt.partition), []byte(tt.sort))
		require.Equal(t, "dst"+tt.want, string(got))
		require.Equal(t, len(tt.want), address.Len([]byte(tt.partition), []byte(tt.sort)))
	}
}

func TestParseAddressRefuses(t *testing.T) {
	good := address.Append(nil, 1, []byte("p\x00q"), []byte("s"))
	for n := range len(good) - 1 {
		_, _, _, ok := address.Parse(good[:n], nil)
		require.False(t, ok, "cut to %d bytes: %q", n, good[:n])
	}
	for name, change := range map[string]func(a []byte) []byte{
		"hash":         func(a []byte) []byte { a[9]++; return a },
		"escape":       func(a []byte) []byte { a[13] = 0x07; return a },
		"no end":       func(a []byte) []byte { return a[:len(a)-3] },
		"half the end": func(a []byte) []byte { return a[:len(a)-2] },
		"empty":        func([]byte) []byte { return nil },
	} {
		_, _, _, ok := address.Parse(change(slices.Clone(good)), nil)
		require.False(t, ok, name)
	}
}

// TestBounds compares AppendRange and AppendSpan with Range.Contains and
// Span.Contains for every pair of sample rows and bounds.
func TestBounds(t *testing.T) {
	type addressed struct {
		pos  store.Position
		addr []byte
	}
	var rows []addressed
	for _, p := range samples {
		for _, s := range samples {
			pos := store.Position{Partition: []byte(p), Sort: []byte(s)}
			rows = append(rows, addressed{pos, address.Append(nil, 7, pos.Partition, pos.Sort)})
		}
	}
	within := func(a, lo, hi []byte) bool {
		return bytes.Compare(lo, a) <= 0 && (hi == nil || bytes.Compare(a, hi) < 0)
	}
	bounds := [][]byte{nil}
	for _, s := range samples {
		bounds = append(bounds, []byte(s))
	}
	for _, p := range samples {
		for _, lo := range bounds {
			for _, hi := range bounds {
				r := store.Range{Lo: lo, Hi: hi}
				from, to := address.AppendRange([]byte("x"), []byte("yy"), 7, []byte(p), r)
				from, to = from[1:], to[2:]
				for _, row := range rows {
					want := string(row.pos.Partition) == p && r.Contains(row.pos.Sort)
					if got := within(row.addr, from, to); got != want {
						t.Fatalf("row %q in %q of %q = %t, want %t", row.pos, r, p, got, want)
					}
				}
			}
		}
	}
	for _, space := range []store.Space{7, 1<<64 - 1} {
		for _, span := range []store.Span{
			store.Everything(), {}, store.Segment(0, 3), store.Segment(1, 3), store.Segment(2, 3), {First: 9, Last: 3},
			{Last: 1<<32 - 1}, {First: 1 << 24, Last: 1 << 25},
		} {
			for i := -1; i < len(rows); i++ {
				if i >= 0 {
					span.After = &rows[i].pos
				}
				from, to := address.AppendSpan([]byte("x"), []byte("yy"), space, span)
				if to != nil {
					to = to[2:]
				}
				for _, row := range rows {
					addr := address.Append(nil, space, row.pos.Partition, row.pos.Sort)
					if got, want := within(addr, from[1:], to), span.Contains(row.pos); got != want {
						t.Fatalf("row %q in %+v = %t, want %t", row.pos, span, got, want)
					}
				}
			}
		}
	}
	for _, space := range []store.Space{6, 8, 0, 1<<64 - 1} {
		addr := address.Append(nil, space, []byte("\xff"), []byte("\xff"))
		lo, hi := address.AppendSpace(nil, nil, 7)
		require.False(t, within(addr, lo, hi), "space %d is not space 7", space)
	}
}

func TestAddressDoesNotAllocate(t *testing.T) {
	buf, hi, p, s := make([]byte, 0, 128), make([]byte, 0, 128), []byte("customer#\x0042"), []byte("order#7")
	var partition []byte
	scratch := make([]byte, 0, 64)
	if n := testing.AllocsPerRun(100, func() {
		buf, hi = address.AppendRange(buf[:0], hi[:0], 1, p, store.Range{Lo: s})
		buf = address.Append(buf[:0], 1, p, s)
		_, partition, _, _ = address.Parse(buf, scratch)
	}); n != 0 {
		t.Errorf("addresses allocate %v times, want 0", n)
	}
	require.Equal(t, p, partition)
}

// FuzzAddress checks that parsing inverts encoding, and that addresses sort as
// their parts do.
func FuzzAddress(f *testing.F) {
	for _, p := range samples {
		f.Add(uint64(1), []byte(p), []byte("s"), uint64(1), []byte("a"), []byte(p))
	}
	f.Add(uint64(1)<<63, []byte("a"), []byte(""), uint64(1), []byte("a\x00\x01b"), []byte(""))
	f.Fuzz(func(t *testing.T, space1 uint64, p1, s1 []byte, space2 uint64, p2, s2 []byte) {
		a := address.Append(nil, store.Space(space1), p1, s1)
		b := address.Append(nil, store.Space(space2), p2, s2)
		space, p, s, ok := address.Parse(a, nil)
		if !ok || uint64(space) != space1 || !bytes.Equal(p, p1) || !bytes.Equal(s, s1) {
			t.Fatalf("ParseAddress(%q) = %d, %q, %q, %t", a, space, p, s, ok)
		}
		if at := address.SortOffset(a); !bytes.Equal(a[at:], s1) || len(a) != address.Len(p1, s1) {
			t.Fatalf("SortOffset(%q) = %d", a, at)
		}
		want := store.Position{Partition: p1, Sort: s1}.Compare(store.Position{Partition: p2, Sort: s2})
		if space1 != space2 {
			want = 1
			if space1 < space2 {
				want = -1
			}
		}
		if got := bytes.Compare(a, b); got != want {
			t.Fatalf("addresses %q and %q compare %d, want %d", a, b, got, want)
		}
		// Any bytes must be parsed or refused without a panic; what parses must
		// encode to the same bytes.
		if space, p, s, ok := address.Parse(s1, s2); ok {
			if again := address.Append(nil, space, p, s); !bytes.Equal(again, s1) {
				t.Fatalf("ParseAddress(%q) encodes again as %q", s1, again)
			}
		}
	})
}

func TestPositionCompare(t *testing.T) {
	var all []store.Position
	for _, p := range samples {
		for _, s := range samples {
			all = append(all, store.Position{Partition: []byte(p), Sort: []byte(s)})
		}
	}
	for _, p := range all {
		for _, q := range all {
			want := bytes.Compare(address.Append(nil, 1, p.Partition, p.Sort),
				address.Append(nil, 1, q.Partition, q.Sort))
			if got := p.Compare(q); got != want {
				t.Fatalf("%q.Compare(%q) = %d, want %d as their addresses", p, q, got, want)
			}
		}
	}
}
