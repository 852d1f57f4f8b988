package store_test

import (
	"bytes"
	"crypto/md5"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sortkey/sortkey/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestHash(t *testing.T) {
	for _, p := range []string{"", "a", "customer#42", string(make([]byte, 3000))} {
		sum := md5.Sum([]byte("Outliers" + p))
		want := uint32(sum[0])<<16 | uint32(sum[1])<<8 | uint32(sum[2])
		if got := store.Hash([]byte(p)); got != want {
			t.Errorf("Hash(%.20q) = %#x, want %#x", p, got, want)
		}
	}
	p := []byte("customer#42")
	if n := testing.AllocsPerRun(100, func() { store.Hash(p) }); n != 0 {
		t.Errorf("Hash allocates %v times, want 0", n)
	}
}

func TestAppendUpper(t *testing.T) {
	for _, tt := range []struct {
		name, prefix string
		want         []byte
	}{
		{"plain", "ab", []byte("ac")},
		{"carry", "a\xff", []byte("b")},
		{"carry twice", "a\xff\xff", []byte("b")},
		{"zero", "\x00", []byte("\x01")},
		{"below the top", "\xfe", []byte("\xff")},
		{"one byte", "\xff\xfe", []byte("\xff\xff")},
		{"no upper bound", "\xff\xff", nil},
		{"empty", "", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := store.AppendUpper(nil, []byte(tt.prefix)); !bytes.Equal(got, tt.want) ||
				(got == nil) != (tt.want == nil) {
				t.Errorf("AppendUpper(%q) = %q, want %q", tt.prefix, got, tt.want)
			}
		})
	}
	if got := store.AppendUpper([]byte("x"), []byte("a")); string(got) != "xb" {
		t.Errorf("AppendUpper(\"x\", \"a\") = %q, want \"xb\"", got)
	}
	buf, p := make([]byte, 0, 64), []byte("customer#42")
	if n := testing.AllocsPerRun(100, func() { buf = store.AppendUpper(buf[:0], p) }); n != 0 {
		t.Errorf("AppendUpper allocates %v times, want 0", n)
	}
}

func TestSegment(t *testing.T) {
	for _, total := range []uint32{1, 2, 3, 5, 10, 4096, 1_000_000, 1 << 24, 1<<24 + 5, 1<<32 - 1} {
		next := uint32(0)
		for i := uint32(0); i < total; {
			s := store.Segment(i, total)
			if s.First <= s.Last {
				require.Equal(t, next, s.First, "segment %d of %d", i, total)
				require.LessOrEqual(t, s.Last, uint32(store.MaxHash))
				next = s.Last + 1
			}
			switch {
			case total <= 4096 || i == total-1:
				i++
			default: // skip to the last, whose First is then not checked
				i = total - 1
				last := store.Segment(i, total)
				if last.First <= last.Last {
					next = last.First
				} else {
					next = store.MaxHash + 1
				}
			}
		}
		if total <= store.MaxHash {
			require.Equal(t, uint32(store.MaxHash+1), next, "%d segments cover everything", total)
		}
	}
	for _, s := range []store.Span{store.Segment(5, 5), store.Segment(0, 0), store.Segment(7, 1)} {
		require.Greater(t, s.First, s.Last, "no such segment")
	}
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
		got := store.AppendAddress([]byte("dst"), tt.space, []byte(tt.partition), []byte(tt.sort))
		require.Equal(t, "dst"+tt.want, string(got))
		require.Equal(t, len(tt.want), store.AddressLen([]byte(tt.partition), []byte(tt.sort)))
	}
}

func TestParseAddressRefuses(t *testing.T) {
	good := store.AppendAddress(nil, 1, []byte("p\x00q"), []byte("s"))
	for n := range len(good) - 1 {
		_, _, _, ok := store.ParseAddress(good[:n], nil)
		require.False(t, ok, "cut to %d bytes: %q", n, good[:n])
	}
	for name, change := range map[string]func(a []byte) []byte{
		"hash":         func(a []byte) []byte { a[9]++; return a },
		"escape":       func(a []byte) []byte { a[13] = 0x07; return a },
		"no end":       func(a []byte) []byte { return a[:len(a)-3] },
		"half the end": func(a []byte) []byte { return a[:len(a)-2] },
		"empty":        func([]byte) []byte { return nil },
	} {
		_, _, _, ok := store.ParseAddress(change(slices.Clone(good)), nil)
		require.False(t, ok, name)
	}
}

var samples = []string{
	"", "\x00", "\x00\x00", "\x00\x01", "\x00\xff", "\x01", "a", "a\x00", "a\x00\x01", "a\x00\xff", "ab", "\xff",
	"\xff\x00", "\xff\xff",
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
			rows = append(rows, addressed{pos, store.AppendAddress(nil, 7, pos.Partition, pos.Sort)})
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
				from, to := store.AppendRange([]byte("x"), []byte("yy"), 7, []byte(p), r)
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
				from, to := store.AppendSpan([]byte("x"), []byte("yy"), space, span)
				if to != nil {
					to = to[2:]
				}
				for _, row := range rows {
					addr := store.AppendAddress(nil, space, row.pos.Partition, row.pos.Sort)
					if got, want := within(addr, from[1:], to), span.Contains(row.pos); got != want {
						t.Fatalf("row %q in %+v = %t, want %t", row.pos, span, got, want)
					}
				}
			}
		}
	}
	for _, space := range []store.Space{6, 8, 0, 1<<64 - 1} {
		addr := store.AppendAddress(nil, space, []byte("\xff"), []byte("\xff"))
		lo, hi := store.AppendSpace(nil, nil, 7)
		require.False(t, within(addr, lo, hi), "space %d is not space 7", space)
	}
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
			want := bytes.Compare(store.AppendAddress(nil, 1, p.Partition, p.Sort),
				store.AppendAddress(nil, 1, q.Partition, q.Sort))
			if got := p.Compare(q); got != want {
				t.Fatalf("%q.Compare(%q) = %d, want %d as their addresses", p, q, got, want)
			}
		}
	}
}

func TestAddressDoesNotAllocate(t *testing.T) {
	buf, hi, p, s := make([]byte, 0, 128), make([]byte, 0, 128), []byte("customer#\x0042"), []byte("order#7")
	var partition []byte
	room := make([]byte, 0, 64)
	if n := testing.AllocsPerRun(100, func() {
		buf, hi = store.AppendRange(buf[:0], hi[:0], 1, p, store.Range{Lo: s})
		buf = store.AppendAddress(buf[:0], 1, p, s)
		_, partition, _, _ = store.ParseAddress(buf, room)
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
		a := store.AppendAddress(nil, store.Space(space1), p1, s1)
		b := store.AppendAddress(nil, store.Space(space2), p2, s2)
		space, p, s, ok := store.ParseAddress(a, nil)
		if !ok || uint64(space) != space1 || !bytes.Equal(p, p1) || !bytes.Equal(s, s1) {
			t.Fatalf("ParseAddress(%q) = %d, %q, %q, %t", a, space, p, s, ok)
		}
		if at := store.SortOffset(a); !bytes.Equal(a[at:], s1) || len(a) != store.AddressLen(p1, s1) {
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
		if space, p, s, ok := store.ParseAddress(s1, s2); ok {
			if again := store.AppendAddress(nil, space, p, s); !bytes.Equal(again, s1) {
				t.Fatalf("ParseAddress(%q) encodes again as %q", s1, again)
			}
		}
	})
}
