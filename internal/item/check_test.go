package item_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/item"
	"github.com/sortkey/sortkey/internal/tests/proptest"
)

// form builds a document by hand, with the least width: a count and a size, and then the given offsets and elements.
func form(count, size byte, rest ...any) []byte {
	b := []byte{1, count, size}
	for _, r := range rest {
		switch r := r.(type) {
		case int:
			b = append(b, byte(r))
		case string:
			b = append(b, r...)
		}
	}
	return b
}

func TestCheck(t *testing.T) {
	set := func(elems ...string) string {
		at, offsets := 3+len(elems), []any{}
		for _, e := range elems {
			offsets = append(offsets, at)
			at += len(e)
		}
		return string(form(byte(len(elems)), byte(len(strings.Join(elems, ""))),
			append(offsets, strings.Join(elems, ""))...))
	}
	x300, name15, name143 := strings.Repeat("x", 300), strings.Repeat("n", 15), strings.Repeat("n", 143)
	for _, tt := range []struct {
		name string
		in   []byte
		want bool
	}{
		{"nothing", nil, true},
		{"no attributes", form(0, 0), true},
		{"one string", form(1, 2, 4, "\x11ax"), true},
		{"two strings", form(2, 4, 5, 8, "\x11ax\x11bx"), true},
		{"a string set", form(1, 3, 4, "\x41a"+set("x", "y")), true},
		{"a name of 14 bytes", form(1, 15, 4, "\x8e"+name15[1:]), true},
		{"a name of 15 bytes", form(1, 16, 4, "\x8f\x00"+name15), true},
		{"a name of 143 bytes", form(1, 144, 4, "\x8f\x80\x01"+name143), true},
		{"two bytes wide", []byte("\x02\x01\x00\x2d\x01\x07\x00\x11a" + x300), true},

		{"one byte", []byte{1}, false},
		{"half a head", []byte{1, 0}, false},
		{"half a wide head", []byte{4, 0, 0, 0, 0, 0, 0, 0}, false},
		{"a width of zero", []byte("\x00\x00\x00"), false},
		{"a width of three", []byte("\x03\x00\x00\x00\x00\x00\x00"), false},
		{"a width of 255", []byte("\xff\x00\x00"), false},
		{"wider than needed", []byte("\x02\x01\x00\x02\x00\x07\x00\x11ax"), false},
		{"much wider than needed", []byte("\x04\x00\x00\x00\x00\x00\x00\x00\x00"), false},
		{"not wide enough", []byte("\x01\x01\x2d\x04\x11a" + x300), false},
		{"a short name with a long length", form(1, 2, 4, "\x8f\x01a"), false},
		{"the length of a name in more bytes than needed", form(1, 16, 4, "\x8f\x80\x00"+name15), false},
		{"the length of a name cut short", form(1, 1, 4, "\x8f\x80"), false},
		{"the length of a name missing", form(1, 1, 4, "\x8f"), false},
		{"the length of a name beyond 64 bits", form(1, 1, 4, "\x8f"+strings.Repeat("\xff", 9)+"\x7f"), false},
		{"a name of many bytes", form(1, 1, 4, "\x8f"+strings.Repeat("\xff", 9)+"\x01"), false},
		{"the length of a name beyond 64 bits with the rest", // a name of 1 byte, if the sum wraps around
			form(1, 2, 4, "\x1f\xf2"+strings.Repeat("\xff", 8)+"\x01ax"), false},
		{"bytes after no attributes", append(form(0, 0), 0), false},
		{"a size without attributes", form(0, 1), false},
		{"fewer bytes than offsets", form(2, 0, 5), false},
		{"a count of many", form(255, 0), false},
		{"a wide count of many", []byte("\x04\xff\xff\xff\xff\x00\x00\x00\x00"), false},
		{"a wrong size", form(1, 3, 4, "\x11ax"), false},
		{"a gap before the first", form(1, 2, 5, "-\x11ax"), false},
		{"an offset into the head", form(1, 2, 1, "\x11ax"), false},
		{"offsets that fall", form(2, 4, 5, 4, "\x11ax\x11bx"), false},
		{"an offset past the end", form(2, 4, 5, 99, "\x11ax\x11bx"), false},
		{"names in another order", form(2, 4, 5, 8, "\x11bx\x11ax"), false},
		{"a name twice", form(2, 4, 5, 8, "\x11ax\x11ax"), false},
		{"a name past its end", form(1, 2, 4, "\x13ax"), false},
		{"an attribute without bytes", form(1, 0, 4), false},
		{"no name", form(1, 1, 4, "\x10x"), false},
		{"a name that is not UTF-8", form(1, 2, 4, "\x11\xffx"), false},
		{"kind zero", form(1, 1, 4, "\x01a"), false},
		{"an unknown kind", form(1, 1, 4, "\xb1a"), false},
		{"a string that is not UTF-8", form(1, 2, 4, "\x11a\xff"), false},
		{"a number without bytes", form(1, 2, 4, "\x21a"), false},
		{"a number with a zero in front", form(1, 3, 4, "\x21a\xc1\x01\x02"), false},
		{"a number with a zero behind", form(1, 3, 4, "\x21a\xc1\x02\x01"), false},
		{"a number of 40 digits", form(1, 22, 4, "\x21a\xff"+strings.Repeat("\x0c", 20)), false},
		{"a negative number without its end", form(1, 4, 4, "\x21a\x3e\x63"), false},
		{"a boolean of two", form(1, 2, 4, "\x71a\x02"), false},
		{"a boolean without bytes", form(1, 2, 4, "\x71a"), false},
		{"null with bytes", form(1, 2, 4, "\x81a-"), false},
		{"an empty set", form(1, 1, 4, "\x41a"+set()), false},
		{"a set in another order", form(1, 3, 4, "\x41a"+set("y", "x")), false},
		{"a set with equal members", form(1, 3, 4, "\x41a"+set("x", "x")), false},
		{"a list with an empty element", form(1, 5, 4, "\x91a"+set("")), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := item.Check(tt.in); (err == nil) != tt.want {
				t.Errorf("Check(%x) = %v", tt.in, err)
			}
		})
	}
}

// TestCheckNesting checks that Check accepts as many levels as the wire format,
// and no more.
func TestCheckNesting(t *testing.T) {
	for _, leaf := range []attr.Value{attr.NewString("leaf"), attr.NewList()} {
		v := leaf
		for range attr.MaxNesting - 1 {
			v = attr.NewList(v)
		}
		var b attr.Builder
		b.Add("a", v)
		if _, err := item.Check(b.Item()); err != nil {
			t.Errorf("32 levels around %v: %v", leaf, err)
		}
		b.Add("a", attr.NewList(v))
		if _, err := item.Check(b.Item()); err == nil {
			t.Errorf("33 levels around %v are accepted", leaf)
		}
	}
}

// randomValue returns a value of any kind with at most depth levels.
func randomValue(r *rand.Rand, depth int) attr.Value {
	text := func() string {
		return strings.Repeat(string([]rune{rune(r.IntN(0x80)), 'a' + rune(r.IntN(26)), 0x20 + rune(r.IntN(0xD000))}),
			r.IntN(8))
	}
	elems := func(of func() attr.Value) (out []attr.Value) {
		seen := map[string]bool{}
		for range 1 + r.IntN(20) {
			if v := of(); !seen[string(v.Raw())] {
				seen[string(v.Raw())] = true
				out = append(out, v)
			}
		}
		return out
	}
	number := func() attr.Value {
		v, err := attr.NewNumber(numberText(r))
		if err != nil {
			panic(err)
		}
		return v
	}
	set := func(k attr.Kind, elems []attr.Value) attr.Value {
		v, err := attr.NewSet(k, elems...)
		if err != nil {
			panic(err)
		}
		return v
	}
	kinds := 10
	if depth <= 1 {
		kinds = 8
	}
	switch attr.Kind(1 + r.IntN(kinds)) {
	case attr.String:
		return attr.NewString(text())
	case attr.Number:
		return number()
	case attr.Binary:
		return attr.NewBinary([]byte(text()))
	case attr.StringSet:
		return set(attr.StringSet, elems(func() attr.Value { return attr.NewString(text()) }))
	case attr.NumberSet:
		return set(attr.NumberSet, elems(number))
	case attr.BinarySet:
		return set(attr.BinarySet, elems(func() attr.Value { return attr.NewBinary([]byte(text())) }))
	case attr.Bool:
		return attr.NewBool(r.IntN(2) == 0)
	case attr.List:
		var list []attr.Value
		for range r.IntN(6) {
			list = append(list, randomValue(r, depth-1))
		}
		return attr.NewList(list...)
	case attr.Map:
		return attr.NewMap(randomItem(r, depth-1))
	}
	return attr.NewNull()
}

// numberText returns the text of a random number that can be stored.
func numberText(r *rand.Rand) string {
	digits := make([]byte, 1+r.IntN(38))
	for i := range digits {
		digits[i] = '0' + byte(r.IntN(10))
	}
	return []string{"", "-"}[r.IntN(2)] + string(digits[:1]) + "." + string(digits[1:]) + "e" +
		[]string{"-9", "-1", "0", "7", "88"}[r.IntN(5)]
}

func randomItem(r *rand.Rand, depth int) attr.Item {
	var b attr.Builder
	for range r.IntN(12) {
		b.Add(strings.Repeat(string(rune('a'+r.IntN(26))), 1+r.IntN(29)), randomValue(r, depth))
	}
	return b.Item()
}

func properties(tests int) *gopter.Properties {
	return gopter.NewProperties(proptest.Parameters(tests))
}

// TestItems checks that every item passes Check, and can be printed, parsed again and rebuilt with the same bytes. It
// also checks that its size is the sum of the sizes of its parts.
func TestItems(t *testing.T) {
	properties := properties(1000)
	items := gen.UInt64().Map(func(seed uint64) attr.Item { return randomItem(rand.New(rand.NewPCG(seed, 1)), 5) })
	properties.Property("well formed", prop.ForAll(func(it attr.Item) bool {
		_, err := item.Check(it)
		return err == nil
	}, items))
	properties.Property("JSON reads back", prop.ForAll(func(it attr.Item) bool {
		again, err := attr.ParseItem(it.AppendJSON(nil))
		return err == nil && bytes.Equal(again, it)
	}, items))
	properties.Property("built again", prop.ForAll(func(it attr.Item) bool {
		var b attr.Builder
		size := 0
		for i := it.Len() - 1; i >= 0; i-- {
			name, v := it.At(i)
			b.AddBytes(name, rebuilt(v))
			size += len(name) + v.Size()
		}
		return bytes.Equal(b.Item(), it) && size == it.Size()
	}, items))
	// An item may end in a number that has the same size without its last two digits. Then the rest is an item too.
	properties.Property("truncated bytes are refused or mean something else", prop.ForAll(func(
		it attr.Item, seed uint64,
	) bool {
		n := int(seed % uint64(len(it)))
		cut, err := item.Check(it[:n])
		if err != nil || n == 0 {
			return true
		}
		again, err := attr.ParseItem(cut.AppendJSON(nil))
		return noName(err) || err == nil && bytes.Equal(again, it[:n])
	}, items, gen.UInt64()))
	properties.TestingRun(t)
}

// noName reports whether err is about an empty attribute name. Requests cannot contain one, but bytes can.
func noName(err error) bool {
	e, ok := errors.AsType[*attr.Error](err)
	return ok && e.Msg == "Empty attribute name"
}

// rebuilt builds v again from its elements.
func rebuilt(v attr.Value) attr.Value {
	var elems []attr.Value
	for i := range v.Len() {
		elems = append(elems, v.Index(i))
	}
	switch {
	case v.Kind().IsSet():
		elems = append(elems[1:], elems[0])
		set, err := attr.NewSet(v.Kind(), elems...)
		if err != nil {
			panic(err)
		}
		return set
	case v.Kind() == attr.List:
		for i := range elems {
			elems[i] = rebuilt(elems[i])
		}
		return attr.NewList(elems...)
	case v.Kind() == attr.Map:
		var b attr.Builder
		for name, e := range v.Map().All() {
			b.AddBytes(name, rebuilt(e))
		}
		return attr.NewMap(b.Item())
	}
	return v
}

// TestDecodeConcurrently checks that pooled readers do not share memory with
// the items that they return.
func TestDecodeConcurrently(t *testing.T) {
	for seed := range uint64(8) {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 3))
			var items []attr.Item
			var texts [][]byte
			for range 100 {
				text := randomItem(r, 5).AppendJSON(nil)
				it, err := attr.ParseItem(text)
				require.NoError(t, err)
				items, texts = append(items, it), append(texts, text)
			}
			for i, it := range items {
				if got := it.AppendJSON(nil); !bytes.Equal(got, texts[i]) {
					t.Fatalf("seed %d: item %d became %s, was %s", seed, i, got, texts[i])
				}
			}
		})
	}
}
