package attr_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/item"
	"github.com/sortkey/sortkey/internal/item/number"
	"github.com/sortkey/sortkey/internal/tests/proptest"
)

func must(t testing.TB, json string) attr.Item {
	t.Helper()
	it, err := attr.ParseItem([]byte(json))
	require.NoError(t, err)
	return it
}

// Source of the sizes: DG/CapacityUnitCalculations.html; the first row is its
// example.
func TestSize(t *testing.T) {
	for in, want := range map[string]int{
		`{"shirt-color":{"S":"R"},"shirt-size":{"S":"M"}}`: 23,
		`{}`:                                 0,
		`{"a":{"S":"é"}}`:                    3,
		`{"é":{"S":"a"}}`:                    3,
		`{"a":{"B":"AAH/"}}`:                 4,
		`{"a":{"BOOL":true}}`:                2,
		`{"a":{"NULL":true}}`:                2,
		`{"a":{"N":"12"}}`:                   3,
		`{"a":{"SS":["x","yz"]}}`:            4,
		`{"a":{"L":[]}}`:                     4,
		`{"a":{"L":[{"S":"x"},{"S":"y"}]}}`:  8,
		`{"a":{"M":{}}}`:                     4,
		`{"a":{"M":{"bc":{"S":"x"}}}}`:       8,
		`{"a":{"L":[{"M":{"b":{"S":""}}}]}}`: 10,
	} {
		if got := must(t, in).Size(); got != want {
			t.Errorf("size of %s = %d, want %d", in, got, want)
		}
	}
}

func TestItemGet(t *testing.T) {
	it := must(t, everyKind)
	for name, v := range it.All() {
		if got := it.Get(string(name)); !attr.Equal(got, v) {
			t.Errorf("Get(%s) = %v, want %v", name, got, v)
		}
	}
	for _, name := range []string{"", "a", "zz", "bo", "ns "} {
		if v := it.Get(name); !v.IsZero() {
			t.Errorf("Get(%q) = %v, want none", name, v)
		}
	}
	if v := attr.Item(nil).Get("a"); !v.IsZero() {
		t.Errorf("nil item has %v", v)
	}
}

func TestBuilder(t *testing.T) {
	var b attr.Builder
	for i := range 3 {
		b.Reset()
		b.Add("z", attr.NewString("old"))
		b.Add("a", attr.NewBool(true))
		b.Add("z", attr.NewString("new"))
		b.Add("none", attr.Value{})
		if got, want := string(b.Item().AppendJSON(nil)), `{"a":{"BOOL":true},"z":{"S":"new"}}`; got != want {
			t.Errorf("round %d: %s, want %s", i, got, want)
		}
	}
}

func TestSets(t *testing.T) {
	set := must(t, `{"a":{"NS":["10","-5","0.5"]}}`).Get("a")
	for text, want := range map[string]bool{"10": true, "1e1": true, "-5": true, "0.50": true, "5": false} {
		n, err := attr.NewNumber(text)
		require.NoError(t, err)
		if got := set.Has(n); got != want {
			t.Errorf("Has(%s) = %v, want %v", text, got, want)
		}
	}
	if set.Has(attr.NewString("10")) {
		t.Error("a number set has a string")
	}
	if _, err := attr.NewSet(attr.StringSet, attr.NewBool(true)); err == nil {
		t.Error("a string set accepts a BOOL")
	}
}

func TestEqualAndCompare(t *testing.T) {
	a := must(t, `{"v":{"M":{"s":{"SS":["b","a"]},"n":{"N":"1.0"}}}}`)
	b := must(t, `{"v":{"M":{"n":{"N":"1"},"s":{"SS":["a","b"]}}}}`)
	if !a.Equal(b) {
		t.Error("documents that differ in order only are not equal")
	}
	if _, ok := attr.Compare(attr.NewString("a"), attr.NewBinary([]byte("a"))); ok {
		t.Error("S and B have an order")
	}
	if _, ok := attr.Compare(attr.NewBool(true), attr.NewBool(false)); ok {
		t.Error("BOOL has an order")
	}
}

// TestKeyTuples checks that tuples sort by their values, whatever bytes those
// contain.
func TestKeyTuples(t *testing.T) {
	p := gopter.NewProperties(proptest.Parameters(10_000))
	component := gen.SliceOf(gen.OneConstOf(byte(0), byte(1), byte(2), byte('a'), byte(0xFE), byte(0xFF)))
	tuple := gen.SliceOfN(2, component)
	encode := func(parts [][]byte) (out []byte) {
		for _, p := range parts {
			out = item.AppendKey(out, attr.NewBinary(p))
		}
		return out
	}
	p.Property("order", prop.ForAll(func(a, b [][]byte) bool {
		return bytes.Compare(encode(a), encode(b)) == slices.CompareFunc(a, b, bytes.Compare)
	}, tuple, tuple))
	p.Property("inverse", prop.ForAll(func(a [][]byte) bool {
		rest := encode(a)
		for _, want := range a {
			got, r, ok := item.CutKey(nil, rest)
			if !ok || !bytes.Equal(got, want) {
				return false
			}
			rest = r
		}
		return len(rest) == 0
	}, tuple))
	p.Property("prefix", prop.ForAll(func(a, p []byte) bool {
		return bytes.HasPrefix(item.AppendKey(nil, attr.NewBinary(a)),
			item.AppendKeyPrefix(nil, p)) == bytes.HasPrefix(a, p)
	}, component, component))
	p.TestingRun(t)
}

func FuzzKey(f *testing.F) {
	f.Add([]byte("a\x00b"), []byte("a"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		x, y := item.AppendKey(nil, attr.NewBinary(a)), item.AppendKey(nil, attr.NewBinary(b))
		if bytes.Compare(x, y) != bytes.Compare(a, b) {
			t.Fatalf("keys of %q and %q are in another order", a, b)
		}
		if got, rest, ok := item.CutKey(nil, x); !ok || len(rest) != 0 || !bytes.Equal(got, a) {
			t.Fatalf("CutKey(%q) = %q, %q, %v", x, got, rest, ok)
		}
		item.CutKey(nil, a) // a is not a key: must not panic
	})
}

// FuzzItem checks that an item accepted by Check can be walked, printed and read
// back.
func FuzzItem(f *testing.F) {
	it, err := attr.ParseItem([]byte(everyKind))
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(it))
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		it, err := item.Check(b)
		if err != nil {
			return
		}
		for name, v := range it.All() {
			if !attr.Equal(it.Get(string(name)), v) {
				t.Fatalf("Get(%q) is not what At says", name)
			}
		}
		again, err := attr.ParseItem(it.AppendJSON(nil))
		if err != nil || !again.Equal(it) {
			t.Fatalf("%x reads back as %x, %v", b, []byte(again), err)
		}
	})
}

func TestAllocations(t *testing.T) {
	it := must(t, everyKind)
	n, err := attr.NewNumber("123.45")
	require.NoError(t, err)
	ns, l, s, buf, in := it.Get("ns"), it.Get("l"), it.Get("s"), make([]byte, 0, 1024), []byte(everyKind)
	for name, f := range map[string]func(){
		"Get":              func() { it.Get("ns") },
		"At":               func() { it.At(3) },
		"All":              func() { walk(it) },
		"Index":            func() { l.Index(2) },
		"Item.Size":        func() { it.Size() },
		"AppendJSON":       func() { buf = it.AppendJSON(buf[:0]) },
		"AppendNumber":     func() { buf = n.AppendNumber(buf[:0]) },
		"AppendNumberText": func() { buf = number.AppendText(buf[:0], n.Raw()) },
		"Has":              func() { ns.Has(n) },
		"Size":             func() { n.Size() },
		"Compare":          func() { attr.Compare(n, n) },
		"Equal":            func() { attr.Equal(l, l) },
		"AppendKey":        func() { buf = item.AppendKey(buf[:0], s) },
		"AppendText":       func() { buf = l.AppendText(buf[:0]) },
		"parsing a number": func() { buf, _ = attr.AppendNumber(buf[:0], "-12345.678e9") },
	} {
		if got := testing.AllocsPerRun(100, f); got != 0 {
			t.Errorf("%s allocates %v times, want 0", name, got)
		}
	}
	// One for the item, and occasionally one for a reader that the pool dropped.
	if got := testing.AllocsPerRun(100, func() { _, _ = attr.ParseItem(in) }); got > 2 && !raceEnabled {
		t.Errorf("ParseItem allocates %v times, want 1", got)
	}
}

func walk(it attr.Item) (n int) {
	for _, v := range it.All() {
		n += v.Len()
	}
	return n
}

func TestText(t *testing.T) {
	it := must(t, everyKind)
	var out []string
	for _, v := range it.All() {
		out = append(out, v.String())
	}
	want := "{B:AAH/} {BOOL:true} {BS:[AA==, /w==]} {L:[{S:x}, {L:[]}, {M:{k={N:1}}}]} {M:{a={S:}, z={NULL:true}}} " +
		"{N:-12.5} {NS:[-1, 2, 10]} {NULL:true} {S:héllo \"😀\"\n} {SS:[a, b]}"
	if got := strings.Join(out, " "); got != want {
		t.Errorf("texts = %s\nwant    %s", got, want)
	}
}
