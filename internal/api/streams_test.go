package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/store"
)

// TestChildShards asks for the children of a shard. Old versions of the AWS SDK do not support this request. Source:
// API_streams_DescribeStream, ShardFilter.
func TestChildShards(t *testing.T) {
	e := newEndpoint(t,
		strings.Replace(tableH, "{", `{"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"KEYS_ONLY"},`, 1))
	e.db.Clock = func() time.Time { return e.now }
	var list struct{ Streams []struct{ StreamArn string } }
	describe := func(op, body string, out any) {
		t.Helper()
		text, status := e.svc.Serve(context.Background(), "DynamoDBStreams_20120810."+op, []byte(body), nil)
		require.Equal(t, 200, status, string(text))
		require.NoError(t, json.Unmarshal(text, out))
	}
	describe("ListStreams", `{}`, &list)
	arn := list.Streams[0].StreamArn
	e.sleep(9 * time.Hour)
	type shards struct {
		StreamDescription struct {
			Shards []struct{ ShardId, ParentShardId string }
		}
	}
	var all, children shards
	describe("DescribeStream", `{"StreamArn":"`+arn+`"}`, &all)
	require.Len(t, all.StreamDescription.Shards, 3)
	first := all.StreamDescription.Shards[0].ShardId
	describe("DescribeStream", `{"StreamArn":"`+arn+`","ShardFilter":{"Type":"CHILD_SHARDS","ShardId":"`+first+`"}}`,
		&children)
	require.Equal(t, all.StreamDescription.Shards[1:2], children.StreamDescription.Shards)
}

// TestTrimmedIterator uses an iterator after its next record has been trimmed, before and after a sweep. Source:
// API_streams_GetRecords, TrimmedDataAccessException.
func TestTrimmedIterator(t *testing.T) {
	const lost = "TrimmedDataAccessException: The operation attempted to read past the oldest stream record in a shard."
	e := newEndpoint(t, with(tableH, `"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"KEYS_ONLY"}`))
	put := func(key string) { e.answer("PutItem", `{"TableName":"HHH","Item":{"a":{"S":"`+key+`"}}}`) }
	var list struct{ Streams []struct{ StreamArn string } }
	e.call("ListStreams", `{}`, &list)
	arn := list.Streams[0].StreamArn
	var d struct {
		StreamDescription struct {
			Shards []struct {
				ShardId             string
				SequenceNumberRange struct{ StartingSequenceNumber, EndingSequenceNumber string }
			}
		}
	}
	iterator := func(shard, rest string) string {
		var out struct{ ShardIterator string }
		e.call("GetShardIterator", `{"StreamArn":"`+arn+`","ShardId":"`+shard+`","ShardIteratorType":`+rest+`}`, &out)
		return out.ShardIterator
	}
	read := func(iterator string, limit int) (records int, next string) {
		var out struct {
			Records           []any
			NextShardIterator string
		}
		e.call("GetRecords", fmt.Sprintf(`{"ShardIterator":"%s","Limit":%d}`, iterator, limit), &out)
		return len(out.Records), out.NextShardIterator
	}

	put("1")
	put("2")
	e.sleep(time.Hour)
	put("3")
	e.call("DescribeStream", `{"StreamArn":"`+arn+`"}`, &d)
	shard := d.StreamDescription.Shards[0].ShardId
	number := `,"SequenceNumber":"` + d.StreamDescription.Shards[0].SequenceNumberRange.StartingSequenceNumber + `"`
	e.sleep(23 * time.Hour) // the first records are exactly a day old
	_, err := e.db.Sweep(t.Context(), e.now)
	require.NoError(t, err)
	oldest := iterator(shard, `"TRIM_HORIZON"`)
	named := iterator(shard, `"AT_SEQUENCE_NUMBER"`+number)
	records, second := read(oldest, 1)
	require.Equal(t, 1, records)
	e.sleep(time.Millisecond)

	for range 2 {
		for _, it := range []string{named, second} {
			e.refuse("GetRecords", `{"ShardIterator":"`+it+`"}`, lost)
		}
		records, next := read(oldest, 10)
		require.Equal(t, 1, records, "what is left from the oldest record on")
		require.Empty(t, next, "the shard has ended")
		_, err := e.db.Sweep(t.Context(), e.now)
		require.NoError(t, err)
	}

	// The last sequence number of a closed shard does not count as a trimmed record.
	e.call("DescribeStream", `{"StreamArn":"`+arn+`"}`, &d)
	end := d.StreamDescription.Shards[0].SequenceNumberRange.EndingSequenceNumber
	for _, kind := range []string{"AT", "AFTER"} {
		records, _ := read(iterator(shard, `"`+kind+`_SEQUENCE_NUMBER","SequenceNumber":"`+end+`"`), 10)
		require.Zero(t, records)
	}

	// One sweep removes all old records, also when it takes several updates.
	for i := range 1100 {
		put(fmt.Sprint("more", i))
	}
	e.sleep(25 * time.Hour)
	_, err = e.db.Sweep(t.Context(), e.now)
	require.NoError(t, err)
	require.NoError(t, e.db.View(t.Context(), func(v *table.View) error {
		tab, err := v.Table("HHH")
		require.NoError(t, err)
		rows := 0
		for range v.Rows().Scan(tab.Definition().Stream.Space, store.Everything()) {
			rows++
		}
		require.Less(t, rows, 10, "a few rows say what the stream had")
		return nil
	}))
}
