package api_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestChildShards asks for the children of a shard, which old versions of the AWS
// SDK cannot. Source: API_streams_DescribeStream, ShardFilter.
func TestChildShards(t *testing.T) {
	e := newEndpoint(t, strings.Replace(tableH, "{", `{"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"KEYS_ONLY"},`, 1))
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
	describe("DescribeStream", `{"StreamArn":"`+arn+`","ShardFilter":{"Type":"CHILD_SHARDS","ShardId":"`+first+`"}}`, &children)
	require.Equal(t, all.StreamDescription.Shards[1:2], children.StreamDescription.Shards)
}
