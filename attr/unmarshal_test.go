package attr_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/netip"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/item"
)

func parsed(t testing.TB, json string) attr.Value {
	t.Helper()
	v, err := attr.ParseValue([]byte(json))
	require.NoError(t, err)
	return v
}

func TestUnmarshal(t *testing.T) {
	type level struct{ Inner ***level }
	for _, tt := range []struct {
		in   string
		want any
	}{
		{`{"S":"a"}`, "a"},
		{`{"S":"a"}`, ptr(ptr("a"))},
		{`{"S":"a"}`, any("a")},
		{`{"S":"1e3"}`, json.Number("1e3")},
		{`{"N":"-128"}`, int8(-128)},
		{`{"N":"255"}`, uint8(255)},
		{`{"N":"18446744073709551615"}`, uint64(18446744073709551615)},
		{`{"N":"0.1"}`, float32(0.1)},
		{`{"N":"1e125"}`, 1e125},
		{`{"N":"1.50"}`, "1.5"},
		{`{"N":"1.50"}`, json.Number("1.5")},
		{`{"N":"1"}`, any(1.0)},
		{`{"BOOL":true}`, true},
		{`{"B":"AQI="}`, []byte{1, 2}},
		{`{"B":""}`, []byte{}},
		{`{"B":"AQI="}`, bits{1, 2}},
		{`{"B":"AQI="}`, []octet{1, 2}},
		{`{"B":"AQI="}`, [2]byte{1, 2}},
		{`{"NULL":true}`, (*int)(nil)},
		{`{"NULL":true}`, 0},
		{`{"NULL":true}`, attr.NewNull()},
		{`{"NULL":true}`, UnixTime{}},
		{`{"L":[{"N":"1"},{"NULL":true}]}`, []int{1, 0}},
		{`{"L":[{"N":"1"},{"NULL":true}]}`, []*int{ptr(1), nil}},
		{`{"L":[]}`, []int{}},
		{`{"L":[{"N":"1"},{"N":"2"}]}`, [1]int{1}},
		{`{"L":[{"N":"1"}]}`, [2]int{1}},
		{`{"L":[{"N":"1"}]}`, []byte{1}},
		{`{"SS":["a","b"]}`, []string{"a", "b"}},
		{`{"SS":["a","b"]}`, []any{"a", "b"}},
		{`{"NS":["1","2"]}`, []int{1, 2}},
		{`{"NS":["1","2"]}`, [2]string{"1", "2"}},
		{`{"BS":["AQ=="]}`, [][1]byte{{1}}},
		{`{"M":{"a":{"N":"1"}}}`, map[string]int{"a": 1}},
		{`{"M":{"-1":{"S":"a"}}}`, map[int8]string{-1: "a"}},
		{`{"M":{"1e+21":{"NULL":true}}}`, map[float64]string{1e21: ""}},
		{`{"M":{"true":{"N":"1"}}}`, map[bool]int{true: 1}},
		{`{"M":{"::1":{"N":"1"}}}`, map[netip.Addr]int{netip.MustParseAddr("::1"): 1}},
		{`{"S":"2024-02-29T12:00:00.5+01:00"}`, noon},
		{`{"N":"1709204400"}`, time.Unix(1709204400, 0)},
		{`{"N":"1709204400"}`, when(time.Unix(1709204400, 0))},
		{`{"N":"1709204400"}`, UnixTime(time.Unix(1709204400, 0))},
		{`{"S":"10.0.0.1"}`, netip.MustParseAddr("10.0.0.1")},
		{`{"M":{}}`, netip.Addr{}},
		{`{"B":"CgAAAQ=="}`, netip.MustParseAddr("10.0.0.1")},
		{`{"B":"AQ=="}`, sealed{1}},
		{`{"S":"12"}`, big.NewInt(12)},
		{`{"S":"20.5 °C"}`, celsius(20.5)},
		{`{"NULL":true}`, celsius(-1)},
		{`{"SS":["1 °C","2 °C"]}`, []celsius{1, 2}},
		{`{"L":[{"S":"a"}]}`, parsed(t, `{"L":[{"S":"a"}]}`)},
		{`{"M":{"a":{"S":"b"}}}`, must(t, `{"a":{"S":"b"}}`)},
		{`{"M":{"Inner":{"M":{}}}}`, level{ptr(ptr(&level{}))}},
		{
			`{"M":{"b":{"B":"AQ=="},"bs":{"BS":["AQ=="]},"l":{"L":[{"NULL":true},{"BOOL":true}]},` +
				`"m":{"M":{}},"n":{"N":"1"},"ns":{"NS":["1"]},"o":{"NULL":true},"s":{"S":"a"},"ss":{"SS":["a"]}}}`,
			any(map[string]any{
				"b": []byte{1}, "bs": [][]byte{{1}}, "l": []any{nil, true}, "m": map[string]any{}, "n": 1.0,
				"ns": []float64{1}, "o": nil, "s": "a", "ss": []string{"a"},
			}),
		},

		{`{"M":{"a":{"N":"1"},"b":{"N":"2"},"-":{"N":"3"},"c":{"N":"4"}}}`, struct {
			A int `dynamodbav:"a"`
			B int `dynamodbav:"-"`
		}{A: 1}},
		{`{"M":{"NAME":{"S":"a"},"name":{"S":"b"}}}`, struct{ Name string }{"b"}}, // the last of several
		{`{"M":{"NAME":{"S":"a"},"Name":{"S":"b"},"name":{"S":"c"}}}`, struct{ Name string }{"b"}},
		{`{"M":{"nAME":{"S":"a"}}}`, struct {
			Name string `dynamodbav:"name"`
			Twin string `dynamodbav:"Name"`
		}{Name: "a"}}, // the first field
		{`{"M":{"A":{"S":"1"},"B":{"S":"2.5"},"C":{"S":"7"},"D":{"S":"text"},"E":{"S":"60"},"F":{"N":"3"}}}`, struct {
			A int8      `dynamodbav:",string"`
			B float64   `dynamodbav:",string"`
			C any       `dynamodbav:",string"`
			D string    `dynamodbav:",string"`
			E time.Time `dynamodbav:",string"`
			F int       `dynamodbav:",string"`
		}{1, 2.5, 7.0, "text", time.Unix(60, 0), 3}},
		{`{"M":{"A":{"N":"60"},"B":{"S":"2024-02-29T12:00:00.5+01:00"}}}`, struct {
			A, B time.Time `dynamodbav:",unixtime"`
		}{time.Unix(60, 0), noon}},
		{`{"M":{"id":{"S":"x"},"A":{"S":"z"},"b":{"S":"y"}}}`, struct {
			*Base
			inner
			A string
		}{&Base{ID: "x"}, inner{"y"}, "z"}},
		{`{"M":{"inner":{"M":{"B":{"S":"y"}}}}}`, struct {
			inner `dynamodbav:"inner"`
		}{inner{"y"}}},
		{`{"M":{"inner":{"NULL":true}}}`, struct {
			inner `dynamodbav:"inner"`
		}{}},
	} {
		t.Run(fmt.Sprintf("%s into %T", tt.in, tt.want), func(t *testing.T) {
			v := parsed(t, tt.in)
			got := reflect.New(reflect.TypeOf(tt.want))
			require.NoError(t, attr.Unmarshal(v, got.Interface()))
			want, isValue := tt.want.(attr.Value)
			if isValue && !attr.Equal(*got.Interface().(*attr.Value), want) ||
				!isValue && !reflect.DeepEqual(got.Elem().Interface(), tt.want) {
				t.Errorf("Unmarshal(%s) = %+v, want %+v", tt.in, got.Elem(), tt.want)
			}
			if v.Kind() != attr.Map {
				return
			}
			again := reflect.New(reflect.TypeOf(tt.want))
			require.NoError(t, attr.UnmarshalItem(v.Map(), again.Interface()))
			if !reflect.DeepEqual(again.Interface(), got.Interface()) {
				t.Errorf("UnmarshalItem(%s) = %+v, want %+v", tt.in, again.Elem(), tt.want)
			}
		})
	}
}

// TestUnmarshalOver checks how decoding changes a destination that is not empty.
func TestUnmarshalOver(t *testing.T) {
	pointed, tags := 1, []string{"old", "old"}
	dst := struct {
		Kept    string
		Pointer *int
		Tags    []string
		Rows    []Base
		Array   [2]int
		Map     map[string]int
		Any     any
		Held    any
		HeldMap any
		Gone    any
	}{
		"kept", &pointed, tags, []Base{{A: 1}}, [2]int{1, 2}, map[string]int{"a": 1, "b": 2}, "old", &Base{ID: "x"},
		map[string]int{"c": 3}, &pointed,
	}
	held := dst.Held.(*Base)
	require.NoError(t, attr.UnmarshalItem(must(t,
		`{"Pointer":{"N":"7"},"Tags":{"SS":["new"]},"Rows":{"L":[{"M":{"id":{"S":"y"}}}]},`+
			`"Array":{"L":[{"N":"9"}]},"Map":{"M":{"b":{"N":"3"}}},"Any":{"S":"new"},"Held":{"M":{"A":{"N":"5"}}},`+
			`"HeldMap":{"M":{"d":{"N":"4"}}},`+
			`"Gone":{"NULL":true}}`), &dst))

	require.Equal(t, "kept", dst.Kept)
	require.Equal(t, 7, pointed, "a pointer is followed")
	require.Equal(t, []string{"new"}, dst.Tags)
	require.Equal(t, []string{"old", "old"}, tags, "a slice is new")
	require.Equal(t, []Base{{ID: "y"}}, dst.Rows)
	require.Equal(t, [2]int{9, 0}, dst.Array)
	require.Equal(t, map[string]int{"a": 1, "b": 3}, dst.Map)
	require.Equal(t, "new", dst.Any)
	require.Equal(t, &Base{ID: "x", A: 5}, held, "a pointer in an interface is followed")
	require.Equal(t, map[string]int{"c": 3, "d": 4}, dst.HeldMap)
	require.Nil(t, dst.Gone)
}

// TestUnmarshalCopies checks that nothing shares bytes with the item.
func TestUnmarshalCopies(t *testing.T) {
	type all struct {
		B   []byte
		S   string
		V   attr.Value
		I   attr.Item
		Any any
		M   map[string]bits
	}
	it := must(t, `{"B":{"B":"AQI="},"S":{"S":"text"},"V":{"S":"value"},"I":{"M":{"a":{"S":"b"}}},"Any":{"B":"AQI="},`+
		`"M":{"M":{"k":{"B":"AQI="}}}}`)
	var got, want all
	require.NoError(t, attr.UnmarshalItem(it, &got))
	require.NoError(t, attr.UnmarshalItem(append(attr.Item{}, it...), &want))
	clear(it)
	require.Equal(t, want, got)
}

// TestUnmarshalStrings checks that the strings of a small item share one allocation, and those of a large one do not.
func TestUnmarshalStrings(t *testing.T) {
	type texts struct{ A, B, C string }
	for _, tt := range []struct {
		c      string
		allocs float64
	}{{"short", 1}, {strings.Repeat("x", 3*64), 3}} {
		want := texts{"aa", "é", tt.c}
		it, err := attr.MarshalItem(want)
		require.NoError(t, err)
		var got texts
		require.Equal(t, tt.allocs, testing.AllocsPerRun(100, func() { err = attr.UnmarshalItem(it, &got) }))
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

func TestUnmarshalRefused(t *testing.T) {
	var self any
	self = &self
	var tied knot
	type hidden struct {
		*inner
	}
	const advice = "; change the type of the field, or the attribute"
	const number = "; use a type that holds it, such as float64 or string"
	for _, tt := range []struct {
		in   string
		dst  any
		want string
	}{
		{
			`{"S":"a"}`,
			nil, "cannot decode S into nil: the destination is not a pointer to a variable; " +
				"pass the address of one, such as &x",
		},
		{
			`{"S":"a"}`,
			"", "cannot decode S into string: the destination is not a pointer to a variable; " +
				"pass the address of one, such as &x",
		},
		{
			`{"S":"a"}`,
			(*string)(
				nil,
			), "cannot decode S into *string: the destination is not a pointer to a variable; " +
				"pass the address of one, such as &x",
		},
		{`{"S":"a"}`, new(int), "cannot decode S into int" + advice},
		{`{"S":"a"}`, new(chan int), "cannot decode S into chan int" + advice},
		{`{"S":"a"}`, new([]byte), "cannot decode S into []uint8" + advice},
		{`{"N":"1"}`, new(bool), "cannot decode N into bool" + advice},
		{`{"BOOL":true}`, new(int), "cannot decode BOOL into int" + advice},
		{`{"B":"AQI="}`, new(string), "cannot decode B into string" + advice},
		{
			`{"B":"AQI="}`, new([3]byte),
			"cannot decode B into [3]uint8: 2 bytes do not fit; use a slice, or an array of that length",
		},
		{`{"L":[]}`, new(map[string]int), "cannot decode L into map[string]int" + advice},
		{`{"SS":["a"]}`, new(string), "cannot decode SS into string" + advice},
		{`{"M":{}}`, new([]int), "cannot decode M into []int" + advice},
		{`{"L":[]}`, new(attr.Item), "cannot decode L into attr.Item" + advice},
		{`{"N":"1.5"}`, new(int), `cannot decode N into int: "1.5" does not fit` + number},
		{`{"N":"-1"}`, new(uint), `cannot decode N into uint: "-1" does not fit` + number},
		{`{"N":"300"}`, new(int8), `cannot decode N into int8: "300" does not fit` + number},
		{
			`{"N":"1e40"}`, new(float32),
			`cannot decode N into float32: "1000000000000000000000000000000000000000"… does not fit` + number,
		},
		{`{"N":"1.5"}`, new(time.Time), `cannot decode N into time.Time: "1.5" does not fit` + number},
		{`{"S":"noon"}`, new(time.Time),
			`cannot decode S into time.Time: "noon" is not a time: parsing time "noon" as ` +
				`"2006-01-02T15:04:05Z07:00": cannot parse "noon" as "2006"; store times as RFC ` +
				`3339, or as seconds in an N`},
		{`{"S":"2024-02-29T12:00:00Z"}`, new(UnixTime), "cannot decode S into attr_test.UnixTime" + advice},
		{
			`{"S":"localhost"}`, new(netip.Addr),
			`cannot decode S into netip.Addr: ParseAddr("localhost"): unable to parse IP`,
		},
		{`{"B":"AQI="}`, new(netip.Addr), `cannot decode B into netip.Addr: unexpected slice size`},
		{`{"S":"20"}`, new(celsius), "cannot decode S into attr_test.celsius: no unit"},
		{
			`{"S":"20"}`,
			new(
				sdkOnly,
			), "cannot decode S into attr_test.sdkOnly: only the AWS SDK knows its form; add the method UnmarshalAttr",
		},
		{
			`{"S":"x"}`,
			new(
				fmt.Stringer,
			), "cannot decode S into fmt.Stringer: the interface has methods; " +
				"store a pointer in it before, or use another type",
		},
		{
			`{"S":"x"}`,
			&self, "cannot decode S into interface {}: too many interfaces inside each other; " +
				"flatten the value, and look for pointers that form a cycle",
		},
		{
			`{"S":"x"}`, &tied,
			"cannot decode S into attr_test.knot: the type is a pointer to pointers without end; use another type",
		},
		{`{"M":{"a":{"L":[{"S":"x"},{"M":{"b":{"SS":["y"]}}}]}}}`, new(map[string][]any), ""},
		{
			`{"M":{"a":{"L":[{"M":{}},{"M":{"b":{"SS":["y"]}}}]}}}`, new(map[string][]map[string][]int),
			"a[1].b[0]: cannot decode S into int" + advice,
		},
		{
			`{"M":{"x":{"N":"1"}}}`, new(map[int]int),
			`cannot decode M into map[int]int: cannot make a key of "x": "x" does not fit the type of the keys`,
		},
		{
			`{"M":{"x":{"N":"1"}}}`, new(map[bool]int),
			`cannot decode M into map[bool]int: cannot make a key of "x": strconv.ParseBool: ` +
				`parsing "x": invalid syntax`,
		},
		{
			`{"M":{"x":{"N":"1"}}}`, new(map[any]int),
			`cannot decode M into map[interface {}]int: cannot make a key of "x": ` +
				"keys of this type have no text; use strings, numbers, booleans or a type with " +
				"MarshalText and UnmarshalText",
		},
		{
			`{"M":{"B":{"S":"x"}}}`, new(hidden),
			"B: cannot decode S into string: the type of the embedded field is not exported; export it",
		},
		{
			`{"M":{"inner":{"M":{}}}}`, &struct {
				*inner `dynamodbav:"inner"`
			}{}, "inner: cannot decode M into *attr_test.inner: " +
				"the type of the embedded field is not exported; export it",
		},
		{
			`{"M":{"t":{"N":"1"}}}`, &struct {
				hiddenTime `dynamodbav:"t"`
			}{}, "t: cannot decode N into attr_test.hiddenTime: " +
				"the type of the embedded field is not exported; export it",
		},
		{
			`{"M":{}}`, &struct {
				A int
				time.Time
			}{}, "cannot decode M into struct { A int; time.Time }: the content of the embedded time.Time would be lost; " +
				"name it in its tag",
		},
		{
			`{"M":{}}`, &struct {
				Left
				Right
			}{}, "cannot decode M into struct { attr_test.Left; attr_test.Right }: " +
				`two fields have the name "id"; name one of them, or the struct that embeds it, in its tag`,
		},
		{
			`{"M":{}}`, &struct {
				A int `dynamodbav:"a, omitempty"`
			}{}, `cannot decode M into struct { A int "dynamodbav:\"a, omitempty\"" }: the tag of field A has ` +
				`the unknown option " omitempty"; use one of binaryset, nullempty, nullemptyelem, numberset, omitempty, ` +
				`omitemptyelem, string, stringset, unixtime`,
		},
		{
			`{"M":{"A":{"S":"x"}}}`, &struct {
				A any `dynamodbav:",string"`
			}{}, `A: cannot decode S into interface {}: "x" does not fit` + number,
		},
	} {
		t.Run(fmt.Sprintf("%s into %T", tt.in, tt.dst), func(t *testing.T) {
			err := attr.Unmarshal(parsed(t, tt.in), tt.dst)
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			e, ok := errors.AsType[*attr.ConvertError](err)
			require.True(t, ok, "%v", err)
			if e.Error() != tt.want || e.Kind == 0 {
				t.Errorf("error of Unmarshal = %v\nwant %s", e, tt.want)
			}
		})
	}
}

// TestUnmarshalNothing decodes the zero Value, which acts like NULL, and the nil Item.
func TestUnmarshalNothing(t *testing.T) {
	n, m := 1, map[string]int(nil)
	require.NoError(t, attr.Unmarshal(attr.Value{}, &n))
	require.Zero(t, n)
	require.NoError(t, attr.UnmarshalItem(nil, &m))
	require.NotNil(t, m)
	_, err := attr.MarshalItem(nil)
	require.EqualError(t, err,
		"cannot encode nil: an item cannot be of kind NULL; pass a struct or a map that is not nil")
	_, err = attr.MarshalItem("text")
	require.EqualError(t, err,
		"cannot encode string: an item cannot be of kind S; pass a struct or a map that is not nil")
}

// TestUnmarshalDeep decodes values with more levels than can be stored.
func TestUnmarshalDeep(t *testing.T) {
	v := attr.NewString("x")
	for range attr.MaxNesting {
		v = attr.NewList(v)
	}
	var list []any
	require.ErrorIs(t, attr.Unmarshal(v, &list), attr.ErrNesting)
	type lists []lists
	require.ErrorIs(t, attr.Unmarshal(v, new(lists)), attr.ErrNesting)

	words := map[*word]int{}
	require.NoError(t, attr.UnmarshalItem(must(t, `{"a":{"N":"1"}}`), &words))
	for w, n := range words {
		require.Equal(t, "a1", w.text+fmt.Sprint(n))
	}
}

// TestConcurrentPlans makes the plans of new types in several goroutines at the same time.
func TestConcurrentPlans(t *testing.T) {
	type node struct {
		Value int
		Kids  []*node `dynamodbav:",omitempty"`
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			want := node{1, []*node{{2, nil}, {3, []*node{{4, nil}}}}}
			it, err := attr.MarshalItem(want)
			if err != nil {
				t.Error(err)
			}
			var got node
			if err := attr.UnmarshalItem(it, &got); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
	wg.Wait()
}

// everyForm has a field of each form.
type everyForm struct {
	S       string `dynamodbav:"s"`
	N       int8   `dynamodbav:"n"`
	U       *uint16
	F       float32
	B       []byte `dynamodbav:"b"`
	Array   [2]octet
	Bool    bool `dynamodbav:"bool"`
	L       []any
	M       map[int]*everyForm `dynamodbav:"m"`
	SS      []string           `dynamodbav:"ss,stringset"`
	NS      []json.Number      `dynamodbav:"ns,numberset"`
	BS      [][]byte           `dynamodbav:"bs"`
	Time    time.Time
	Seconds time.Time `dynamodbav:",unixtime"`
	Addr    netip.Addr
	Number  int `dynamodbav:",string"`
	Own     celsius
	Value   attr.Value `dynamodbav:"null"`
	Item    attr.Item
	Any     any `dynamodbav:"l"`
	*Base
}

// FuzzUnmarshal decodes any bytes, even those that are not an item, into several types. If they are an item, decoding
// it into values loses nothing, and the values can be encoded and decoded again.
func FuzzUnmarshal(f *testing.F) {
	for _, text := range []string{
		everyKind, `{}`, nested(attr.MaxNesting),
		`{"N":{"N":"300"},"m":{"M":{"7":{"M":{"Addr":{"S":"::1"}}}}},"id":{"S":"x"}}`,
	} {
		f.Add([]byte(must(f, text)))
	}
	f.Add([]byte{1, 0, 0, 0, 0, 0, 0, 0, 12, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		it, checkErr := item.Check(b)
		var values map[string]attr.Value
		err := attr.UnmarshalItem(b, &values)
		again, againErr := attr.MarshalItem(values)
		if checkErr == nil && (err != nil || againErr != nil || !again.Equal(it)) {
			// A request cannot contain an attribute without a name, but bytes can.
			if it.Get("").IsZero() {
				t.Fatalf("%s became %s: %v, %v", it.AppendJSON(nil), again.AppendJSON(nil), err, againErr)
			}
		}

		for _, dst := range []any{
			new(everyForm), new(any), new(map[string]everyForm), new(map[netip.Addr]any), new([]int),
		} {
			if attr.UnmarshalItem(b, dst) != nil {
				continue
			}
			stored, err := attr.Marshal(dst)
			if err != nil {
				continue // a key without text, or two equal elements
			}
			if err := attr.Unmarshal(stored, reflect.New(reflect.TypeOf(dst).Elem()).Interface()); err != nil {
				t.Fatalf("%s as %T is %v, which cannot be decoded: %v", attr.Item(b).AppendJSON(nil), dst, stored, err)
			}
		}
		for _, kind := range []attr.Kind{attr.List, attr.StringSet, attr.Number, 200} {
			var dst []any
			_ = attr.Unmarshal(attr.MakeValue(kind, b), &dst)
		}
	})
}

// TestDamaged checks that bytes that are cut off anywhere are refused or decoded, without a panic.
func TestDamaged(t *testing.T) {
	it := must(t, strings.Replace(everyKind, `{"b":`, `{"Any":{"M":{"x":{"L":[{"SS":["a"]}]}}},"b":`, 1))
	for n := range it {
		for _, dst := range []any{new(everyForm), new(map[string]any)} {
			_ = attr.UnmarshalItem(it[:n], dst)
			changed := append(attr.Item{}, it...)
			changed[n] ^= 0x81
			_ = attr.UnmarshalItem(changed, dst)
		}
	}
	var dst everyForm
	err := attr.UnmarshalItem(it[:20], &dst)
	require.EqualError(t, err, "cannot decode M into attr_test.everyForm: the stored bytes are damaged")
}

// TestPlainFields checks fields of plain types, which are converted in one step where that is exact. Their values and
// errors must be the same as those of values that are not in a struct.
func TestPlainFields(t *testing.T) {
	type flag bool
	type fields struct {
		B flag    `dynamodbav:"b,omitempty"`
		F float64 `dynamodbav:"f,omitempty"`
		G float32 `dynamodbav:"g"`
		I int8    `dynamodbav:"i,omitempty"`
		S string  `dynamodbav:"s,omitempty"`
		T int     `dynamodbav:"t,string"`
		U uint16  `dynamodbav:"u,omitempty"`
	}
	for _, tt := range []struct{ name, item, want string }{
		{"texts", `{"b":{"BOOL":true},"s":{"S":"x"},"t":{"S":"7"}}`, `{true 0 0 0 x 7 0}`},
		{"numbers", `{"f":{"N":"1.5"},"g":{"N":"3"},"i":{"N":"-128"},"u":{"N":"65535"}}`, `{false 1.5 3 -128  0 65535}`},
		{"none", `{}`, `{false 0 0 0  0 0}`},
		{"exact float", `{"f":{"N":"9007199254740991"}}`, `{false 9.007199254740991e+15 0 0  0 0}`},
		{"rounded float", `{"f":{"N":"9007199254740993"}}`, `{false 9.007199254740992e+15 0 0  0 0}`},
		{"rounded float32", `{"g":{"N":"16777217"}}`, `{false 0 1.6777216e+07 0  0 0}`},
		{"int8 is too large", `{"i":{"N":"128"}}`, `"128" does not fit`},
		{"negative uint", `{"u":{"N":"-1"}}`, `"-1" does not fit`},
		{"uint16 is too large", `{"u":{"N":"65536"}}`, `"65536" does not fit`},
		{"fraction", `{"i":{"N":"1.5"}}`, `"1.5" does not fit`},
		{"null", `{"b":{"NULL":true},"f":{"NULL":true},"i":{"NULL":true},"s":{"NULL":true},"u":{"NULL":true}}`,
			`{false 0 0 0  0 0}`},
		{"number in a string", `{"s":{"N":"12"}}`, `{false 0 0 0 12 0 0}`},
		{"text in a bool", `{"b":{"S":"true"}}`, `b: cannot decode S into attr_test.flag`},
		{"bool in a string", `{"s":{"BOOL":true}}`, `s: cannot decode BOOL into string`},
		{"other case", `{"S":{"S":"x"}}`, `{false 0 0 0 x 0 0}`},
	} {
		it := must(t, tt.item)
		var got fields
		if err := attr.UnmarshalItem(it, &got); err != nil {
			require.ErrorContains(t, err, tt.want, tt.name)
			continue
		}
		require.Equal(t, tt.want, fmt.Sprint(got), tt.name)

		again, err := attr.MarshalItem(got)
		require.NoError(t, err, tt.name)
		var back fields
		require.NoError(t, attr.UnmarshalItem(again, &back), tt.name)
		require.Equal(t, got, back, tt.name)
	}

	_, err := attr.MarshalItem(fields{S: "\xff"})
	require.ErrorContains(t, err, "UTF-8")
}
