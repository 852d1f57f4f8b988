package sortkeytest

import (
	"context"
	"iter"
	"time"

	dynamodbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/api"
	"github.com/sortkey/sortkey/internal/engine"
	"github.com/sortkey/sortkey/internal/sdkvalue"
	"github.com/sortkey/sortkey/internal/wire"
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
// It also reads a stream that has been switched off, and that of a table that has been deleted, as
// long as the records are kept. To read shard by shard as a consumer does, use [DB.Streams]; for an
// AWS Lambda function, see [DB.EventSource].
func (db *DB) Changes(table string) iter.Seq[types.Record] {
	return func(yield func(types.Record) bool) {
		db.t.Helper()
		var shards []api.StreamShard
		db.moment(func(ctx context.Context) { shards = db.shards(ctx, db.stream(ctx, table)) })
		for _, s := range shards {
			for _, r := range s.Records {
				if !yield(recordOf(r)) {
					return
				}
			}
		}
	}
}

// Streams returns a client for the streams of the database: see [sdk.Streams].
func (db *DB) Streams() *dynamodbstreams.Client { return sdk.Streams(db.DB) }

// stream returns the ARN of a table's stream, or of its last one.
func (db *DB) stream(ctx context.Context, table string) string {
	db.t.Helper()
	arn, ok, err := engine.Of(db.DB).Service.LastStream(ctx, table)
	switch {
	case err != nil:
		db.t.Fatalf("sortkeytest: table %s: %s", table, db.reason(err))
	case !ok:
		db.missing(ctx, table)
	case arn == "":
		db.t.Fatalf("sortkeytest: table %s has no stream: create it with a StreamSpecification", table)
	}
	return arn
}

// shards returns the shards of a stream with their records, parents first.
func (db *DB) shards(ctx context.Context, arn string) []api.StreamShard {
	db.t.Helper()
	list, err := engine.Of(db.DB).Service.StreamShards(ctx, arn)
	if err != nil {
		db.t.Fatalf("sortkeytest: %s", db.reason(err))
	}
	return list
}

// created returns when a change was made, in whole seconds.
func created(d wire.StreamRecord) time.Time {
	return time.Unix(int64(*d.ApproximateCreationDateTime), 0).UTC()
}

// recordOf returns a record in the form of the SDK.
func recordOf(r wire.Record) types.Record {
	d := r.Dynamodb
	out := types.Record{
		AwsRegion: r.AwsRegion, EventID: r.EventID, EventName: types.OperationType(*r.EventName),
		EventSource: r.EventSource, EventVersion: r.EventVersion,
		Dynamodb: &types.StreamRecord{
			ApproximateCreationDateTime: new(created(*d)), Keys: streamItem(d.Keys), NewImage: streamItem(d.NewImage),
			OldImage: streamItem(d.OldImage), SequenceNumber: d.SequenceNumber, SizeBytes: d.SizeBytes,
			StreamViewType: types.StreamViewType(*d.StreamViewType),
		},
	}
	if u := r.UserIdentity; u != nil {
		out.UserIdentity = &types.Identity{PrincipalId: u.PrincipalId, Type: u.Type}
	}
	return out
}

// streamItem returns an item in the form that the SDK has for streams, nil for nil.
func streamItem(it attr.Item) map[string]types.AttributeValue {
	if it == nil {
		return nil
	}
	m := make(map[string]types.AttributeValue, it.Len())
	for name, v := range it.All() {
		m[string(name)] = streamValue(sdkvalue.OfValue(v))
	}
	return m
}

// streamValue returns a value in the form that the SDK has for streams.
func streamValue(v dynamodbtypes.AttributeValue) types.AttributeValue {
	switch v := v.(type) {
	case *dynamodbtypes.AttributeValueMemberS:
		return &types.AttributeValueMemberS{Value: v.Value}
	case *dynamodbtypes.AttributeValueMemberN:
		return &types.AttributeValueMemberN{Value: v.Value}
	case *dynamodbtypes.AttributeValueMemberB:
		return &types.AttributeValueMemberB{Value: v.Value}
	case *dynamodbtypes.AttributeValueMemberBOOL:
		return &types.AttributeValueMemberBOOL{Value: v.Value}
	case *dynamodbtypes.AttributeValueMemberSS:
		return &types.AttributeValueMemberSS{Value: v.Value}
	case *dynamodbtypes.AttributeValueMemberNS:
		return &types.AttributeValueMemberNS{Value: v.Value}
	case *dynamodbtypes.AttributeValueMemberBS:
		return &types.AttributeValueMemberBS{Value: v.Value}
	case *dynamodbtypes.AttributeValueMemberL:
		list := make([]types.AttributeValue, len(v.Value))
		for i, e := range v.Value {
			list[i] = streamValue(e)
		}
		return &types.AttributeValueMemberL{Value: list}
	case *dynamodbtypes.AttributeValueMemberM:
		m := make(map[string]types.AttributeValue, len(v.Value))
		for name, e := range v.Value {
			m[name] = streamValue(e)
		}
		return &types.AttributeValueMemberM{Value: m}
	}
	return &types.AttributeValueMemberNULL{Value: true}
}
