package wire_test

import (
	"testing"

	"github.com/sortkey/sortkey/internal/wire"
)

// TestStrictMembers checks requests of SearchVectors and the service's answers. Source: dynoxide's captures in
// eu-west-2 and us-east-1, 2026-10-09 and 23, with the same bytes. For missing fields, only their names are captured;
// that the column is the length of the body is from another emulator's tests.
func TestStrictMembers(t *testing.T) {
	const (
		serialization = "SerializationException: "
		validation    = "ValidationException: "
		head          = `{"TableName":"_capture_20261023_absent_x9","IndexName":"vix",`
	)
	for _, tt := range []struct{ body, want string }{
		{
			`{"TableName":5,"IndexName":"vix","SearchVector":[{"N":"1"}],"TopK":1}`,
			serialization + "invalid type: integer `5`, expected a string at line 1 column 14",
		},
		{`{"TableName":null}`, serialization + "invalid type: null, expected a string at line 1 column 17"},
		{`{"SearchVector":null}`, serialization + "invalid type: null, expected a sequence at line 1 column 20"},
		{`{"TopK":null}`, serialization + "invalid type: null, expected i32 at line 1 column 12"},
		{"{\n\"TopK\" : null}", serialization + "invalid type: null, expected i32 at line 2 column 13"},
		{
			head + `"SearchVector":[{"N":"1"}],"TopK":1.5}`,
			serialization + "invalid type: floating point `1.5`, expected i32 at line 1 column 98",
		},
		{
			head + `"SearchVector":{},"TopK":1}`,
			serialization + "invalid type: map, expected a sequence at line 1 column 76",
		},
		{
			head + `"SearchVector":"x","TopK":1}`,
			serialization + `invalid type: string "x", expected a sequence at line 1 column 79`,
		},
		{
			head + `"SearchVector":1,"TopK":1}`,
			serialization + "invalid type: integer `1`, expected a sequence at line 1 column 77",
		},
		{
			head + `"SearchVector":[{"N":"1"}],"TopK":1,"ExpressionAttributeValues":"x"}`,
			serialization + `invalid type: string "x", expected a map at line 1 column 128`,
		},
		{
			head + `"SearchVector":[{"N":"1"}],"TopK":1,"ExpressionAttributeValues":[]}`,
			serialization + "invalid type: sequence, expected a map at line 1 column 125",
		},
		{
			head + `"SearchVector":[{"N":"1"}],"TopK":true}`,
			serialization + "invalid type: boolean `true`, expected i32 at line 1 column 99",
		},
		{`{"TopK":4294967296}`, validation + "invalid value: integer `4294967296`, expected i32 at line 1 column 18"},
		{`{"TopK":1e999}`, "SerializationException"},
		{`{}`, validation + "missing field `IndexName` at line 1 column 2"},
		{`{"TopK":1,"IndexName":"ab"}`, validation + "missing field `SearchVector` at line 1 column 27"},
		{`{"IndexName":"vix","SearchVector":[]}`, validation + "missing field `TableName` at line 1 column 37"},
		{
			`{"IndexName":"vix","SearchVector":[],"TableName":"abc"}`,
			validation + "missing field `TopK` at line 1 column 55",
		},
		{
			head +
				`"SearchVector":[{"N":"1"}],"TopK":1,"ProjectionExpression":null,` +
				`"ExpressionAttributeNames":null,"Other":[null]}`,
			"",
		},
		{`{"TableName":`, "SerializationException"},
		{
			`[]`,
			serialization + "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.SearchVectorsInput",
		},
	} {
		got := ""
		if err := wire.Decode([]byte(tt.body), new(wire.SearchVectorsInput)); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.body, got, tt.want)
		}
	}
}
