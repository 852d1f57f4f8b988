package attr_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/tests/proptest"
)

// TestChangedBytes gives each byte of each item each value. The changed item must be refused, or be another item that
// can be read.
func TestChangedBytes(t *testing.T) {
	proptest.SkipShort(t)
	accepted := 0
	for _, text := range []string{
		everyKind, nested(5), `{"a":{"S":""}}`,
		`{"a":{"L":[{"M":{"b":{"NS":["-1.5","0","1e100"]}}},{"L":[]},{"M":{}},{"BOOL":false},{"NULL":true}]}}`,
		`{"é":{"SS":["a","é","😀"]},"n":{"N":"-1234567890123456789012345678901234567"},"s":{"S":"` +
			strings.Repeat("é", 20) + `"}}`,
	} {
		it := must(t, text)
		changed := bytes.Clone(it)
		for i := range it {
			for b := range 256 {
				if changed[i] = byte(b); takes(t, changed) {
					accepted++
				}
			}
			changed[i] = it[i]
		}
	}
	require.Positive(t, accepted, "one letter in place of another makes an item")
}

// FuzzOutside checks the same for any bytes.
func FuzzOutside(f *testing.F) {
	f.Add([]byte(must(f, everyKind)))
	f.Fuzz(func(t *testing.T, b []byte) { takes(t, b) })
}

// takes reports whether an item from outside is accepted. If it is, takes checks that the copy can be read in each
// way, and that there is no other form of the same item.
func takes(t *testing.T, b []byte) bool {
	t.Helper()
	if len(b) == 0 {
		return false // an empty item may also have its longer form
	}
	it, err := attr.MarshalItem(attr.Item(b))
	if err != nil {
		_, err := attr.Marshal(attr.MakeValue(attr.Map, b))
		require.Error(t, err, "%x", b)
		return false
	}

	for _, dst := range []any{new(everyForm), new(any), new(map[string]attr.Value)} {
		_ = attr.UnmarshalItem(it, dst)
	}
	_, _ = attr.NewMap(it).String(), it.Size()
	again, err := attr.ParseItem(it.AppendJSON(nil))
	if err != nil || !bytes.Equal(again, b) {
		t.Fatalf("%x is accepted, but %s is %x, %v", b, it.AppendJSON(nil), again, err)
	}
	require.NotSame(t, &b[0], &it[0], "the copy shares the caller's bytes")
	return true
}

// TestOtherBytes checks that bytes which are not the beginning of an item have length 0, and that a value of an
// unknown kind is refused.
func TestOtherBytes(t *testing.T) {
	for _, b := range []string{
		"", "\x00", "\x01\x02", "\x00\x00\x00", "\x03\x00\x00\x00\x00\x00\x00", "\x00\x00\x00\x00\x00\x00",
		"\x02\x00\x00\x00", "\x04\x01\x00\x00\x00\x00\x00\x00", "\xff\x01\x00",
	} {
		it := attr.Item(b)
		require.Zero(t, it.Len()+it.Size(), "%x", b)
		require.True(t, it.Equal(nil), "%x", b)
		require.Zero(t, attr.MakeValue(attr.List, it).Len(), "%x", b)
		_, err := attr.MarshalItem(attr.Item(b))
		require.Equal(t, b == "", err == nil, "%x", b)
	}

	for _, kind := range []attr.Kind{0x0b, 0x0f, 0x10, 0x11, 0x13, 0x18, 0xff} {
		var b attr.Builder
		b.Add("a", attr.MakeValue(kind, nil))
		_, err := attr.MarshalItem(b.Item())
		require.Error(t, err, "kind %d", kind)
	}
}
