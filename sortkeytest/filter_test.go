package sortkeytest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/sortkeytest"
)

// TestEventSourceFilters has the filters of invocation-eventfiltering.html and with-ddb-filtering.html in the Lambda
// developer guide. It applies them to five records: a to d are put, and a is removed.
func TestEventSourceFilters(t *testing.T) {
	db := streamed(t)
	db.Clock.Set(time.Unix(1772366400, 0))
	db.PutJSON("Events", []byte(`
		{"id":{"S":"a"},"state":{"S":"open"},"n":{"N":"5"}}
		{"id":{"S":"b"},"state":{"S":"Open"},"tags":{"SS":["x","y"]}}
		{"id":{"S":"c"},"state":{"S":""},"done":{"BOOL":true}}
		{"id":{"S":"d"},"old":{"NULL":true}}`))
	_, err := db.Client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{
		TableName: aws.String("Events"), Key: id("a"),
	})
	require.NoError(t, err)
	for filters, want := range map[string]string{
		`{"eventName":["INSERT"]}`:                                                  "abcd",
		`{"eventName":["REMOVE","MODIFY"]}`:                                         "a",
		`{"eventName":[{"prefix":"REM"}]}`:                                          "a",
		`{"eventName":[{"suffix":"ERT"}]}`:                                          "abcd",
		`{"eventName":["INSERT"],"dynamodb":{"Keys":{"id":{"S":["a","b"]}}}}`:       "ab",
		`{"dynamodb":{"NewImage":{"state":{"S":["open"]}}}}`:                        "a",
		`{"dynamodb":{"NewImage":{"state":{"S":[{"equals-ignore-case":"OPEN"}]}}}}`: "ab",
		`{"dynamodb":{"NewImage":{"state":{"S":[""]}}}}`:                            "c",
		`{"dynamodb":{"NewImage":{"state":{"S":[{"anything-but":["open"]}]}}}}`:     "bc",
		`{"dynamodb":{"NewImage":{"state":{"S":[{"anything-but":"Open"}]}}}}`:       "ac",
		`{"dynamodb":{"NewImage":{"state":{"S":[{"exists":true}]}}}}`:               "abc",
		`{"dynamodb":{"NewImage":{"state":{"S":[{"exists":false}]}}}}`:              "da",
		// not a leaf
		`{"dynamodb":{"NewImage":{"state":[{"exists":true}]}}}`:              "",
		`{"dynamodb":{"NewImage":{"n":{"N":["5"]}}}}`:                        "a",
		`{"dynamodb":{"NewImage":{"tags":{"SS":["y"]}}}}`:                    "b",
		`{"dynamodb":{"NewImage":{"done":{"BOOL":[true]}}}}`:                 "c",
		`{"dynamodb":{"NewImage":{"old":{"NULL":[true]}}}}`:                  "d",
		`{"dynamodb":{"NewImage":{"old":{"NULL":[null]}}}}`:                  "",
		`{"dynamodb":{"NewImage":{"n":{"N":[{"anything-but":"5"}]}}}}`:       "",
		`{"dynamodb":{"NewImage":{"state":{"S":[{"prefix":""}]}}}}`:          "abc",
		`{"dynamodb":{"NewImage":{"done":{"BOOL":[{"anything-but":"x"}]}}}}`: "c",
		`{"dynamodb":{"ApproximateCreationDateTime":[1,1772366400]}}`:        "abcda",
		// as it is written
		`{"dynamodb":{"ApproximateCreationDateTime":[1772366400.0]}}`:                            "",
		`{"dynamodb":{"NewImage":{"tags":{"SS":[{"anything-but":"x"}]}}}}`:                       "b", // y
		`{"eventName":["REMOVE"]}` + "\n" + `{"dynamodb":{"NewImage":{"state":{"S":["Open"]}}}}`: "ba",
	} {
		got := ""
		db.EventSource("Events", handler(func(e event) { got += e.ids() }), func(s *sortkeytest.EventSource) {
			s.Filters = strings.Split(filters, "\n")
		}).Deliver()
		require.Equal(t, want, got, filters)
	}
	// Records that the filter drops do not change the position in the stream.
	got := ""
	source := db.EventSource("Events", handler(func(e event) { got += e.ids() }), func(s *sortkeytest.EventSource) {
		s.Filters = []string{`{"eventName":["INSERT"]}`}
	})
	source.Deliver()
	db.Put("Events", map[string]any{"id": "b"}, map[string]any{"id": "e"})
	source.Deliver()
	require.Equal(t, "abcde", got)

	long := `{"eventName":["` + strings.Repeat("x", 4096) + `"]}`
	for filter, want := range map[string]string{
		`{`:                 "filter {: jsontext: unexpected EOF",
		`{}`:                "filter {}: the object is empty: name a field",
		`[]`:                "filter []: pattern is [], want an object",
		`{"a":[1],"a":[2]}`: `duplicate object member name "a"`,
		`{"a":{"b":{}}}`:    "at a.b: the object is empty: name a field",
		`{"eventName":"INSERT"}`: `at eventName: the pattern is "INSERT", want a list of values or ` +
			`operators, or an object`,
		`{"eventName":[]}`:                 "at eventName: the list is empty: give a value or an operator",
		`{"a":[1,[2]]}`:                    "at a[1]: the pattern is a list in a list",
		`{"a":[{}]}`:                       "at a[0]: the operator has 0 members, want one",
		`{"a":{"b":[{"prefex":"x"}]}}`:     "at a.b[0]: prefex: unknown operator: did you mean prefix?",
		`{"a":[{"exists":1}]}`:             "at a[0]: exists: the operand is 1, want true or false",
		`{"a":[{"prefix":["x"]}]}`:         `at a[0]: prefix: the operand is ["x"], want a text`,
		`{"a":[{"equals-ignore-case":1}]}`: "at a[0]: equals-ignore-case: the operand is 1, want a text",

		`{"a":[{"anything-but":null}]}`:   "anything-but: the operand is null, want a text or a list of texts",
		`{"a":[{"anything-but":[true]}]}`: "the operand is [true], want a text or a list of texts",
		`{"a":[{"numeric":["=",5]}]}`:     "at a[0]: numeric: numbers in items are texts in a record",
		`{"a":[{"wildcard":"x*"}]}`:       "at a[0]: wildcard: unknown operator",
		long:                              "pattern has 4114 bytes, want at most 4096",
		`{"a":{"$or":[{"b":[1]}]}}`:       "at a: $or is not supported: write a pattern in Filters for each alternative",
	} {
		require.Contains(t, failure(t, func(tb testing.TB) {
			streamed(tb).EventSource("Events", handler(func(event) {}), func(s *sortkeytest.EventSource) {
				s.Filters = []string{filter}
			})
		}), want, filter)
	}
}

// TestEventSourceFiltersOfLists tests that all conditions on a list of objects must hold for the same object, as in
// EventBridge.
func TestEventSourceFiltersOfLists(t *testing.T) {
	db := streamed(t)
	db.PutJSON("Events", []byte(`
		{"id":{"S":"a"},"lines":{"L":[{"M":{"sku":{"S":"x"},"n":{"N":"1"}}},{"M":{"sku":{"S":"y"},"n":{"N":"2"}}}]}}
		{"id":{"S":"b"},"lines":{"L":[{"M":{"sku":{"S":"x"},"n":{"N":"2"}}}]}}
		{"id":{"S":"c"},"lines":{"L":[{"L":[{"M":{"sku":{"S":"y"}}},{"S":"deep"}]},{"S":"flat"}]}}
		{"id":{"S":"d"},"lines":{"L":[]}}`))
	image := func(pattern string) string { return `{"dynamodb":{"NewImage":` + pattern + `}}` }
	for pattern, want := range map[string]string{
		`{"lines":{"L":{"M":{"sku":{"S":["x"]}}}}}`:                                     "ab",
		`{"lines":{"L":{"M":{"sku":{"S":["y"]}}}}}`:                                     "a",
		`{"lines":{"L":{"M":{"sku":{"S":["x"]},"n":{"N":["2"]}}}}}`:                     "b", // in one object
		`{"lines":{"L":{"M":{"sku":{"S":["y"]},"n":{"N":["2"]}}}}}`:                     "a",
		`{"lines":{"L":{"M":{"sku":{"S":[{"anything-but":"x"}]}}}}}`:                    "a",
		`{"lines":{"L":{"L":{"M":{"sku":{"S":["y"]}}}}}}`:                               "c",
		`{"lines":{"L":{"L":{"S":["deep"]}}}}`:                                          "c",
		`{"lines":{"L":{"S":["flat"]}}}`:                                                "c",
		`{"lines":{"L":{"L":{"S":["deep"]},"S":["flat"]}}}`:                             "", // in different elements
		`{"lines":{"L":{"M":{"sku":{"S":[{"exists":true}]}}}}}`:                         "ab",
		`{"lines":{"L":{"M":{"sku":{"S":[{"exists":false}]}}}}}`:                        "cd",
		`{"lines":{"L":{"M":{"sku":{"S":[{"exists":false},"y"]}}}}}`:                    "acd",
		`{"lines":{"L":[{"exists":true}]}}`:                                             "", // no leaf
		`{"id":{"S":["a","c"]},"lines":{"L":{"M":{"n":{"N":[{"exists":false},"2"]}}}}}`: "ac",
	} {
		got := ""
		db.EventSource("Events", handler(func(e event) { got += e.ids() }), func(s *sortkeytest.EventSource) {
			s.Filters = []string{image(pattern)}
		}).Deliver()
		require.Equal(t, want, got, pattern)
	}
}
