package attr_test

import (
	"cmp"
	"errors"
	"testing"

	"github.com/sortkey/sortkey/attr"
)

// TestOlderTexts checks the messages of the two layers in which the service
// checks values. Source: dynamodb-conformance,
// tests/tier3/error-messages/valueLayers.test.ts and partiqlParameterNumbers.test.ts.
func TestOlderTexts(t *testing.T) {
	const (
		notNumeric = "The parameter cannot be converted to a numeric value"
		overflow   = "Number overflow. Attempting to store a number with magnitude larger than supported range"
		underflow  = "Number underflow. Attempting to store a number with magnitude smaller than supported range"
		invalid    = "One or more parameter values were invalid: "
	)
	for _, tt := range []struct{ in, msg, older string }{
		{`{"N":"abc"}`, notNumeric + ": abc", notNumeric + ": abc"},
		{`{"N":""}`, notNumeric + ": ", notNumeric},
		{`{"N":"1e126"}`, overflow, overflow},
		{`{"N":"1e2147483647"}`, overflow, underflow},
		{`{"N":"1e2147483648"}`, overflow, notNumeric + ": 1e2147483648"},
		{`{"N":"1e-2147483649"}`, underflow, notNumeric + ": 1e-2147483649"},
		{`{"N":"1e-99999999999"}`, underflow, notNumeric + ": 1e-99999999999"},
		{`{"NS":["1",""]}`, notNumeric + ": ", notNumeric},
		{
			`{"SS":["b","a","b"]}`, invalid + `Input collection ["a", "b", "b"] contains duplicates.`,
			invalid + "Input collection [b, a, b] contains duplicates.",
		},
		{
			`{"BS":["/w==","AA==","AA=="]}`,
			invalid + `Input collection ["AA==","/w==","AA=="]of type BS contains duplicates.`,
			invalid + "Input collection [/w==, AA==, AA==]of type BS contains duplicates.",
		},
		{
			`{"NS":["2","1","2"]}`, invalid + "Input collection contains duplicates.",
			"Input collection contains duplicates",
		},
		{
			`{"NULL":false}`, invalid + "Null attribute value types must have the value of true",
			invalid + "Null attribute value types must have the value of true",
		},
	} {
		_, err := attr.ParseValue([]byte(tt.in))
		e, ok := errors.AsType[*attr.Error](err)
		if !ok || e.Syntax || e.Error() != tt.msg || cmp.Or(e.Older, e.Msg) != tt.older {
			t.Errorf("ParseValue(%s) = %v, want %s, older %s", tt.in, err, tt.msg, tt.older)
		}
	}
}

// TestNotJSON checks that malformed JSON is a decoder error or a syntax error,
// never the error of a well-formed value.
func TestNotJSON(t *testing.T) {
	for _, in := range []string{``, ` `, `{`, `{"a"`, `{"a":`, `{"a":{`, `{"a":{"S"`, `{"a":{"S":`, `{"a":{"S":"x`,
		`{"a":{"S":"x"`, `{"a":{"S":"x"}`,
		`{"a":{"L":[`, `{"a":{"L":[}`, `{"a":{"SS":["x"`, `{"a":{"SS":["x",]}}`, `{"a":{"S":"\x"}}`,
		`{"a":{"S":"\u12"}}`, "{\"a\":{\"S\":\"\n\"}}",
		`{a:{}}`, `{"a":{"N":"x"}`, `{"a":{"S":tru}}`, `[]`, `"x"`, `3`, `true`, `{}}`, `{} {}`} {
		it, err := attr.ParseItem([]byte(in))
		if err == nil {
			t.Errorf("ParseItem(%q) = %s", in, it.AppendJSON(nil))
		}
		if e, ok := errors.AsType[*attr.Error](err); ok && !e.Syntax {
			t.Errorf("ParseItem(%q) = %v, a fault of a value", in, e)
		}
	}
}
