package store_test

import (
	"bytes"
	"crypto/md5"
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
			default: // skip to the last segment; its First is then not compared with the one before
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
