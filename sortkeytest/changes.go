package sortkeytest

import (
	"bytes"
	"context"
	"io"
	"iter"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/sortkey/sortkey/internal/api"
	"github.com/sortkey/sortkey/internal/engine"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/sdk"
)

// Changes yields the records in the stream of a table, the oldest first, up to the last change before the loop
// begins. If the stream has several shards at a time (see StreamShards of [sortkey.Options]), Changes yields one
// shard after the other, as a stream keeps the order only for changes of the same item. Changes that were made while
// the table had no stream have no records.
//
//	for change := range db.Changes("Orders") {
//		if err := handler.Handle(ctx, change); err != nil {
//			t.Error(err)
//		}
//	}
//
// Changes also reads the stream of a deleted table, and a stream that has been disabled, as long as the database
// keeps the records. To read shard by shard as a consumer does, use [DB.Streams]. For an AWS Lambda function, see
// [DB.EventSource].
func (db *DB) Changes(table string) iter.Seq[types.Record] {
	return func(yield func(types.Record) bool) {
		db.t.Helper()
		var shards []api.StreamShard
		db.moment(func(ctx context.Context) { shards = db.shards(ctx, db.stream(ctx, table)) })
		for _, s := range shards {
			for _, r := range db.recordsOf(s.Records) {
				if !yield(r) {
					return
				}
			}
		}
	}
}

// Streams returns a client for the streams of the database, for code that reads shards itself; see [sdk.Streams]. In
// a test, [DB.Changes] is usually simpler.
func (db *DB) Streams() *dynamodbstreams.Client { return sdk.Streams(db.DB) }

// stream returns the ARN of a table's latest stream.
func (db *DB) stream(ctx context.Context, table string) string {
	db.t.Helper()
	arn, ok, err := engine.Of(db.DB).Service.LastStream(ctx, table)
	db.must(err, "table %s: ", table)
	switch {
	case !ok:
		db.missing(ctx, table)
	case arn == "":
		db.t.Fatalf("sortkeytest: table %s has no stream: create it with a StreamSpecification", table)
	}
	return arn
}

// shards returns the shards of a stream with their records, each parent before its children.
func (db *DB) shards(ctx context.Context, arn string) []api.StreamShard {
	db.t.Helper()
	list, err := engine.Of(db.DB).Service.StreamShards(ctx, arn)
	db.must(err, "")
	return list
}

// created returns the time of a change. Records have times in whole seconds.
func created(d wire.StreamRecord) time.Time {
	return time.Unix(int64(*d.ApproximateCreationDateTime), 0).UTC()
}

// recordsOf converts records to the SDK's form. For that, a client of the SDK parses them from the response of a
// canned.
func (db *DB) recordsOf(records []wire.Record) []types.Record {
	db.t.Helper()
	response := wire.AppendJSON(nil, &wire.GetRecordsOutput{Records: records})
	client := sdk.Streams(db.DB, func(o *dynamodbstreams.Options) { o.HTTPClient = canned(response) })
	out, err := client.GetRecords(quiet, &dynamodbstreams.GetRecordsInput{ShardIterator: aws.String("any")})
	db.must(err, "")
	return out.Records
}

// A canned is an HTTP client that makes no request and always returns the same body.
type canned []byte

// Do implements [dynamodbstreams.HTTPClient].
func (c canned) Do(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(bytes.NewReader(c))}, nil
}
