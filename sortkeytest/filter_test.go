package sortkeytest_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/sortkeytest"
)

// The filters of invocation-eventfiltering.html and with-ddb-filtering.html in the
// Lambda developer guide, on five records: a to d are put, and a is removed.
func TestEventSourceFilters(t *testing.T) {
	db := streamed(t)
	db.PutJSON("Events", []byte(`
		{"id":{"S":"a"},"state":{"S":"open"},"n":{"N":"5"}}
		{"id":{"S":"b"},"state":{"S":"Open"},"tags":{"SS":["x","y"]}}
		{"id":{"S":"c"},"state":{"S":""},"done":{"BOOL":true}}
		{"id":{"S":"d"},"old":{"NULL":true}}`))
	_, err := db.Client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String("Events"), Key: id("a")})
	require.NoError(t, err)
	for filters, want := range map[string]string{
		`{"eventName":["INSERT"]}`:                                                                           "abcd",
		`{"eventName":["REMOVE","MODIFY"]}`:                                                                  "a",
		`{"eventName":[{"prefix":"REM"}]}`:                                                                   "a",
		`{"eventName":[{"suffix":"ERT"}]}`:                                                                   "abcd",
		`{"eventName":["INSERT"],"dynamodb":{"Keys":{"id":{"S":["a","b"]}}}}`:                                "ab",
		`{"dynamodb":{"NewImage":{"state":{"S":["open"]}}}}`:                                                 "a",
		`{"dynamodb":{"NewImage":{"state":{"S":[{"equals-ignore-case":"OPEN"}]}}}}`:                          "ab",
		`{"dynamodb":{"NewImage":{"state":{"S":[""]}}}}`:                                                     "c",
		`{"dynamodb":{"NewImage":{"state":{"S":[{"anything-but":["open"]}]}}}}`:                              "bc",
		`{"dynamodb":{"NewImage":{"state":{"S":[{"anything-but":"Open"}]}}}}`:                                "ac",
		`{"dynamodb":{"NewImage":{"state":{"S":[{"exists":true}]}}}}`:                                        "abc",
		`{"dynamodb":{"NewImage":{"state":{"S":[{"exists":false}]}}}}`:                                       "da",
		`{"dynamodb":{"NewImage":{"state":[{"exists":true}]}}}`:                                              "", // not a leaf
		`{"dynamodb":{"NewImage":{"n":{"N":["5"]}}}}`:                                                        "a",
		`{"dynamodb":{"NewImage":{"n":{"N":[{"numeric":["=",5]}]}}}}`:                                        "", // a string in JSON
		`{"dynamodb":{"NewImage":{"tags":{"SS":["y"]}}}}`:                                                    "b",
		`{"dynamodb":{"NewImage":{"done":{"BOOL":[true]}}}}`:                                                 "c",
		`{"dynamodb":{"NewImage":{"old":{"NULL":[true]}}}}`:                                                  "d",
		`{"dynamodb":{"NewImage":{"old":{"NULL":[null]}}}}`:                                                  "",
		`{"dynamodb":{"SizeBytes":[{"numeric":[">",0,"<",1000]}]}}`:                                          "abcda",
		`{"dynamodb":{"SizeBytes":[{"numeric":[">=",1000]}]}}`:                                               "",
		`{"$or":[{"eventName":["REMOVE"]},{"dynamodb":{"NewImage":{"done":{"BOOL":[true]}}}}]}`:              "ca",
		`{"eventName":["INSERT"],"$or":[{"dynamodb":{"Keys":{"id":{"S":["a"]}}}},{"eventName":["REMOVE"]}]}`: "a",
		`{"eventName":["REMOVE"]}` + "\n" + `{"dynamodb":{"NewImage":{"state":{"S":["Open"]}}}}`:             "ba",
	} {
		got := ""
		db.EventSource("Events", func(e event) { got += e.ids() }, func(s *sortkeytest.EventSource) { s.Filters = strings.Split(filters, "\n") }).Deliver()
		require.Equal(t, want, got, filters)
	}
	// The position in the stream does not depend on what is filtered.
	got := ""
	source := db.EventSource("Events", func(e event) { got += e.ids() }, func(s *sortkeytest.EventSource) {
		s.Filters = []string{`{"eventName":["INSERT"]}`}
	})
	source.Deliver()
	db.Put("Events", map[string]any{"id": "b"}, map[string]any{"id": "e"})
	source.Deliver()
	require.Equal(t, "abcde", got)

	for filter, want := range map[string]string{
		`{`:                             "filter {: unexpected end of JSON input",
		`{}`:                            "filter {}: it is empty",
		`[]`:                            "filter []: json: cannot unmarshal array",
		`{"eventName":"INSERT"}`:        "eventName is neither a list nor an object",
		`{"eventName":[]}`:              "a list is empty",
		`{"eventName":[{"like":"x"}]}`:  `{"like":"x"} is not an operator`,
		`{"eventName":[{"exists":1}]}`:  `{"exists":1} is not an operator`,
		`{"a":[{"numeric":["="]}]}`:     "numeric has an operator without a number",
		`{"a":[{"numeric":["=","1"]}]}`: "1 in numeric is not a number",
		`{"a":[{"numeric":["~",1]}]}`:   "~ in numeric is not a comparison",
		`{"$or":["x"]}`:                 "$or is not a list of objects",
	} {
		require.Contains(t, failure(t, func(tb testing.TB) {
			streamed(tb).EventSource("Events", func(event) {}, func(s *sortkeytest.EventSource) { s.Filters = []string{filter} })
		}), want, filter)
	}
}
