package sortkeytest

import (
	"iter"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/sortkey/sortkey/sdk"
)

// Changes returns the records in the stream of a table, the oldest first, up to the
// last change before the loop begins. Of a stream with several shards at a time, see
// StreamShards of [sortkey.Options], it returns one shard after the other, as only the
// changes of one item have an order there. The table needs the stream when it is
// changed.
//
//	for change := range db.Changes("Orders") {
//		if err := handler.Handle(ctx, change); err != nil {
//
// It reads a stream that has been switched off, too. To read shard by shard as a
// consumer does, use a client of [sdk.Streams].
func (db *DB) Changes(table string) iter.Seq[types.Record] {
	return func(yield func(types.Record) bool) {
		db.t.Helper()
		records, err := db.changes(table)
		if err != nil {
			db.t.Fatalf("sortkeytest: %v", err)
		}
		for _, r := range records {
			if !yield(r) {
				return
			}
		}
	}
}

func (db *DB) changes(table string) ([]types.Record, error) {
	described, err := db.Direct.DescribeTable(quiet, &dynamodb.DescribeTableInput{TableName: &table})
	if err != nil {
		return nil, err
	}
	arn := described.Table.LatestStreamArn
	if arn == nil {
		db.t.Helper()
		db.t.Fatalf("sortkeytest: table %s has no stream: create it with a StreamSpecification", table)
	}
	client := sdk.Streams(db.DB)
	var all []types.Record
	in := &dynamodbstreams.DescribeStreamInput{StreamArn: arn}
	for {
		out, err := client.DescribeStream(quiet, in)
		if err != nil {
			return nil, err
		}
		for _, shard := range out.StreamDescription.Shards {
			if all, err = appendRecords(all, client, arn, shard.ShardId); err != nil {
				return nil, err
			}
		}
		if in.ExclusiveStartShardId = out.StreamDescription.LastEvaluatedShardId; in.ExclusiveStartShardId == nil {
			break
		}
	}
	return all, nil
}

// appendRecords appends the records of a shard. An open shard ends with a page
// without records.
func appendRecords(all []types.Record, client *dynamodbstreams.Client, arn, shard *string) ([]types.Record, error) {
	at, err := client.GetShardIterator(quiet, &dynamodbstreams.GetShardIteratorInput{
		StreamArn: arn, ShardId: shard, ShardIteratorType: types.ShardIteratorTypeTrimHorizon,
	})
	if err != nil {
		return nil, err
	}
	for next := at.ShardIterator; next != nil; {
		page, err := client.GetRecords(quiet, &dynamodbstreams.GetRecordsInput{ShardIterator: next})
		if err != nil {
			return nil, err
		}
		all = append(all, page.Records...)
		if next = page.NextShardIterator; len(page.Records) == 0 {
			break
		}
	}
	return all, nil
}
