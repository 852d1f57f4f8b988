package sortkeytest

import (
	"iter"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/sortkey/sortkey/sdk"
)

// Changes yields the records in the stream of a table, the oldest first, up to the last
// change before the loop begins. If the stream has several shards at a time, see
// StreamShards of [sortkey.Options], it yields one shard after the other, because only
// changes of the same item are in order there. Only changes made while the table has a
// stream have records.
//
//	for change := range db.Changes("Orders") {
//		if err := handler.Handle(ctx, change); err != nil {
//			t.Error(err)
//		}
//	}
//
// It also reads a stream that has been switched off. To read shard by shard as a
// consumer does, use [DB.Streams]; for an AWS Lambda function, see [DB.EventSource].
func (db *DB) Changes(table string) iter.Seq[types.Record] {
	return func(yield func(types.Record) bool) {
		defer resume()
		db.t.Helper()
		for _, s := range db.shards(db.stream(table)) {
			for _, r := range s.records {
				if !yield(r) {
					return
				}
			}
		}
	}
}

// Streams returns a client for the streams of the database: see [sdk.Streams].
func (db *DB) Streams() *dynamodbstreams.Client { return sdk.Streams(db.DB) }

// stream returns the ARN of a table's stream, or of its last one.
func (db *DB) stream(table string) (arn *string) {
	db.t.Helper()
	described, err := db.Direct.DescribeTable(quiet, &dynamodb.DescribeTableInput{TableName: &table})
	if err != nil {
		db.t.Fatalf("sortkeytest: %s", db.reason(err))
	}
	if arn = described.Table.LatestStreamArn; arn == nil {
		db.t.Fatalf("sortkeytest: table %s has no stream: create it with a StreamSpecification", table)
	}
	return arn
}

// A shard is a shard of a stream with its records.
type shard struct {
	id      string
	records []types.Record
}

// shards returns the shards of a stream, parents first.
func (db *DB) shards(arn *string) (all []shard) {
	db.t.Helper()
	client := db.Streams()
	in := &dynamodbstreams.DescribeStreamInput{StreamArn: arn}
	for {
		out, err := client.DescribeStream(quiet, in)
		if err != nil {
			db.t.Fatalf("sortkeytest: %s", db.reason(err))
		}
		for _, s := range out.StreamDescription.Shards {
			records, err := recordsOf(client, arn, s.ShardId)
			if err != nil {
				db.t.Fatalf("sortkeytest: %s", db.reason(err))
			}
			all = append(all, shard{*s.ShardId, records})
		}
		if in.ExclusiveStartShardId = out.StreamDescription.LastEvaluatedShardId; in.ExclusiveStartShardId == nil {
			return all
		}
	}
}

// recordsOf returns the records of a shard. An open shard ends with a page without
// records.
func recordsOf(client *dynamodbstreams.Client, arn, shard *string) (all []types.Record, err error) {
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
