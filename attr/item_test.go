package attr_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/item"
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
