package attr_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
)

// everyKind is an item with all ten kinds, as the service prints it.
const everyKind = `{"b":{"B":"AAH/"},"bool":{"BOOL":true},"bs":{"BS":["AA==","/w=="]},"l":{"L":[{"S":"x"},{"L":[]},{"M":{"k":{"N":"1"}}}]},` +
	`"m":{"M":{"a":{"S":""},"z":{"NULL":true}}},"n":{"N":"-12.5"},"ns":{"NS":["-1","2","10"]},"null":{"NULL":true},"s":{"S":"héllo \"😀\"\n"},"ss":{"SS":["a","b"]}}`

func TestJSONRoundTrip(t *testing.T) {
	it, err := attr.ParseItem([]byte(everyKind))
	require.NoError(t, err)
	if got := string(it.AppendJSON(nil)); got != everyKind {
		t.Errorf("printed %s\nwant    %s", got, everyKind)
	}
	_, err = attr.Check(it)
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
		{"a lone surrogate is replaced", `{"a":{"S":"\ud800"}}`, `{"a":{"S":"` + "�" + `"}}`},
		{"bytes that are no text are replaced", "{\"a\":{\"S\":\"x\xff\"}}", `{"a":{"S":"x` + "�" + `"}}`},
		{"nothing", `{}`, `{}`},
		{"null", `null`, `{}`},
		{"32 levels", nested(32), nested(32)},
		{"a string at level 32", strings.Replace(nested(31), "[]", `[{"S":"leaf"}]`, 1), strings.Replace(nested(31), "[]", `[{"S":"leaf"}]`, 1)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			it, err := attr.ParseItem([]byte(tt.in))
			require.NoError(t, err)
			if got := string(it.AppendJSON(nil)); got != tt.want {
				t.Errorf("%s = %s, want %s", tt.in, got, tt.want)
			}
			if _, err := attr.Check(it); err != nil {
				t.Errorf("Check: %v", err)
			}
		})
	}
}

func nested(depth int) string {
	return `{"a":` + strings.Repeat(`{"L":[`, depth) + strings.Repeat(`]}`, depth) + `}`
}

// TestJSONRefused: texts as captured in dynalite (test/helpers.js assertType,
// test/putItem.js) and alternator.
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
		{"string for a value", `{"a":"x"}`, true, "Unexpected field type"},
		{"base64 of a wrong length", `{"a":{"B":"abc"}}`, true, "Base64 encoded length is expected a multiple of 4 bytes but found: 3"},
		{"base64 with a wrong character", `{"a":{"B":"ab$d"}}`, true, "Invalid Base64 character: '$'"},
		{"base64 with spare bits", `{"a":{"B":"AB=="}}`, true, "Invalid last non-pad Base64 character dectected"},
		{"no kind", `{"a":{}}`, false, "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"},
		{"null value", `{"a":null}`, false, "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"},
		{"two kinds", `{"a":{"S":"x","N":"1"}}`, false, "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes"},
		{"NULL false", `{"a":{"NULL":false}}`, false, "One or more parameter values were invalid: Null attribute value types must have the value of true"},
		{"empty string set", `{"a":{"SS":[]}}`, false, "One or more parameter values were invalid: An string set  may not be empty"},
		{"empty number set", `{"a":{"NS":[]}}`, false, "One or more parameter values were invalid: An number set  may not be empty"},
		{"empty binary set", `{"a":{"BS":[]}}`, false, "One or more parameter values were invalid: Binary sets should not be empty"},
		{"equal strings", `{"a":{"SS":["a","b","a"]}}`, false, "One or more parameter values were invalid: Input collection [a, b, a] contains duplicates."},
		{"equal numbers", `{"a":{"NS":["1","1.0"]}}`, false, "Input collection contains duplicates"},
		{"no number", `{"a":{"N":"x"}}`, false, "The parameter cannot be converted to a numeric value: x"},
		{"33 levels", nested(33), false, "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit"},
		{"a string at level 33", strings.Replace(nested(32), "[]", `[{"S":"leaf"}]`, 1), false, "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit"},
		{"far too deep", nested(3000), false, "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := attr.ParseItem([]byte(tt.in))
			e, ok := errors.AsType[*attr.Error](err)
			if !ok || e.Syntax != tt.syntax || e.Msg != tt.want {
				t.Errorf("ParseItem(%.60s) = %v (syntax %v), want %s (syntax %v)", tt.in, err, ok && e.Syntax, tt.want, tt.syntax)
			}
		})
	}
}

// TestDecodeGoesOn: after a value that is not allowed the decoder stands behind
// it, so the rest of a request can be read.
func TestDecodeGoesOn(t *testing.T) {
	dec := jsontext.NewDecoder(bytes.NewBufferString(`{"a":{"SS":[]},"b":{"L":[{"N":"x"}]}} {"c":{"S":"x"}}`))
	if _, err := attr.DecodeItem(dec); err == nil {
		t.Fatal("an empty set was taken")
	}
	it, err := attr.DecodeItem(dec)
	if err != nil || it.Get("c").String() != "{S:x}" {
		t.Errorf("the next item = %s, %v", it.AppendJSON(nil), err)
	}
}

func FuzzJSON(f *testing.F) {
	for _, s := range []string{everyKind, `{"a":{"SS":["b","a"]}}`, `{"a":{"NULL":false}}`, nested(33), `{"a":{"B":"AB=="}}`, `null`, `{"a":{"S":"\ud800"}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		it, err := attr.ParseItem(in)
		if err != nil {
			return
		}
		if _, err := attr.Check(it); err != nil {
			t.Fatalf("%q gives an item that is not well formed", in)
		}
		text := it.AppendJSON(nil)
		again, err := attr.ParseItem(text)
		if err != nil || !again.Equal(it) {
			t.Fatalf("%q prints %q, which reads as %q, %v", in, text, again.AppendJSON(nil), err)
		}
	})
}

func BenchmarkDecodeItem(b *testing.B) {
	in := []byte(everyKind)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := attr.ParseItem(in); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendJSON(b *testing.B) {
	it, err := attr.ParseItem([]byte(everyKind))
	if err != nil {
		b.Fatal(err)
	}
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = it.AppendJSON(buf[:0])
	}
}
