package attr_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/item"
)

// Package fuzz compares Marshal and Unmarshal with package attributevalue of the AWS SDK.

// A celsius chooses its own form.
type celsius float64

func (c celsius) MarshalAttr() (attr.Value, error) {
	switch {
	case c < -273.15:
		return attr.Value{}, errors.New("colder than cold")
	case c == 0:
		return attr.Value{}, nil
	}
	return attr.NewString(big.NewFloat(float64(c)).String() + " °C"), nil
}

func (c *celsius) UnmarshalAttr(v attr.Value) error {
	if v.Kind() == attr.Null {
		*c = -1
		return nil
	}
	text, ok := strings.CutSuffix(string(v.Raw()), " °C")
	if !ok {
		return errors.New("no unit")
	}
	return json.Unmarshal([]byte(text), c)
}

// A counter counts the calls of its method, which has a pointer receiver.
type counter struct{ calls int }

func (c *counter) MarshalAttr() (attr.Value, error) {
	c.calls++
	return attr.NewNumber("1")
}

// A nestedLists is stored as lists inside each other, with as many levels as its value.
type nestedLists int

func (n nestedLists) MarshalAttr() (attr.Value, error) {
	v := attr.NewList()
	for range n - 1 {
		v = attr.NewList(v)
	}
	return v, nil
}

// A damaged is stored as bytes that are not a stored value.
type damaged []byte

func (d damaged) MarshalAttr() (attr.Value, error) { return attr.MakeValue(attr.Map, d), nil }

type (
	color  int
	digits string
	bits   []byte
	octet  byte
	when   time.Time

	// UnixTime has methods with the names of those of attributevalue.UnixTime.
	UnixTime time.Time
	// An sdkOnly chooses its form only for the SDK.
	sdkOnly string

	Base struct {
		ID string `dynamodbav:"id"`
		A  int
	}
	inner      struct{ B string }
	sealed     struct{ b byte }
	hiddenTime time.Time
	rival      struct{ A, B int }
	tagged     struct {
		X int `dynamodbav:"A"`
	}
	Left  struct{ Base }
	Right struct{ Base }
	// A pointer to Crowd is embedded, so that it can be nil. Other fields hide its fields.
	Crowd struct{ A []int }
	// Circle embeds itself.
	Circle struct {
		*Circle
		A int
	}

	shade string
	money struct{ cents int64 } //lint:ignore U1000 what nothing reads is lost
	// A label has a text that nothing reads.
	label struct{ text string }
)

func (s shade) String() string { return string(s) }

func (l label) MarshalText() ([]byte, error) { return []byte(l.text), nil }

func (c color) String() string { return []string{"red", "green"}[c] }

func (s sealed) MarshalBinary() ([]byte, error) { return []byte{s.b}, nil }

func (s *sealed) UnmarshalBinary(data []byte) error {
	s.b = data[0]
	return nil
}

// A pointer to a word can be a key of a map.
type word struct{ text string }

func (w *word) MarshalText() ([]byte, error) { return []byte(w.text), nil }

func (w *word) UnmarshalText(text []byte) error {
	w.text = string(text)
	return nil
}

func (digits) Float64() (float64, error) { return 0, nil }
func (digits) Int64() (int64, error)     { return 0, nil }
func (d digits) String() string          { return string(d) }

func (UnixTime) MarshalDynamoDBAttributeValue() (any, error) { return nil, nil }
func (*UnixTime) UnmarshalDynamoDBAttributeValue(any) error  { return nil }
func (sdkOnly) MarshalDynamoDBAttributeValue() (any, error)  { return nil, nil }
func (*sdkOnly) UnmarshalDynamoDBAttributeValue(any) error   { return nil }

var noon = time.Date(2024, 2, 29, 12, 0, 0, 5e8, time.FixedZone("", 3600))

func ptr[T any](v T) *T { return &v }

func TestMarshal(t *testing.T) {
	longest := strings.Repeat("x", attr.MaxNameBytes)
	for _, tt := range []struct {
		name string
		in   any
		want string
	}{
		{"nil", nil, `{"NULL":true}`},
		{"bool", true, `{"BOOL":true}`},
		{"string", "é", `{"S":"é"}`},
		{"int", math.MinInt64, `{"N":"-9223372036854775808"}`},
		{"uint", uint64(math.MaxUint64), `{"N":"18446744073709551615"}`},
		{"float32", float32(0.1), `{"N":"0.1"}`},
		{"float64", 1e21, `{"N":"1000000000000000000000"}`},
		{"number in a string", json.Number("1.50"), `{"N":"1.5"}`},
		{"number in our own string", digits("7"), `{"N":"7"}`},
		{"bytes", []byte{1}, `{"B":"AQ=="}`},
		{"bytes with a type", bits{1}, `{"B":"AQ=="}`},
		{"slice of bytes with a type", []octet{1}, `{"B":"AQ=="}`},
		{"array of bytes", [2]byte{1, 2}, `{"B":"AQI="}`},
		{"pointer to an array of bytes", &[2]byte{1, 2}, `{"B":"AQI="}`},
		{"list", []any{"a", 1, nil, []string{}}, `{"L":[{"S":"a"},{"N":"1"},{"NULL":true},{"L":[]}]}`},
		{"nil list", []string(nil), `{"NULL":true}`},
		{"array", [2]string{"a"}, `{"L":[{"S":"a"},{"S":""}]}`},
		{"binary set without a tag", [][]byte{{2}, {1}}, `{"BS":["AQ==","Ag=="]}`},
		{"empty binary set", [][]byte{}, `{"NULL":true}`},
		{"map", map[string]int{"b": 1, "a": 2}, `{"M":{"a":{"N":"2"},"b":{"N":"1"}}}`},
		{
			"maps in maps", map[string]map[string]int{"b": {"x": 1, "w": 2}, "a": {"x": 3}},
			`{"M":{"a":{"M":{"x":{"N":"3"}}},"b":{"M":{"w":{"N":"2"},"x":{"N":"1"}}}}}`,
		},
		{"long name", map[string]int{longest: 1}, `{"M":{"` + longest + `":{"N":"1"}}}`},
		{"nil map", map[string]int(nil), `{"NULL":true}`},
		{"map of arrays", map[string][1]byte{"a": {1}, "b": {2}}, `{"M":{"a":{"B":"AQ=="},"b":{"B":"Ag=="}}}`},
		{"keys that are numbers", map[int8]bool{-1: true}, `{"M":{"-1":{"BOOL":true}}}`},
		{"keys that are floats", map[float64]bool{1e21: true}, `{"M":{"1e+21":{"BOOL":true}}}`},
		{"keys that are booleans", map[bool]int{true: 1}, `{"M":{"true":{"N":"1"}}}`},
		{"keys with a text", map[netip.Addr]int{netip.MustParseAddr("::1"): 1}, `{"M":{"::1":{"N":"1"}}}`},
		{"keys that are pointers", map[*word]int{{"a"}: 1}, `{"M":{"a":{"N":"1"}}}`},
		{"keys with a String method", map[shade]int{"dark": 1}, `{"M":{"dark":{"N":"1"}}}`},
		{"keys that are times", map[time.Time]int{noon: 1}, `{"M":{"2024-02-29T12:00:00.5+01:00":{"N":"1"}}}`},
		{"pointer", ptr(ptr("a")), `{"S":"a"}`},
		{"pointer to nil", ptr((*string)(nil)), `{"NULL":true}`},
		{"pointer to an interface", ptr(any("a")), `{"S":"a"}`},
		{"nil in an interface", []any{(*int)(nil), []int(nil)}, `{"L":[{"NULL":true},{"L":[]}]}`},
		{"time", noon, `{"S":"2024-02-29T12:00:00.5+01:00"}`},
		{"first year", time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC), `{"S":"0000-01-01T00:00:00Z"}`},
		{"last year", time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), `{"S":"9999-01-01T00:00:00Z"}`},
		{"time with a type", when(noon), `{"S":"2024-02-29T12:00:00.5+01:00"}`},
		{"time of the SDK", UnixTime(noon), `{"N":"1709204400"}`},
		{"text", netip.MustParseAddr("10.0.0.1"), `{"S":"10.0.0.1"}`},
		{"text by a method of the pointer", *big.NewInt(12), `{"S":"12"}`},
		{"nil pointer to a text", (*big.Int)(nil), `{"NULL":true}`},
		{"binary", sealed{1}, `{"B":"AQ=="}`},
		{"value", attr.NewString("a"), `{"S":"a"}`},
		{"item", attr.Item(must(t, `{"a":{"S":"b"}}`)), `{"M":{"a":{"S":"b"}}}`},
		{"item without bytes", attr.Item{}, `{"M":{}}`},
		{"own form", celsius(20.5), `{"S":"20.5 °C"}`},
		{"own form by a method of the pointer", counter{}, `{"N":"1"}`},
		{"own form, nothing", []celsius{1, 0, 2}, `{"L":[{"S":"1 °C"},{"S":"2 °C"}]}`},
		{"own form in a map", map[string]counter{"a": {}}, `{"M":{"a":{"N":"1"}}}`},

		{"names", struct {
			A int `dynamodbav:"a"`
			B int `dynamodbav:"-"`
			C int `json:"c"`
			d int
		}{1, 2, 3, 4}, `{"M":{"C":{"N":"3"},"a":{"N":"1"}}}`},
		{"omitempty", struct {
			A bool              `dynamodbav:",omitempty"`
			B int               `dynamodbav:",omitempty"`
			C string            `dynamodbav:",omitempty"`
			D []string          `dynamodbav:",omitempty"`
			E map[string]string `dynamodbav:",omitempty"`
			F *string           `dynamodbav:",omitempty"`
			G any               `dynamodbav:",omitempty"`
			H [0]int            `dynamodbav:",omitempty"`
			I celsius           `dynamodbav:",omitempty"`
		}{}, `{"M":{}}`},
		{"omitempty, not empty", struct {
			A []string          `dynamodbav:",omitempty"`
			B map[string]string `dynamodbav:",omitempty"`
			C *string           `dynamodbav:",omitempty"`
			D any               `dynamodbav:",omitempty"`
			E struct{}          `dynamodbav:",omitempty"`
			F time.Time         `dynamodbav:",omitempty"`
			G [1]int            `dynamodbav:",omitempty"`
		}{[]string{}, map[string]string{}, ptr(""), 0, struct{}{}, time.Time{}, [1]int{}},
			`{"M":{"A":{"L":[]},"B":{"M":{}},"C":{"S":""},"D":{"N":"0"},"E":{"M":{}},` +
				`"F":{"S":"0001-01-01T00:00:00Z"},"G":{"L":[{"N":"0"}]}}}`},
		{"omitempty of a pointer to a pointer", struct {
			A **int `dynamodbav:",omitempty"`
			B **int `dynamodbav:",omitempty"`
			C **int `dynamodbav:",omitempty,omitemptyelem"`
		}{ptr(ptr(0)), ptr((*int)(nil)), ptr((*int)(nil))}, `{"M":{"B":{"NULL":true}}}`},
		{"nullempty", struct {
			A string  `dynamodbav:",nullempty"`
			B float64 `dynamodbav:",nullempty"`
			C string  `dynamodbav:",nullempty"`
		}{C: "c"}, `{"M":{"A":{"NULL":true},"B":{"NULL":true},"C":{"S":"c"}}}`},
		{"negative zero is empty", struct {
			A float64 `dynamodbav:",nullempty"`
		}{math.Copysign(0, -1)}, `{"M":{"A":{"NULL":true}}}`},
		{"omitemptyelem", struct {
			A []string            `dynamodbav:",omitemptyelem"`
			B map[string][]string `dynamodbav:",omitemptyelem"`
		}{[]string{"", "a"}, map[string][]string{"a": nil, "b": {"", "c"}}},
			`{"M":{"A":{"L":[{"S":"a"}]},"B":{"M":{"b":{"L":[{"S":"c"}]}}}}}`},
		{"nullemptyelem", struct {
			A []string   `dynamodbav:",nullemptyelem"`
			B [][]string `dynamodbav:",nullemptyelem"`
		}{[]string{"", "a"}, [][]string{{""}}},
			`{"M":{"A":{"L":[{"NULL":true},{"S":"a"}]},"B":{"L":[{"L":[{"S":""}]}]}}}`},
		{"string", struct {
			A int         `dynamodbav:",string"`
			B uint8       `dynamodbav:",string"`
			C float64     `dynamodbav:",string"`
			D json.Number `dynamodbav:",string"`
			E bool        `dynamodbav:",string"`
		}{-1, 2, 0.5, "1e3", true},
			`{"M":{"A":{"S":"-1"},"B":{"S":"2"},"C":{"S":"0.5"},"D":{"S":"1e3"},"E":{"BOOL":true}}}`},
		{"unixtime", struct {
			A time.Time  `dynamodbav:",unixtime"`
			B *time.Time `dynamodbav:",unixtime"`
		}{noon, &noon}, `{"M":{"A":{"N":"1709204400"},"B":{"N":"1709204400"}}}`},
		{"sets", struct {
			A []string    `dynamodbav:",stringset"`
			B []int       `dynamodbav:",numberset"`
			C [][]byte    `dynamodbav:",binaryset"`
			D [2]string   `dynamodbav:",stringset"`
			E []*string   `dynamodbav:",stringset"`
			F []string    `dynamodbav:",stringset"`
			G []time.Time `dynamodbav:",stringset"`
		}{
			[]string{"b", "a"}, []int{10, 9}, [][]byte{{2}, {1}}, [2]string{"y", "x"}, []*string{ptr("p")}, []string{},
			[]time.Time{noon},
		},
			`{"M":{"A":{"SS":["a","b"]},"B":{"NS":["9","10"]},"C":{"BS":["AQ==","Ag=="]},` +
				`"D":{"SS":["x","y"]},"E":{"SS":["p"]},"F":{"NULL":true},"G":{"SS":["2024-02-29T12:00:00.5+01:00"]}}}`},
		{"set whose elements are omitted", struct {
			A []string `dynamodbav:",stringset,omitemptyelem"`
		}{[]string{""}}, `{"M":{"A":{"NULL":true}}}`},
		{"a tag of sets is for slices", struct {
			A map[string]bool `dynamodbav:",stringset"`
			B map[string]struct{}
		}{map[string]bool{"a": true}, map[string]struct{}{"a": {}}},
			`{"M":{"A":{"M":{"a":{"BOOL":true}}},"B":{"M":{"a":{"M":{}}}}}}`},
		{"embedded", struct {
			Base
			inner
			*Crowd
			A string
		}{Base{"x", 0}, inner{"y"}, nil, "z"}, `{"M":{"A":{"S":"z"},"B":{"S":"y"},"id":{"S":"x"}}}`},
		{"embedded pointer", struct{ *Base }{&Base{"x", 1}}, `{"M":{"A":{"N":"1"},"id":{"S":"x"}}}`},
		{"embedded twice, and hidden", struct {
			Left
			Right
			A, ID int
			Key   string `dynamodbav:"id"`
		}{A: 1, ID: 2, Key: "x"}, `{"M":{"A":{"N":"1"},"ID":{"N":"2"},"id":{"S":"x"}}}`},
		{"of two fields with one name, the one whose tag says so", struct {
			rival
			tagged
		}{tagged: tagged{3}}, `{"M":{"A":{"N":"3"},"B":{"N":"0"}}}`},
		{"embedded with a name", struct {
			Base  `dynamodbav:"base"`
			inner `dynamodbav:"inner"`
		}{Base{"x", 1}, inner{"y"}},
			`{"M":{"base":{"M":{"A":{"N":"1"},"id":{"S":"x"}}},"inner":{"M":{"B":{"S":"y"}}}}}`},
		{"embedded, not exported, no struct", struct {
			A int
			color
			bits `dynamodbav:"bits"`
		}{1, 1, bits{1}}, `{"M":{"A":{"N":"1"}}}`},
		{"embedded, not exported, without exported fields", struct {
			A int
			sealed
		}{1, sealed{1}}, `{"M":{"A":{"N":"1"}}}`},
		{"embedded alone, with a text", struct{ netip.Addr }{netip.MustParseAddr("::1")}, `{"S":"::1"}`},
		{"embedded with a text, and a name", struct {
			time.Time `dynamodbav:"at"`
		}{noon}, `{"M":{"at":{"S":"2024-02-29T12:00:00.5+01:00"}}}`},
		{"embedded with a text, and left out", struct {
			A         int
			time.Time `dynamodbav:"-"`
		}{1, noon}, `{"M":{"A":{"N":"1"}}}`},
		{"embedded in itself", Circle{A: 1}, `{"M":{"A":{"N":"1"}}}`},
		{"a nil interface with methods", struct{ A error }{}, `{"M":{"A":{"NULL":true}}}`},
		{"nothing to lose", struct {
			A struct{}
			B struct{ _ int }
			C []chan int
			D struct {
				X int `dynamodbav:"-"`
			}
		}{}, `{"M":{"A":{"M":{}},"B":{"M":{}},"C":{"NULL":true},"D":{"M":{}}}}`},
		{"the name of a tag ends with a comma", struct {
			A int `dynamodbav:"a,"`
		}{1}, `{"M":{"a":{"N":"1"}}}`},
		{"values in a struct", struct {
			A, B attr.Value
			C    attr.Item
		}{A: attr.NewBool(true)}, `{"M":{"A":{"BOOL":true},"C":{"NULL":true}}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := attr.Marshal(tt.in)
			require.NoError(t, err)
			if text := string(got.AppendJSON(nil)); text != tt.want {
				t.Errorf("Marshal(%+v) = %s, want %s", tt.in, text, tt.want)
			}
			if got.Kind() != attr.Map {
				return
			}
			it, err := attr.MarshalItem(tt.in)
			require.NoError(t, err)
			if !it.Equal(got.Map()) {
				t.Errorf("MarshalItem(%+v) = %s, want %s", tt.in, it.AppendJSON(nil), tt.want)
			}
			_, err = item.Check(it)
			require.NoError(t, err)
		})
	}
}

// A chain is a linked list.
type chain struct {
	Next *chain `dynamodbav:",omitempty"`
}

// deep returns content inside the given number of nested lists.
func deep(levels int, content any) any {
	for range levels {
		content = []any{content}
	}
	return content
}

// The ends of messages.
const (
	notText    = ": the text is not UTF-8; use a []byte, which is stored as a B"
	notEncoded = ": the bytes are not an encoded value; " +
		"make values with this package, and leave their bytes as they are"
)

const (
	leaveOut   = "leave the field out with the tag `dynamodbav:\"-\"`"
	exportThem = "export them, add MarshalText and UnmarshalText, or " + leaveOut
	lostKey    = ": decoding cannot make the key of its text; " +
		"use strings, or a type with MarshalText and UnmarshalText"
)

func itemOf(name string, v attr.Value) attr.Item {
	var b attr.Builder
	b.Add(name, v)
	return b.Item()
}

// badName is a type with a field whose name is not UTF-8.
var badName = reflect.StructOf([]reflect.StructField{
	{Name: "A", Type: reflect.TypeFor[int](), Tag: `dynamodbav:"a` + "\\xff" + `"`},
})

// longName is a type with a field whose name is too long.
var longName = reflect.StructOf([]reflect.StructField{{
	Name: "A", Type: reflect.TypeFor[int](),
	Tag: reflect.StructTag(`dynamodbav:"` + strings.Repeat("x", attr.MaxNameBytes+1) + `"`),
}})

// A knot is a pointer to a pointer to … itself.
type knot *knot

func TestMarshalRefused(t *testing.T) {
	loop := &chain{}
	loop.Next = loop
	var self any
	self = &self
	list := []any{nil}
	list[0] = list
	var tied knot
	tied = &tied
	long := strings.Repeat("x", attr.MaxNameBytes+1)

	for _, tt := range []struct {
		name, want string
		in         any
	}{
		{"NaN", "cannot encode float64: The parameter cannot be converted to a numeric value: NaN", math.NaN()},
		{
			"overflow", "A: cannot encode float64: Number overflow. Attempting to store a number with magnitude " +
				"larger than supported range",
			struct{ A float64 }{1e200},
		},
		{
			"not a number", "A[1]: cannot encode json.Number: The parameter cannot be converted to a numeric value: x",
			map[string]any{"A": []json.Number{"1", "x"}},
		},
		{
			"both empty options", "A: cannot encode string: the tag has both omitempty and nullempty; remove one",
			struct {
				A string `dynamodbav:",omitempty,nullempty"`
			}{},
		},
		{
			"set of another kind",
			"A.B[0]: cannot encode string: kind NS cannot hold a value of kind S; change the type or the tag",
			struct {
				A struct {
					B []string `dynamodbav:",numberset"`
				}
			}{struct {
				B []string `dynamodbav:",numberset"`
			}{[]string{"1"}}},
		},
		{
			"nil in a set",
			"A[1]: cannot encode *string: kind SS cannot hold a value of kind NULL; change the type or the tag",
			struct {
				A []*string `dynamodbav:",stringset"`
			}{[]*string{ptr("a"), nil}},
		},
		{
			"duplicates in a set", `A: cannot encode []string: One or more parameter values were invalid: Input ` +
				`collection ["a", "a"] contains duplicates.`,
			struct {
				A []string `dynamodbav:",stringset"`
			}{[]string{"a", "a"}},
		},
		{"empty key", "cannot encode map[string]int: a key is empty; give each entry a name", map[string]int{"": 1}},
		{"long key", "cannot encode map[string]int: a key is too long; shorten it", map[string]int{long: 1}},
		{
			"equal keys",
			"cannot encode map[*attr_test.word]int: two keys have the same text; use keys that differ as text",
			map[*word]int{{"a"}: 1, {"a"}: 2},
		},
		{
			"keys without text", "cannot encode map[[1]int]int: keys of this type have no text; " +
				"use strings, numbers, booleans or a type with MarshalText and UnmarshalText",
			map[[1]int]int{{1}: 1},
		},
		{
			"nil key", "cannot encode map[*attr_test.Base]int: keys of this type have no text; " +
				"use strings, numbers, booleans or a type with MarshalText and UnmarshalText",
			map[*Base]int{nil: 1},
		},
		{
			"nil, too deep", strings.Repeat("[0]", 32) + ": cannot encode interface {}: " +
				attr.ErrNesting.Error() + "; flatten the value, and look for pointers that form a cycle",
			deep(attr.MaxNesting, nil),
		},
		{
			"long name",
			"cannot encode " + longName.String() + ": the name of field A is too long; shorten it in the tag",
			reflect.New(longName).Interface(),
		},
		{
			"embedded time that is not exported",
			"t: cannot encode attr_test.hiddenTime: the type of the embedded field is not exported; export it",
			struct {
				hiddenTime `dynamodbav:"t"`
			}{},
		},
		{"own form", "cannot encode attr_test.celsius: colder than cold", celsius(-300)},
		{
			"form of the SDK alone",
			"A: cannot encode attr_test.sdkOnly: only the AWS SDK knows its form; add the method MarshalAttr",
			struct{ A sdkOnly }{"x"},
		},
		{"damaged", "cannot encode attr_test.damaged" + notEncoded, damaged("12345678-")},
		{"short", "A: cannot encode attr.Item" + notEncoded, map[string]any{"A": attr.Item("1234")}},
		{"short", "cannot encode attr.Item" + notEncoded, attr.Item("1234")},
		{"no item", "cannot encode attr.Value" + notEncoded, attr.MakeValue(attr.Map, nil)},
		{"no name", "cannot encode attr.Item: Empty attribute name", itemOf("", attr.NewNull())},
		{"string", "cannot encode string" + notText, "a\xff"},
		{
			"string in a list", "A[1]: cannot encode string" + notText,
			map[string]any{"A": []string{"a", "\xed\xa0\x80"}},
		},
		{"digits", "cannot encode json.Number" + notText, json.Number("1\xff")},
		{"made string", "cannot encode attr.Value" + notText, attr.NewString("a\xff")},
		{"string of a method", "A: cannot encode attr_test.word" + notText, struct{ A *word }{&word{"\xff"}}},
		{
			"made string in a field", "A: cannot encode attr.Value" + notText,
			struct{ A attr.Value }{attr.NewString("\xff")},
		},
		{"name in an item", "cannot encode attr.Item" + notText, itemOf("a\xff", attr.NewNull())},
		{
			"key", "cannot encode map[string]int: a key is not UTF-8; encode it, in hexadecimal or in base64",
			map[string]int{"a\xff": 1},
		},
		{
			"name in a tag", "cannot encode " + badName.String() +
				": the name of field A is not UTF-8; correct it in the tag",
			reflect.New(badName).Interface(),
		},
		{
			"a channel", "cannot encode chan int: values of this type are not stored; " + leaveOut, make(chan int),
		},
		{
			"a nil function", "A: cannot encode func(): values of this type are not stored; " + leaveOut,
			struct{ A func() }{},
		},
		{
			"a complex number", "A[0]: cannot encode complex128: values of this type are not stored; " + leaveOut,
			struct{ A []any }{[]any{1i}},
		},
		{
			"no exported fields", "A: cannot encode attr_test.money: it has no exported fields; " + exportThem,
			struct{ A money }{},
		},
		{
			"a text that cannot be decoded",
			"A: cannot encode attr_test.label: it has no exported fields; " + exportThem, struct{ A label }{},
		},
		{
			"embedded without exported fields", "A: cannot encode struct { attr_test.money; attr_test.color }: " +
				"it has no exported fields; " + exportThem,
			struct {
				A struct {
					money
					color
				}
			}{},
		},
		{
			"embedded time", "cannot encode struct { A int; time.Time }: the content of the embedded time.Time would be lost; " +
				"name it in its tag",
			struct {
				A int
				time.Time
			}{},
		},
		{
			"embedded pointer to a number", "cannot encode struct { *big.Int; A int }: " +
				"the content of the embedded big.Int would be lost; name it in its tag",
			struct {
				*big.Int
				A int
			}{},
		},
		{
			"embedded pointer alone, with a text", "cannot encode struct { *big.Int }: " +
				"the content of the embedded big.Int would be lost; name it in its tag",
			struct{ *big.Int }{},
		},
		{
			"embedded pointer that is not exported", "cannot encode struct { *attr_test.inner }: " +
				"decoding cannot set the embedded *attr_test.inner, which is not exported; " +
				"export the type, or embed it without the pointer",
			struct{ *inner }{},
		},
		{
			"two fields with one name", `cannot encode struct { A int "dynamodbav:\"n\""; B int "dynamodbav:\"n\"" }: ` +
				`two fields have the name "n"; name one of them, or the struct that embeds it, in its tag`,
			struct {
				A int `dynamodbav:"n"`
				B int `dynamodbav:"n"`
			}{},
		},
		{
			"embedded twice", "cannot encode struct { attr_test.Left; attr_test.Right }: " +
				`two fields have the name "id"; name one of them, or the struct that embeds it, in its tag`,
			struct {
				Left
				Right
			}{},
		},
		{
			"hidden, with a value", "cannot encode struct { attr_test.Base; A string }: " +
				"other fields hide the embedded field A, which holds a value; give them different names in their tags",
			struct {
				Base
				A string
			}{Base: Base{A: 1}},
		},
		{
			"hidden by a tag, with a value", "cannot encode struct { attr_test.rival; attr_test.tagged }: " +
				"other fields hide the embedded field A, which holds a value; give them different names in their tags",
			struct {
				rival
				tagged
			}{rival: rival{A: 1}},
		},
		{
			"embedded in itself", "cannot encode attr_test.Circle: other fields hide the embedded field Circle, " +
				"which holds a value; give them different names in their tags",
			Circle{Circle: &Circle{A: 2}},
		},
		{
			"unknown option", `cannot encode struct { A time.Time "dynamodbav:\",unixTime\"" }: the tag of field A has ` +
				`the unknown option "unixTime"; use one of binaryset, nullempty, nullemptyelem, numberset, omitempty, ` +
				`omitemptyelem, string, stringset, unixtime`,
			struct {
				A time.Time `dynamodbav:",unixTime"`
			}{},
		},
		{
			"a time as a number in a string", `cannot encode struct { A *time.Time "dynamodbav:\",string\"" }: ` +
				"the option string of field A is for numbers; remove it",
			struct {
				A *time.Time `dynamodbav:",string"`
			}{},
		},
		{
			"an interface with methods", "A: cannot encode fmt.Stringer: decoding cannot set an interface with methods; " +
				"use another type",
			struct{ A fmt.Stringer }{noon},
		},
		{
			"a year of five digits", "cannot encode time.Time: RFC 3339 has no year 10000; use the option unixtime",
			time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC),
		},
		{
			"seconds in a zone", "cannot encode time.Time: RFC 3339 cannot write the offset of its zone; store it in UTC",
			noon.In(time.FixedZone("LMT", 1172)),
		},
		{"keys with a String method", "cannot encode map[attr_test.color]int" + lostKey, map[color]int{1: 1}},
		{
			"keys in an interface", "cannot encode map[interface {}]int" + lostKey,
			map[any]int{netip.MustParseAddr("::1"): 1},
		},
		{
			"keys with a text that cannot be decoded", "cannot encode map[attr_test.label]int" + lostKey,
			map[label]int{{"a"}: 1},
		},
		{
			"a zero value", "cannot encode attr.Value: values of this type are not stored; pass a struct or a map",
			attr.Value{},
		},
		{
			"a pointer type without end",
			"cannot encode attr_test.knot: the type is a pointer to pointers without end; use another type", tied,
		},
		{
			"a cycle of pointers", strings.Repeat("Next.", 31) + "Next: cannot encode attr_test.chain: " +
				attr.ErrNesting.Error() + "; flatten the value, and look for pointers that form a cycle",
			loop,
		},
		{
			"a cycle of interfaces", "cannot encode interface {}: too many interfaces inside each other; " +
				"flatten the value, and look for pointers that form a cycle",
			self,
		},
		{
			"a cycle of slices", strings.Repeat("[0]", 32) + ": cannot encode []interface {}: " +
				attr.ErrNesting.Error() + "; flatten the value, and look for pointers that form a cycle",
			list,
		},
		{
			"own form with too many levels", "A[1]: cannot encode attr_test.nestedLists: " + attr.ErrNesting.Error(),
			map[string]any{"A": []nestedLists{30, 31}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := attr.Marshal(tt.in)
			e, ok := errors.AsType[*attr.ConvertError](err)
			require.True(t, ok, "%v", err)
			if e.Error() != tt.want || e.Type == nil || e.Kind != 0 {
				t.Errorf("error of Marshal = %v\nwant %s", e, tt.want)
			}
		})
	}
}

// TestConvertErrorUnwraps checks that the cause is in the chain.
func TestConvertErrorUnwraps(t *testing.T) {
	_, err := attr.Marshal(deep(attr.MaxNesting+1, ""))
	require.ErrorIs(t, err, attr.ErrNesting)
	_, err = attr.Marshal(json.Number("x"))
	e, ok := errors.AsType[*attr.Error](err)
	require.True(t, ok && !e.Syntax, "%v", err)
}
