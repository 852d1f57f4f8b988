package attr_test

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/item"
	"github.com/sortkey/sortkey/internal/item/doc"
)

// everyKind is an item with all ten kinds, in the service's form.
const everyKind = `{"b":{"B":"AAH/"},"bool":{"BOOL":true},"bs":{"BS":["AA==","/w=="]},"l":{"L":[{"S":"x"},{"L":[]},` +
	`{"M":{"k":{"N":"1"}}}]},"m":{"M":{"a":{"S":""},"z":{"NULL":true}}},"n":{"N":"-12.5"},"ns":{"NS":["-1","2",` +
	`"10"]},"null":{"NULL":true},"s":{"S":"héllo \"😀\"\n"},"ss":{"SS":["a","b"]}}`

func TestJSONRoundTrip(t *testing.T) {
	it, err := attr.ParseItem([]byte(everyKind))
	require.NoError(t, err)
	if got := string(it.AppendJSON(nil)); got != everyKind {
		t.Errorf("printed %s\nwant    %s", got, everyKind)
	}
	_, err = item.Check(it)
	require.NoError(t, err)
	for name, v := range it.All() {
		got, err := attr.ParseValue(v.AppendJSON(nil))
		if err != nil || !attr.Equal(got, v) {
			t.Errorf("%s: %v reads back as %v, %v", name, v, got, err)
		}
	}
}

func TestJSONCanonical(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"names are sorted", `{"b":{"S":"x"},"a":{"S":"y"}}`, `{"a":{"S":"y"},"b":{"S":"x"}}`},
		{"the last of two members counts", `{"a":{"S":"x"},"a":{"S":"y"}}`, `{"a":{"S":"y"}}`},
		{"sets are sorted by value", `{"a":{"NS":["10","9","1e0"]}}`, `{"a":{"NS":["1","9","10"]}}`},
		{"null members do not count", `{"a":{"S":null,"N":"1"}}`, `{"a":{"N":"1"}}`},
		{"unknown members do not count", `{"a":{"S":"x","Q":[1]}}`, `{"a":{"S":"x"}}`},
		{"the last of one kind counts", `{"a":{"S":"x","S":"y"}}`, `{"a":{"S":"y"}}`},
		{"escapes in names and kinds", `{"\u0061":{"\u0053":"x"}}`, `{"a":{"S":"x"}}`},
		{
			"escapes in numbers and base64", `{"a":{"N":"\u0031e1"},"b":{"B":"AAH\/"}}`,
			`{"a":{"N":"10"},"b":{"B":"AAH/"}}`,
		},
		{
			"strings for truth", `{"a":{"BOOL":"true"},"b":{"BOOL":"No"},"c":{"NULL":"1"}}`,
			`{"a":{"BOOL":true},"b":{"BOOL":false},"c":{"NULL":true}}`,
		},
		{
			"empty values", `{"a":{"S":""},"b":{"B":""},"c":{"L":[]},"d":{"M":{}},"e":{"SS":[""]},"f":{"BS":[""]}}`,
			`{"a":{"S":""},"b":{"B":""},"c":{"L":[]},"d":{"M":{}},"e":{"SS":[""]},"f":{"BS":[""]}}`,
		},
		{"surrogates", `{"a":{"S":"\ud83d\ude00"}}`, `{"a":{"S":"😀"}}`},
		{"control characters", `{"a":{"S":"\u0000\u001f\u007f\/"}}`, `{"a":{"S":"\u0000\u001f` + "\x7f" + `/"}}`},
		{
			"a long name", `{"` + strings.Repeat("a", 65535) + `":{"S":"x"}}`,
			`{"` + strings.Repeat("a", 65535) + `":{"S":"x"}}`,
		},
		{"nothing", `{}`, `{}`},
		{"null", `null`, `{}`},
		{"32 levels", nested(32), nested(32)},
		{
			"a string at level 32", strings.Replace(nested(31), "[]", `[{"S":"leaf"}]`, 1),
			strings.Replace(nested(31), "[]", `[{"S":"leaf"}]`, 1),
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			it, err := attr.ParseItem([]byte(tt.in))
			require.NoError(t, err)
			if got := string(it.AppendJSON(nil)); got != tt.want {
				t.Errorf("%s = %s, want %s", tt.in, got, tt.want)
			}
			if _, err := item.Check(it); err != nil {
				t.Errorf("Check: %v", err)
			}
		})
	}
}

// Two keys that are not UTF-8 must not become equal. No source says what the service does.
func TestJSONNotText(t *testing.T) {
	for _, in := range []string{
		`{"a":{"S":"\ud800"}}`, `{"a":{"S":"\ud83d\ude00\ude00"}}`, `{"\udc00":{"S":"x"}}`,
		"{\"a\":{\"S\":\"x\xff\"}}", "{\"\xff\":{\"S\":\"x\"}}", "{\"a\":{\"SS\":[\"\xed\xa0\x80\"]}}",
	} {
		_, err := attr.ParseItem([]byte(in))
		require.Error(t, err, in)
	}
}

func nested(depth int) string {
	return `{"a":` + strings.Repeat(`{"L":[`, depth) + strings.Repeat(`]}`, depth) + `}`
}

// Source of the messages: dynalite (test/helpers.js assertType, test/putItem.js)
// and alternator.
func TestJSONRefused(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		syntax   bool
		want     string
	}{
		{"number for a string", `{"a":{"S":1}}`, true, "NUMBER_VALUE cannot be converted to String"},
		{"decimal for a number", `{"a":{"N":1.5}}`, true, "DECIMAL_VALUE cannot be converted to String"},
		{"true for a string", `{"a":{"S":true}}`, true, "TRUE_VALUE cannot be converted to String"},
		{"list for a string", `{"a":{"S":[]}}`, true, "Unrecognized collection type class java.lang.String"},
		{"map for a string", `{"a":{"S":{}}}`, true, "Start of structure or map found where not expected"},
		{"string for a list", `{"a":{"L":"x"}}`, true, "Unexpected field type"},
		{"map for a list", `{"a":{"L":{}}}`, true, "Start of structure or map found where not expected"},
		{"string for a value", `{"a":"x"}`, true, "Unexpected value type in payload"},
		{
			"list for a value", `{"a":[]}`, true,
			"Unrecognized collection type class com.amazonaws.dynamodb.v20120810.AttributeValue",
		},
		{"string in a list", `{"a":{"L":["x"]}}`, true, "Unexpected value type in payload"},
		{
			"list for a map", `{"a":{"M":[]}}`,
			true, "Unrecognized collection type java.util.Map<java.lang.String, " +
				"com.amazonaws.dynamodb.v20120810.AttributeValue>",
		},
		{"number for a map", `{"a":{"M":3}}`, true, "Unexpected field type"},
		{"number for a set", `{"a":{"NS":3}}`, true, "Unexpected field type"},
		{"number in a number set", `{"a":{"NS":[3]}}`, true, "NUMBER_VALUE cannot be converted to String"},
		{"map in a string set", `{"a":{"SS":[{}]}}`, true, "Start of structure or map found where not expected"},
		{"string for BOOL", `{"a":{"BOOL":"23"}}`, true, "Unexpected token received from parser"},
		{"number for BOOL", `{"a":{"BOOL":23}}`, true, "NUMBER_VALUE cannot be converted to Boolean"},
		{"decimal for NULL", `{"a":{"NULL":34.56}}`, true, "DECIMAL_VALUE cannot be converted to Boolean"},
		{"list for BOOL", `{"a":{"BOOL":[]}}`, true, "Unrecognized collection type class java.lang.Boolean"},
		{"map for BOOL", `{"a":{"BOOL":{}}}`, true, "Start of structure or map found where not expected"},
		{"number for B", `{"a":{"B":23}}`, true, "only base-64-encoded strings are convertible to bytes"},
		{"list for B", `{"a":{"B":[]}}`, true, "Unrecognized collection type class java.nio.ByteBuffer"},
		{"map for B", `{"a":{"B":{}}}`, true, "Start of structure or map found where not expected"},
		{"true in a binary set", `{"a":{"BS":[true]}}`, true, "only base-64-encoded strings are convertible to bytes"},
		{"padding in front", `{"a":{"B":"=+/="}}`, true, "Invalid last non-pad Base64 character dectected"},
		{"spare bits before padding", `{"a":{"B":"+/+="}}`, true, "Invalid last non-pad Base64 character dectected"},
		{"a line break in base64", `{"a":{"B":"AAAA\nAAA"}}`, true, "Invalid Base64 character: '\n'"},
		{"a letter in base64", `{"a":{"B":"éAA"}}`, true, "Invalid Base64 character: 'é'"},
		{
			"base64 of a wrong length", `{"a":{"B":"abc"}}`, true,
			"Base64 encoded length is expected a multiple of 4 bytes but found: 3",
		},
		{"base64 with a wrong character", `{"a":{"B":"ab$d"}}`, true, "Invalid Base64 character: '$'"},
		{"base64 with spare bits", `{"a":{"B":"AB=="}}`, true, "Invalid last non-pad Base64 character dectected"},
		{
			"no kind", `{"a":{}}`, false,
			"Supplied AttributeValue is empty, must contain exactly one of the supported datatypes",
		},
		{
			"null value", `{"a":null}`, false,
			"Supplied AttributeValue is empty, must contain exactly one of the supported datatypes",
		},
		{
			"two kinds", `{"a":{"S":"x","N":"1"}}`,
			false, "Supplied AttributeValue has more than one datatypes set, must contain " +
				"exactly one of the supported datatypes",
		},
		{
			"NULL false", `{"a":{"NULL":false}}`, false,
			"One or more parameter values were invalid: Null attribute value types must have the value of true",
		},
		{
			"empty string set", `{"a":{"SS":[]}}`, false,
			"One or more parameter values were invalid: An string set  may not be empty",
		},
		{
			"empty number set", `{"a":{"NS":[]}}`, false,
			"One or more parameter values were invalid: An number set  may not be empty",
		},
		{
			"empty binary set", `{"a":{"BS":[]}}`, false,
			"One or more parameter values were invalid: Binary sets should not be empty",
		},
		{
			"equal strings", `{"a":{"SS":["c","a","c","b"]}}`,
			false, `One or more parameter values were invalid: Input collection ["a", "c", "c", ` +
				`"b"] contains duplicates.`,
		},
		{
			"equal numbers", `{"a":{"NS":["1","1.0"]}}`, false,
			"One or more parameter values were invalid: Input collection contains duplicates.",
		},
		{
			"equal binaries", `{"a":{"BS":["/w==","AA==","AA=="]}}`,
			false, `One or more parameter values were invalid: Input collection ["AA==","/w==","AA=="]of type BS ` +
				`contains duplicates.`,
		},
		{
			"equal empty strings", `{"a":{"SS":["",""]}}`, false,
			`One or more parameter values were invalid: Input collection ["", ""] contains duplicates.`,
		},
		{
			"null among strings", `{"a":{"SS":["a",null]}}`, false,
			"One or more parameter values were invalid: An string set may not have a null string as a member",
		},
		{
			"null among numbers", `{"a":{"NS":[null,"1"]}}`, false,
			"Supplied AttributeValue is empty, must contain exactly one of the supported datatypes",
		},
		{
			"null among binaries", `{"a":{"BS":[null]}}`, false,
			"One or more parameter values were invalid: Binary sets may not contain null or empty values",
		},
		{
			"null in a list", `{"a":{"L":[null]}}`, false,
			"Supplied AttributeValue is empty, must contain exactly one of the supported datatypes",
		},
		{
			"null in a map", `{"a":{"M":{"b":null}}}`, false,
			"Supplied AttributeValue is empty, must contain exactly one of the supported datatypes",
		},
		{
			"a kind in small letters", `{"a":{"s":"x"}}`, false,
			"Supplied AttributeValue is empty, must contain exactly one of the supported datatypes",
		},
		{
			"every kind null", `{"a":{"S":null,"L":null,"SS":null,"M":null,"BOOL":null,"NULL":null,"B":null,"N":null}}`,
			false, "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes",
		},
		{
			"the last of one name is null", `{"a":{"S":"x","S":null}}`, false,
			"Supplied AttributeValue is empty, must contain exactly one of the supported datatypes",
		},
		{
			"a kind overridden by null", `{"a":{"S":"x","N":"1","N":null}}`, false,
			"Supplied AttributeValue has more than one datatypes set, must contain exactly one " +
				"of the supported datatypes",
		},
		{
			"two kinds with a bad number", `{"a":{"S":"","N":""}}`, false,
			"The parameter cannot be converted to a numeric value: ",
		},
		{
			"no number among numbers", `{"a":{"NS":["1","b","a"]}}`, false,
			"The parameter cannot be converted to a numeric value: b",
		},
		{
			"NULL no", `{"a":{"NULL":"no"}}`, false,
			"One or more parameter values were invalid: Null attribute value types must have the value of true",
		},
		{
			"a name of 65536 bytes", `{"` + strings.Repeat("a", 65536) + `":{"S":"x"}}`, false,
			"Attribute name is too large, must be less than 65536 bytes",
		},
		{
			"the first fault counts", `{"a":{"N":"x"},"b":{"SS":[]}}`, false,
			"The parameter cannot be converted to a numeric value: x",
		},
		{
			"a fault, then a wrong type", `{"a":{"N":"x"},"b":{"S":1}}`, true,
			"NUMBER_VALUE cannot be converted to String",
		},
		{"a fault, then more", `{"a":{"SS":[]}} {}`, true, "Unexpected token received from parser"},
		{"more after the item", `{} x`, true, "Unexpected token received from parser"},
		{"no number", `{"a":{"N":"x"}}`, false, "The parameter cannot be converted to a numeric value: x"},
		{
			"33 levels", nested(33),
			false, "Nesting Levels have exceeded supported limits: " +
				"Attributes in the item have nested levels beyond supported limit",
		},
		{
			"a string at level 33", strings.Replace(nested(32), "[]", `[{"S":"leaf"}]`, 1), false,
			"Nesting Levels have exceeded supported limits: " +
				"Attributes in the item have nested levels beyond supported limit",
		},
		{
			"far too deep", nested(3000),
			false, "Nesting Levels have exceeded supported limits: " +
				"Attributes in the item have nested levels beyond supported limit",
		},
		{
			"a member without a name, then too deep", `{"a":{"M":{"":{"S":"x"}}},` + nested(33)[1:],
			false, "Nesting Levels have exceeded supported limits: " +
				"Attributes in the item have nested levels beyond supported limit",
		},
		{
			"a member and an attribute without names, then too deep",
			`{"a":{"M":{"":{"S":"x"}}},"":{"S":"x"},` + nested(33)[1:], false, "Empty attribute name",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := attr.ParseItem([]byte(tt.in))
			e, ok := errors.AsType[*attr.Error](err)
			if !ok || e.Syntax != tt.syntax || e.Msg != tt.want {
				t.Errorf("ParseItem(%.60s) = %v (syntax %v), want %s (syntax %v)", tt.in, err, ok && e.Syntax, tt.want,
					tt.syntax)
			}
		})
	}
}

// checkTokens compares the result of ParseItem with the tokens that package jsontext reads from the same text.
func checkTokens(t *testing.T, in []byte, it attr.Item, err error) {
	t.Helper()
	dec := jsontext.NewDecoder(bytes.NewBuffer(in), jsontext.AllowDuplicateNames(true))
	raw, want := doc.AppendItem(nil, doc.From(dec), doc.AnySize)
	if e, ok := errors.AsType[*attr.Error](want); want == nil || ok && !e.Syntax {
		if _, end := dec.ReadToken(); !errors.Is(end, io.EOF) {
			want = &attr.Error{Msg: "Unexpected token received from parser", Syntax: true}
		}
	}
	if !reflect.DeepEqual(err, want) || err == nil && !it.Equal(raw) {
		t.Errorf("%q is parsed as %s, %#v, by tokens of the library as %s, %#v",
			in, it.AppendJSON(nil), err, attr.Item(raw).AppendJSON(nil), want)
	}
}

// FuzzJSON checks that ParseItem agrees with the tokens of package jsontext, that every item is well formed, and that
// its JSON reads back as the same item. It also checks that reading continues after an item that is not allowed.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{
		everyKind, `{"a":{"SS":["b","a"]}}`, `{"a":{"NULL":false}}`, nested(32), nested(33),
		`{"a":{"B":"AB=="}}`, `null`,
		`{"a":{"S":"\ud800"}}`, `{"a":{"SS":["a",null,"a"]},"b":{"NS":["x"]}}`,
		`{"a":{"S":"x","N":"1","L":[{"Q":[]}]}}`, `{"a":{"BOOL":"yes"}} {`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		it, err := attr.ParseItem(in)
		checkTokens(t, in, it, err)
		if err != nil {
			if e, ok := errors.AsType[*attr.Error](err); ok && !e.Syntax {
				dec := jsontext.NewDecoder(bytes.NewBuffer(append(bytes.Clone(in), ` {"c":{"S":"x"}}`...)),
					jsontext.AllowDuplicateNames(true))
				if _, again := doc.AppendItem(nil, doc.From(dec), doc.AnySize); again == nil || again.Error() != e.Msg {
					t.Fatalf("%q is refused as %v, then as %v", in, e, again)
				}
				raw, err := doc.AppendItem(nil, doc.From(dec), doc.AnySize)
				next := attr.Item(raw)
				if err != nil || next.Get("c").String() != "{S:x}" {
					t.Fatalf("the token after %q is %v, %v", in, next, err)
				}
			}
			return
		}
		if _, err := item.Check(it); err != nil {
			t.Fatalf("%q decodes to an item that is not well formed", in)
		}
		text := it.AppendJSON(nil)
		again, err := attr.ParseItem(text)
		if err != nil || !again.Equal(it) {
			t.Fatalf("%q prints %q, which reads as %q, %v", in, text, again.AppendJSON(nil), err)
		}
	})
}
