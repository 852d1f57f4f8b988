package attr_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/item"
)

var kindNames = []string{"S", "N", "B", "SS", "NS", "BS", "BOOL", "NULL", "L", "M"}

func TestKind(t *testing.T) {
	for i, name := range kindNames {
		k, ok := attr.ParseKind(name)
		if !ok || k != attr.Kind(i+1) || k.String() != name {
			t.Errorf("ParseKind(%s) = %v, %v", name, k, ok)
		}
		if got, want := k.IsSet(), len(name) == 2 && name[1] == 'S'; got != want {
			t.Errorf("%s.IsSet() = %v, want %v", name, got, want)
		}
		if got, want := k.IsScalar(), i < 3; got != want {
			t.Errorf("%s.IsScalar() = %v, want %v", name, got, want)
		}
		want := ""
		if k.IsSet() {
			want = name[:1]
		}
		if got := k.Elem().String(); got != want {
			t.Errorf("%s.Elem() = %s, want %s", name, got, want)
		}
	}
	for _, name := range []string{"", "s", "LL", "NULLS"} {
		if k, ok := attr.ParseKind(name); ok || k != 0 {
			t.Errorf("ParseKind(%q) = %v, %v", name, k, ok)
		}
	}
	for _, k := range []attr.Kind{0, 11, 255} {
		if got := k.String(); got != "" {
			t.Errorf("Kind(%d).String() = %q", k, got)
		}
	}
}

// TestValueAccessors checks that accessors of other kinds return zero values and
// never panic.
func TestValueAccessors(t *testing.T) {
	it := must(t, everyKind)
	values := []attr.Value{{}}
	for _, v := range it.All() {
		values = append(values, v)
	}
	for _, v := range values {
		wantLen := map[string]int{"bs": 2, "l": 3, "m": 2, "ns": 3, "ss": 2}[strings.ToLower(v.Kind().String())]
		if got := v.Len(); got != wantLen {
			t.Errorf("%v has length %d, want %d", v, got, wantLen)
		}
		if v.IsZero() != (v.Kind() == 0) || v.Bool() != (v.Kind() == attr.Bool) ||
			(v.Map() != nil) != (v.Kind() == attr.Map) {
			t.Errorf("%v: zero %v, truth %v, map %v", v, v.IsZero(), v.Bool(), v.Map())
		}
		for _, i := range []int{-1, wantLen, 1 << 40} {
			if e := v.Index(i); !e.IsZero() {
				t.Errorf("%v has %v at %d", v, e, i)
			}
		}
		for i := range v.Len() {
			e := v.Index(i)
			if v.Kind() != attr.Map && (e.IsZero() || v.Kind().IsSet() && !v.Has(e)) {
				t.Errorf("%v at %d of %v is not one of it", e, i, v)
			}
		}
		if got := string(v.AppendNumber([]byte("-"))); got != "-" && v.Kind() != attr.Number {
			t.Errorf("%v has the number %s", v, got)
		}
		if !attr.Equal(v, v) || attr.Equal(v, attr.NewString("other")) {
			t.Errorf("%v does not equal itself alone", v)
		}
	}
	if got := (attr.Value{}).String() + string(attr.Value{}.AppendJSON(nil)); got != "{}{}" {
		t.Errorf("no value prints %s", got)
	}
	if got := (attr.Value{}).Size(); got != 0 {
		t.Errorf("no value has size %d", got)
	}
}

func TestNew(t *testing.T) {
	num := func(text string) attr.Value {
		v, err := attr.NewNumber(text)
		require.NoError(t, err)
		return v
	}
	set := func(k attr.Kind, elems ...attr.Value) attr.Value {
		v, err := attr.NewSet(k, elems...)
		require.NoError(t, err)
		return v
	}
	s := attr.NewString
	for _, tt := range []struct {
		v    attr.Value
		want string
	}{
		{s("x"), `{"S":"x"}`},
		{s("x\xffy\xff\xfe"), `{"S":"x` + "\uFFFDy\uFFFD\uFFFD" + `"}`},
		{num("1.50"), `{"N":"1.5"}`},
		{attr.NewBinary([]byte{0xFF}), `{"B":"/w=="}`},
		{attr.NewBinary(nil), `{"B":""}`},
		{attr.NewBool(false), `{"BOOL":false}`},
		{attr.NewNull(), `{"NULL":true}`},
		{attr.NewList(), `{"L":[]}`},
		{attr.NewList(s("b"), s("a"), s("b")), `{"L":[{"S":"b"},{"S":"a"},{"S":"b"}]}`},
		{attr.NewMap(nil), `{"M":{}}`},
		{attr.NewMap(must(t, `{"a":{"S":"x"}}`)), `{"M":{"a":{"S":"x"}}}`},
		{set(attr.StringSet, s("b"), s("")), `{"SS":["","b"]}`},
		{set(attr.NumberSet, num("10"), num("-2"), num("9")), `{"NS":["-2","9","10"]}`},
		{set(attr.BinarySet, attr.NewBinary([]byte{2}), attr.NewBinary([]byte{1, 1})), `{"BS":["AQE=","Ag=="]}`},
	} {
		if got := string(tt.v.AppendJSON(nil)); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
	elems := []attr.Value{s("b"), s("a")}
	set(attr.StringSet, elems...)
	if elems[0].String() != "{S:b}" {
		t.Error("NewSet sorted the caller's slice")
	}
	for _, tt := range []struct {
		kind  attr.Kind
		elems []attr.Value
		want  string
	}{
		{attr.StringSet, nil, "One or more parameter values were invalid: An string set  may not be empty"},
		{
			attr.StringSet, []attr.Value{s("a"), s("a")},
			`One or more parameter values were invalid: Input collection ["a", "a"] contains duplicates.`,
		},
		{
			attr.NumberSet, []attr.Value{num("1"), num("1E0")},
			"One or more parameter values were invalid: Input collection contains duplicates.",
		},
		{attr.NumberSet, []attr.Value{s("1")}, "a set of kind NS cannot hold a value of kind S"},
		{attr.NumberSet, []attr.Value{{}}, "a set of kind NS cannot hold a value of kind "},
		{attr.String, nil, "kind S is not a set"},
		{0, []attr.Value{{}}, "kind  is not a set"},
	} {
		v, err := attr.NewSet(tt.kind, tt.elems...)
		if e, ok := errors.AsType[*attr.Error](err); !ok || e.Syntax || e.Msg != tt.want || !v.IsZero() {
			t.Errorf("NewSet(%v, %v) = %v, %v, want %s", tt.kind, tt.elems, v, err, tt.want)
		}
	}
}

// TestCompareOrder checks the order of DG/HowItWorks.NamingRulesDataTypes.html:
// strings by UTF-8 bytes, binary by unsigned bytes, a prefix first.
func TestCompareOrder(t *testing.T) {
	for _, ascending := range []string{
		`[{"S":""},{"S":"A"},{"S":"Z"},{"S":"a"},{"S":"aa"},{"S":"z"},{"S":"¿"},{"S":"` + "\uFFFD" + `"},{"S":"😀"}]`,
		`[{"B":""},{"B":"AA=="},{"B":"AAA="},{"B":"fw=="},{"B":"gA=="},{"B":"/w=="},{"B":"/wA="}]`,
		`[{"N":"-9.99e125"},{"N":"-100"},{"N":"-99.5"},{"N":"-99"},{"N":"-10"},{"N":"-1.1"},{"N":"-1"},{"N":"-0.1"},` +
			`{"N":"-1e-130"},{"N":"0"},{"N":"1e-130"},{"N":"0.09"},{"N":"0.1"},{"N":"1"},{"N":"1.01"},{"N":"9"},` +
			`{"N":"10"},{"N":"99"},{"N":"100"},{"N":"99999999999999999999999999999999999998"},` +
			`{"N":"99999999999999999999999999999999999999"},{"N":"1e125"}]`,
	} {
		list, err := attr.ParseValue([]byte(`{"L":` + ascending + `}`))
		require.NoError(t, err)
		for i := range list.Len() {
			for j := range list.Len() {
				want := 0
				if i < j {
					want = -1
				} else if i > j {
					want = 1
				}
				if got, ok := attr.Compare(list.Index(i), list.Index(j)); !ok || got != want {
					t.Errorf("Compare(%v, %v) = %d, %v, want %d", list.Index(i), list.Index(j), got, ok, want)
				}
			}
		}
	}
}

func TestBuilderNames(t *testing.T) {
	long := strings.Repeat("é", attr.MaxNameBytes/2+10)
	var b attr.Builder
	b.Add(long, attr.NewBool(true))
	b.Add("a", attr.NewBool(false))
	b.AddBytes([]byte("b"), attr.NewNull())
	b.AddBytes([]byte("none"), attr.Value{})
	if got := b.Len(); got != 3 {
		t.Errorf("Len = %d, want 3", got)
	}
	it, err := item.Check(b.AppendItem([]byte("before"))[len("before"):])
	require.NoError(t, err)
	var names []string
	for name := range it.All() {
		names = append(names, string(name))
	}
	if want := []string{"a", "b", long[:attr.MaxNameBytes-1]}; !slices.Equal(names, want) {
		t.Errorf("names are %.20q", names)
	}
	if got := string((&attr.Builder{}).Item().AppendJSON(nil)); got != "{}" {
		t.Errorf("an empty builder makes %s", got)
	}
}

func TestCutKey(t *testing.T) {
	for _, key := range []string{"", "a", "a\x00", "a\x00\x02", "\xff\x00", "\x00\xff"} {
		if _, rest, ok := item.CutKey(nil, []byte(key)); ok || rest != nil {
			t.Errorf("CutKey(%q) found a component before %q", key, rest)
		}
	}
	payload, rest, ok := item.CutKey([]byte("x"), []byte("a\x00\xffb\x00\x01\x00"))
	if string(payload) != "xa\x00b" || string(rest) != "\x00" || !ok {
		t.Errorf("CutKey = %q, %q, %v", payload, rest, ok)
	}
}
