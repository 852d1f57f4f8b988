package main

import (
	"context"
	"testing"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/stretchr/testify/require"
)

// streams returns a client for the streams of the server that db is a client of.
func streams(db *dynamodb.Client) *dynamodbstreams.Client {
	o := db.Options()
	return dynamodbstreams.New(dynamodbstreams.Options{Region: o.Region, BaseEndpoint: o.BaseEndpoint, HTTPClient: o.HTTPClient, Credentials: o.Credentials})
}

// checkStream replays the whole stream of a table and compares the resulting items with those of the table. The
// server writes a record and its item in one update, so a kill leaves both or neither. checkStream returns the number
// of records.
func checkStream(t *testing.T, db *dynamodb.Client, table string, found map[string]item) (records int) {
	t.Helper()
	ctx := context.Background()
	described, err := db.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &table})
	require.NoError(t, err)
	c, arn := streams(db), described.Table.LatestStreamArn
	stream, err := c.DescribeStream(ctx, &dynamodbstreams.DescribeStreamInput{StreamArn: arn})
	require.NoError(t, err)
	items := map[string]item{}
	image := func(of map[string]streamtypes.AttributeValue) item {
		it, err := attributevalue.FromDynamoDBStreamsMap(of)
		require.NoError(t, err)
		return it
	}
	for _, shard := range stream.StreamDescription.Shards {
		at, err := c.GetShardIterator(ctx, &dynamodbstreams.GetShardIteratorInput{StreamArn: arn, ShardId: shard.ShardId, ShardIteratorType: streamtypes.ShardIteratorTypeTrimHorizon})
		require.NoError(t, err)
		for next := at.ShardIterator; next != nil; {
			page, err := c.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: next})
			require.NoError(t, err)
			records += len(page.Records)
			for _, r := range page.Records {
				key := address(image(r.Dynamodb.Keys))
				if old := image(r.Dynamodb.OldImage); !equal(old, items[key]) {
					t.Fatalf("stream of %s: the old image of %s is %v, the record before left %v", table, key, old, items[key])
				}
				if delete(items, key); r.Dynamodb.NewImage != nil {
					items[key] = image(r.Dynamodb.NewImage)
				}
			}
			if next = page.NextShardIterator; len(page.Records) == 0 {
				break
			}
		}
	}
	require.Len(t, items, len(found), "items that the stream of %s gives", table)
	for key, it := range items {
		if !equal(it, found[key]) {
			t.Fatalf("the stream of %s gives %v, the table has %v", table, it, found[key])
		}
	}
	return records
}
