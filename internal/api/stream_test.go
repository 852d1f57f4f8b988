package api_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// call sends a request that must succeed and decodes the response.
func (e *endpoint) call(op, body string, out any) {
	e.t.Helper()
	if err := json.Unmarshal([]byte(e.answer(op, body)), out); err != nil {
		e.t.Fatal(err)
	}
}

// An iterator AT_TIMESTAMP begins at the first record that is not older than the timestamp.
func TestStreamFromTimestamp(t *testing.T) {
	e := newEndpoint(t, with(tableH, `"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"KEYS_ONLY"}`))
	for i := range 3 {
		e.answer("PutItem", fmt.Sprintf(`{"TableName":"HHH","Item":{"a":{"S":"%d"}}}`, i))
		e.sleep(time.Minute)
	}
	var list struct{ Streams []struct{ StreamArn string } }
	e.call("ListStreams", `{}`, &list)
	arn := list.Streams[0].StreamArn
	var d struct {
		StreamDescription struct{ Shards []struct{ ShardId string } }
	}
	e.call("DescribeStream", `{"StreamArn":"`+arn+`"}`, &d)
	iterator := func(rest string) string {
		return `{"StreamArn":"` + arn + `","ShardId":"` + d.StreamDescription.Shards[0].ShardId + `",` + rest + `}`
	}
	start := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC).Unix()
	for _, tt := range []struct {
		after float64
		want  int
	}{{-1e12, 3}, {0, 3}, {0.5, 2}, {60, 2}, {120, 1}, {121, 0}, {1e12, 0}} {
		var from struct{ ShardIterator string }
		e.call("GetShardIterator",
			iterator(fmt.Sprintf(`"ShardIteratorType":"AT_TIMESTAMP","Timestamp":%f`, float64(start)+tt.after)), &from)
		var got struct{ Records []any }
		e.call("GetRecords", `{"ShardIterator":"`+from.ShardIterator+`"}`, &got)
		if len(got.Records) != tt.want {
			t.Errorf("%v seconds after the first record: %d records, want %d", tt.after, len(got.Records), tt.want)
		}
	}
	e.invalid("GetShardIterator", iterator(`"ShardIteratorType":"AT_TIMESTAMP"`),
		"Timestamp must be provided when ShardIteratorType is AT_TIMESTAMP")
	e.invalid("GetShardIterator", iterator(`"ShardIteratorType":"LATEST","Timestamp":1`),
		"Timestamp must not be provided when ShardIteratorType is LATEST")
	if out, _ := e.serve(
		"GetShardIterator", iterator(`"ShardIteratorType":"AT_TIMESTAMP","Timestamp":"now"`),
	); !strings.HasPrefix(fault(out), "SerializationException") {
		t.Errorf("a timestamp of text: %s", out)
	}
}
