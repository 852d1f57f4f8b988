package item_test

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/item"
	"github.com/sortkey/sortkey/internal/tests/proptest"
)

func TestUnionAndDifference(t *testing.T) {
	for _, tt := range []struct{ a, b, union, difference string }{
		{`{"SS":["a","c"]}`, `{"SS":["b"]}`, `{"SS":["a","b","c"]}`, `{"SS":["a","c"]}`},
		{`{"SS":["a"]}`, `{"SS":["a"]}`, `{"SS":["a"]}`, `{}`},
		{`{"SS":["","a"]}`, `{"SS":["a","z"]}`, `{"SS":["","a","z"]}`, `{"SS":[""]}`},
		{`{"NS":["10","2","-1"]}`, `{"NS":["1e1","3.0"]}`, `{"NS":["-1","2","3","10"]}`, `{"NS":["-1","2"]}`},
		{`{"BS":["AQI="]}`, `{"BS":["AQ==","Ag=="]}`, `{"BS":["AQ==","AQI=","Ag=="]}`, `{"BS":["AQI="]}`},
		{`{"SS":["a"]}`, `{"NS":["1"]}`, `{}`, `{}`},
		{`{"L":[]}`, `{"L":[]}`, `{}`, `{}`},
		{`{"S":"a"}`, `{"S":"a"}`, `{}`, `{}`},
	} {
		a, err := attr.ParseValue([]byte(tt.a))
		require.NoError(t, err)
		b, err := attr.ParseValue([]byte(tt.b))
		require.NoError(t, err)
		for _, c := range []struct {
			name string
			got  attr.Value
			want string
		}{{"Union", union(a, b), tt.union}, {"Difference", difference(a, b), tt.difference}} {
			if got := string(c.got.AppendJSON(nil)); got != c.want {
				t.Errorf("%s(%s, %s) = %s, want %s", c.name, tt.a, tt.b, got, c.want)
			}
			if !c.got.IsZero() {
				var build attr.Builder
				build.Add("v", c.got)
				_, err := item.Check(build.Item())
				require.NoError(t, err)
			}
		}
	}
}

func union(a, b attr.Value) attr.Value {
	if a.Kind() != b.Kind() || !a.Kind().IsSet() {
		return attr.Value{}
	}
	return attr.MakeValue(a.Kind(), item.AppendUnion(nil, a, b))
}

func difference(a, b attr.Value) attr.Value {
	if a.Kind() != b.Kind() || !a.Kind().IsSet() {
		return attr.Value{}
	}
	raw, ok := item.AppendDifference(nil, a, b)
	if !ok {
		return attr.Value{}
	}
	return attr.MakeValue(a.Kind(), raw)
}

func TestDepth(t *testing.T) {
	for _, tt := range []struct {
		json string
		want int
	}{
		{`{"S":"a"}`, 1},
		{`{"SS":["a"]}`, 1},
		{`{"L":[]}`, 1},
		{`{"M":{"a":{"S":"x"},"b":{"L":[{"L":[]},{"L":[{"NULL":true}]}]}}}`, 4},
		{`{"M":{"a":{"L":[{"L":[]},{"NULL":true}]},"b":{"S":"x"}}}`, 3},
	} {
		v, err := attr.ParseValue([]byte(tt.json))
		require.NoError(t, err)
		if got := item.Depth(v); got != tt.want {
			t.Errorf("Depth(%s) = %d, want %d", tt.json, got, tt.want)
		}
	}
}

// small returns a short value of a random kind, or the zero Value.
func small(t *proptest.T) attr.Value {
	switch n := t.IntN(6); n {
	case 0:
		return attr.Value{}
	case 1:
		return attr.NewNull()
	case 2:
		return attr.NewList(attr.NewString("x"), attr.NewBool(true))
	case 3:
		v, _ := attr.NewNumber("12.5")
		return v
	default:
		return attr.NewString(strings.Repeat("s", n))
	}
}

// Changing an item must equal building it anew with the changes.
func TestAppendWith(t *testing.T) {
	proptest.Check(t, 100, func(t *proptest.T) {
		want := map[string]attr.Value{}
		var b attr.Builder
		name := func(t *proptest.T) string { return t.Text("abcdef", 1, 2) }
		for _, name := range proptest.SliceOf(t, 0, 8, name) {
			if v := small(t); !v.IsZero() {
				b.Add(name, v)
				want[name] = v
			}
		}
		old := b.Item()
		if b.Len() == 0 && t.Bool() {
			old = nil
		}
		names := proptest.SliceOf(t, 0, 6, name)
		slices.Sort(names)
		names = slices.Compact(names)
		var changes []item.Change
		for _, name := range names {
			v := small(t)
			changes = append(changes, item.Change{Name: name, Value: v})
			want[name] = v
		}
		b.Reset()
		for name, v := range want {
			b.Add(name, v)
		}
		got := item.AppendWith([]byte("head"), old, changes)
		item, err := item.Check(got[4:])
		if err != nil || string(got[:4]) != "head" || string(item) != string(b.Item()) {
			t.Fatalf("%s with %v = %s, %v", old.AppendJSON(nil), changes, attr.Item(got[4:]).AppendJSON(nil), err)
		}
	})
}

// Changing a list must equal building it anew with the changes.
func TestAppendListWith(t *testing.T) {
	proptest.Check(t, 100, func(t *proptest.T) {
		var elems []attr.Value
		for range t.IntN(6) {
			if v := small(t); !v.IsZero() {
				elems = append(elems, v)
			}
		}
		old := attr.NewList(elems...)
		indexes := proptest.Shuffle(t, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9})[:t.IntN(6)]
		slices.Sort(indexes)
		kept := slices.Clone(elems)
		var changes []item.ListChange
		for _, i := range indexes {
			v := small(t)
			changes = append(changes, item.ListChange{Index: i, Value: v})
			if i < len(elems) {
				kept[i] = v
			} else {
				kept = append(kept, v)
			}
		}
		kept = slices.DeleteFunc(kept, attr.Value.IsZero)
		want := attr.NewList(kept...)
		got := attr.MakeValue(attr.List, item.AppendListWith(nil, old, changes))
		if !attr.Equal(got, want) {
			t.Fatalf("%s with %v = %s, want %s", old, changes, got, want)
		}
		joined := attr.MakeValue(attr.List, item.AppendConcat(nil, old, got))
		if !attr.Equal(joined, attr.NewList(slices.Concat(elems, kept)...)) {
			t.Fatalf("%s and %s = %s", old, got, joined)
		}
	})
}

// TestWidths changes items, lists and sets so that the numbers in their documents become wider and narrower. The
// result must be the same as if it were built anew from its parts.
func TestWidths(t *testing.T) {
	lengths := []int{0, 1, 2, 14, 15, 16, 140, 141, 142, 143, 144, 16380, 16396, 16397, 16398, 16399, 16400, 65535}
	text := func(t *proptest.T) string {
		n := proptest.Pick(t, lengths...)
		if t.Bool() { // so that the length of the whole document is close to a limit
			n = proptest.Pick(t, 255, 65535) - t.IntN(40)
		}
		return strings.Repeat("x", n)
	}
	proptest.Check(t, 200, func(t *proptest.T) {
		old, want := map[string]attr.Value{}, map[string]attr.Value{}
		var changes []item.Change
		for i := range 1 + t.IntN(4) {
			name := text(t)
			if len(name) < attr.MaxNameBytes {
				name = string(rune('a'+i)) + name
			}
			before, after := attr.Value{}, attr.NewString(text(t))
			if t.Bool() {
				before = attr.NewString(text(t))
				old[name], want[name] = before, before
			}
			switch t.IntN(3) {
			case 0:
				after = attr.Value{}
				fallthrough
			case 1:
				changes = append(changes, item.Change{Name: name, Value: after})
				want[name] = after
			}
		}
		slices.SortFunc(changes, func(a, b item.Change) int { return strings.Compare(a.Name, b.Name) })
		changes = slices.CompactFunc(changes, func(a, b item.Change) bool { return a.Name == b.Name })
		for _, c := range changes {
			want[c.Name] = c.Value
		}

		build := func(of map[string]attr.Value) (attr.Item, []attr.Value) {
			var b attr.Builder
			var elems []attr.Value
			size := 0
			for _, name := range slices.Sorted(maps.Keys(of)) {
				if v := of[name]; !v.IsZero() {
					b.Add(name, v)
					elems = append(elems, v)
					size += len(name) + v.Size()
				}
			}
			it := b.Item()
			if it.Size() != size || it.Len() != len(elems) {
				t.Fatalf("%d attributes of %d bytes, want %d of %d", it.Len(), it.Size(), len(elems), size)
			}
			for name, v := range it.All() {
				if !attr.Equal(v, of[string(name)]) || !attr.Equal(it.Get(string(name)), v) {
					t.Fatalf("%.20s of %d bytes has another value", name, len(name))
				}
			}
			return it, elems
		}
		from, elems := build(old)
		to, rest := build(want)
		checked := func(what string, got, want []byte) {
			if !bytes.Equal(got, want) {
				t.Fatalf("%s: %d bytes, want %d: %.80x, want %.80x", what, len(got), len(want), got, want)
			}
		}
		checked("AppendWith", item.AppendWith(nil, from, changes), to)
		checked("AppendOnly", item.AppendOnly(nil, to, func([]byte) bool { return true }), to)
		checked("AppendConcat", item.AppendConcat(nil, attr.NewList(elems...), attr.NewList(rest...)),
			attr.NewList(slices.Concat(elems, rest)...).Raw())
		var removed []item.ListChange
		for i := range elems {
			removed = append(removed, item.ListChange{Index: i})
		}
		for i, v := range rest {
			removed = append(removed, item.ListChange{Index: len(elems) + i, Value: v})
		}
		checked("AppendListWith", item.AppendListWith(nil, attr.NewList(elems...), removed), attr.NewList(rest...).Raw())
		if _, err := item.Check(to); err != nil {
			t.Fatalf("%.80x: %v", []byte(to), err)
		}
		again, err := attr.ParseItem(to.AppendJSON(nil))
		if err != nil || !attr.Item.Equal(again, to) {
			t.Fatalf("JSON reads back as %.80x: %v", []byte(again), err)
		}
	})
}

// TestWideSets joins and parts sets that grow beyond each width.
func TestWideSets(t *testing.T) {
	set := func(n, each, from int) attr.Value {
		var elems []attr.Value
		for i := range n {
			elems = append(elems, attr.NewString(fmt.Sprintf("%0*d", each, from+i)))
		}
		v, err := attr.NewSet(attr.StringSet, elems...)
		require.NoError(t, err)
		return v
	}
	for _, tt := range []struct{ n, each int }{
		{2, 4}, {40, 5}, {62, 3}, {63, 3}, {64, 3}, {130, 3}, {300, 218}, {300, 400},
	} {
		a, b := set(tt.n, tt.each, 0), set(tt.n, tt.each, tt.n)
		both := union(a, b)
		require.Equal(t, set(2*tt.n, tt.each, 0), both, "%d of %d bytes", tt.n, tt.each)
		require.Equal(t, a, difference(both, b))
		require.Equal(t, b, difference(both, a))
	}
}

// TestAppendOnly compares AppendOnly with a builder, for items with few and
// with many attributes.
func TestAppendOnly(t *testing.T) {
	for _, n := range []int{0, 1, 5, 63, 64, 65, 200} {
		var all attr.Builder
		for i := range n {
			all.Add(fmt.Sprintf("a%03d", i), attr.NewString(strings.Repeat("x", i%7)))
		}
		it := all.Item()
		for _, step := range []int{1, 2, 3, 500} {
			keep := func(name []byte) bool {
				var i int
				_, err := fmt.Sscanf(string(name), "a%d", &i)
				return err == nil && (i+1)%step == 0
			}
			var want attr.Builder
			for name, v := range it.All() {
				if keep(name) {
					want.AddBytes(name, v)
				}
			}
			got := item.AppendOnly([]byte("before"), it, keep)
			if string(got) != "before"+string(want.Item()) {
				t.Errorf("AppendOnly of %d attributes, every %d: %x, want %x", n, step, got[6:], want.Item())
			}
		}
	}
}
