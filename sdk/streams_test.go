package sdk_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/sdk"
	"github.com/sortkey/sortkey/sortkeytest"
)

// streamed creates the table Tab with a stream. It returns a streams client and the stream's ARN.
func streamed(t *testing.T, db *sortkeytest.DB, view types.StreamViewType) (*dynamodbstreams.Client, string) {
	t.Helper()
	db.CreateTable(&dynamodb.CreateTableInput{
		TableName: aws.String("Tab"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("sk"), AttributeType: types.ScalarAttributeTypeN},
		},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String("sk"), KeyType: types.KeyTypeRange},
		},
		StreamSpecification: &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: view},
	})
	return sdk.Streams(db.DB), latest(t, db)
}

// latest returns the ARN of the latest stream of Tab.
func latest(t *testing.T, db *sortkeytest.DB) string {
	t.Helper()
	out, err := db.Client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String("Tab")})
	require.NoError(t, err)
	return aws.ToString(out.Table.LatestStreamArn)
}

func shardsOf(t *testing.T, c *dynamodbstreams.Client, arn string) (list []streamtypes.Shard) {
	t.Helper()
	in := &dynamodbstreams.DescribeStreamInput{StreamArn: &arn, Limit: aws.Int32(3)}
	for {
		out, err := c.DescribeStream(t.Context(), in)
		require.NoError(t, err)
		list = append(list, out.StreamDescription.Shards...)
		if in.ExclusiveStartShardId = out.StreamDescription.LastEvaluatedShardId; in.ExclusiveStartShardId == nil {
			return list
		}
	}
}

func iteratorOf(
	t *testing.T, c *dynamodbstreams.Client, arn string, shard *string, kind streamtypes.ShardIteratorType,
	number ...*string,
) (*string, error) {
	t.Helper()
	in := &dynamodbstreams.GetShardIteratorInput{StreamArn: &arn, ShardId: shard, ShardIteratorType: kind}
	if len(number) > 0 {
		in.SequenceNumber = number[0]
	}
	out, err := c.GetShardIterator(t.Context(), in)
	if err != nil {
		return nil, err
	}
	return out.ShardIterator, nil
}

// read reads from an iterator until there are no more records. It returns the records and the last iterator.
func read(
	t *testing.T, c *dynamodbstreams.Client, from *string, limit ...int32,
) (list []streamtypes.Record, next *string) {
	t.Helper()
	for next = from; next != nil; {
		in := &dynamodbstreams.GetRecordsInput{ShardIterator: next}
		if len(limit) > 0 {
			in.Limit = &limit[0]
		}
		out, err := c.GetRecords(t.Context(), in)
		require.NoError(t, err)
		next = out.NextShardIterator
		if len(out.Records) == 0 {
			break
		}
		list = append(list, out.Records...)
	}
	return list, next
}

// everything reads all shards of a stream, parents first.
func everything(t *testing.T, c *dynamodbstreams.Client, arn string) (list []streamtypes.Record) {
	t.Helper()
	for _, shard := range shardsOf(t, c, arn) {
		from, err := iteratorOf(t, c, arn, shard.ShardId, streamtypes.ShardIteratorTypeTrimHorizon)
		require.NoError(t, err)
		records, _ := read(t, c, from)
		list = append(list, records...)
	}
	return list
}

func put(t *testing.T, db *sortkeytest.DB, pk string, sk int, x string) {
	t.Helper()
	it := key(pk, sk)
	it["x"] = s(x)
	_, err := db.Client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("Tab"), Item: it})
	require.NoError(t, err)
}

// TestStreamViews tests which images records have. Source: DG/Streams.html and API_streams_StreamRecord.
func TestStreamViews(t *testing.T) {
	for view, images := range map[types.StreamViewType][2]bool{ // old, new
		types.StreamViewTypeKeysOnly: {}, types.StreamViewTypeOldImage: {true, false},
		types.StreamViewTypeNewImage: {false, true}, types.StreamViewTypeNewAndOldImages: {true, true},
	} {
		t.Run(string(view), func(t *testing.T) {
			db := sortkeytest.New(t)
			c, arn := streamed(t, db, view)
			put(t, db, "a", 1, "first")
			put(t, db, "a", 1, "first") // changes nothing
			put(t, db, "a", 1, "second")
			_, err := db.Client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{TableName: aws.String("Tab"),
				Key:                       key("a", 1),
				UpdateExpression:          aws.String("SET x = :x"),
				ExpressionAttributeValues: map[string]types.AttributeValue{":x": s("second")}}) // nor does this
			require.NoError(t, err)
			for range 2 { // the second deletes nothing
				_, err = db.Client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{
					TableName: aws.String("Tab"), Key: key("a", 1),
				})
				require.NoError(t, err)
			}
			records := everything(t, c, arn)
			require.Len(t, records, 3)
			for i, want := range []struct {
				event    streamtypes.OperationType
				old, new string
			}{{"INSERT", "", "first"}, {"MODIFY", "first", "second"}, {"REMOVE", "second", ""}} {
				r := records[i]
				require.Equal(t, want.event, r.EventName)
				require.Equal(t, streamtypes.StreamViewType(view), r.Dynamodb.StreamViewType)
				require.Equal(t, "aws:dynamodb", *r.EventSource)
				require.Equal(t, "us-east-1", *r.AwsRegion)
				require.Nil(t, r.UserIdentity)
				require.Equal(t,
					map[string]streamtypes.AttributeValue{
						"pk": &streamtypes.AttributeValueMemberS{Value: "a"},
						"sk": &streamtypes.AttributeValueMemberN{Value: "1"},
					}, r.Dynamodb.Keys)
				check := func(image map[string]streamtypes.AttributeValue, kept bool, x string) {
					if !kept || x == "" {
						require.Nil(t, image)
						return
					}
					require.Equal(t, &streamtypes.AttributeValueMemberS{Value: x}, image["x"])
				}
				check(r.Dynamodb.OldImage, images[0], want.old)
				check(r.Dynamodb.NewImage, images[1], want.new)
				size := 4 + 3 // the key: names, "a", and 1
				for _, x := range []struct {
					kept bool
					x    string
				}{{images[0], want.old}, {images[1], want.new}} {
					if x.kept && x.x != "" {
						size += 4 + 3 + 1 + len(x.x)
					}
				}
				require.EqualValues(t, size, *r.Dynamodb.SizeBytes)
				if i > 0 {
					require.Greater(t, *r.Dynamodb.SequenceNumber, *records[i-1].Dynamodb.SequenceNumber)
					require.NotEqual(t, *r.EventID, *records[i-1].EventID)
				}
			}
		})
	}
}

// TestStreamOfTransactions tests that a stream has all changes of a transaction or none, and the changes of a batch
// one by one.
func TestStreamOfTransactions(t *testing.T) {
	db := sortkeytest.New(t)
	c, arn := streamed(t, db, types.StreamViewTypeKeysOnly)
	item := func(n int) types.TransactWriteItem {
		return types.TransactWriteItem{Put: &types.Put{TableName: aws.String("Tab"), Item: key("a", n)}}
	}
	_, err := db.Client.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{
		TransactItems: []types.TransactWriteItem{item(2), item(1)},
	})
	require.NoError(t, err)
	refused := item(3)
	refused.Put.ConditionExpression = aws.String("attribute_exists(pk)")
	_, err = db.Client.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{
		TransactItems: []types.TransactWriteItem{item(4), refused},
	})
	require.Error(t, err)
	_, err = db.Client.BatchWriteItem(t.Context(),
		&dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"Tab": {
			{DeleteRequest: &types.DeleteRequest{Key: key("a", 2)}}, {PutRequest: &types.PutRequest{Item: key("a", 5)}},
		}}})
	require.NoError(t, err)
	var got []string
	for _, r := range everything(t, c, arn) {
		got = append(got, string(r.EventName)+" "+r.Dynamodb.Keys["sk"].(*streamtypes.AttributeValueMemberN).Value)
	}
	require.Equal(t, []string{"INSERT 2", "INSERT 1", "REMOVE 2", "INSERT 5"}, got)
}

func code(err error) string {
	if e, ok := errors.AsType[smithy.APIError](err); ok {
		return e.ErrorCode()
	}
	return fmt.Sprint(err)
}

// TestStreamShards tests that a shard is closed after four hours, comes to an end, and has a child shard.
func TestStreamShards(t *testing.T) {
	db := sortkeytest.New(t)
	c, arn := streamed(t, db, types.StreamViewTypeKeysOnly)
	put(t, db, "a", 1, "x")
	shards := shardsOf(t, c, arn)
	require.Len(t, shards, 1)
	require.Nil(t, shards[0].ParentShardId)
	require.Nil(t, shards[0].SequenceNumberRange.EndingSequenceNumber)
	from, err := iteratorOf(t, c, arn, shards[0].ShardId, streamtypes.ShardIteratorTypeTrimHorizon)
	require.NoError(t, err)
	records, next := read(t, c, from)
	require.Len(t, records, 1)
	require.NotNil(t, next, "the shard is open")

	db.Clock.Advance(4 * time.Hour)
	put(t, db, "a", 2, "x")
	shards = shardsOf(t, c, arn)
	require.Len(t, shards, 2)
	require.Equal(t, shards[0].ShardId, shards[1].ParentShardId)
	require.NotNil(t, shards[0].SequenceNumberRange.EndingSequenceNumber)
	require.Less(t, *shards[0].SequenceNumberRange.EndingSequenceNumber,
		*shards[1].SequenceNumberRange.StartingSequenceNumber)
	from, err = iteratorOf(t, c, arn, shards[0].ShardId, streamtypes.ShardIteratorTypeTrimHorizon)
	require.NoError(t, err)
	out, err := c.GetRecords(t.Context(), &dynamodbstreams.GetRecordsInput{ShardIterator: from})
	require.NoError(t, err)
	require.Len(t, out.Records, 1)
	require.Nil(t, out.NextShardIterator, "the shard is closed")
	require.Len(t, everything(t, c, arn), 2)

	// Even if the clock goes back, new records come after the records that were read.
	db.Clock.Advance(-5 * time.Hour)
	put(t, db, "a", 3, "x")
	db.Clock.Advance(5 * time.Hour)
	all := everything(t, c, arn)
	require.Len(t, all, 3)
	require.Greater(t, *all[2].Dynamodb.SequenceNumber, *all[1].Dynamodb.SequenceNumber)

	// An idle stream also gets new shards, and forgets old ones after a day.
	db.Clock.Advance(30 * time.Hour)
	require.Len(t, shardsOf(t, c, arn), 7)
	require.Empty(t, everything(t, c, arn))
	_, err = iteratorOf(t, c, arn, shards[0].ShardId, streamtypes.ShardIteratorTypeTrimHorizon)
	require.Equal(t, "ResourceNotFoundException", code(err))
}

// TestStreamColumns tests that each partition key has its place in one shard at a time, and that the list of shards
// has pages.
func TestStreamColumns(t *testing.T) {
	db := sortkeytest.New(t, func(o *sortkey.Options) { o.StreamShards = 5 })
	c, arn := streamed(t, db, types.StreamViewTypeKeysOnly)
	const partitions = 40
	for round := range 3 {
		for i := range partitions {
			put(t, db, fmt.Sprint(i), round, "x")
		}
		db.Clock.Advance(90 * time.Minute)
	}
	shards := shardsOf(t, c, arn)
	require.Len(t, shards, 10)
	where := map[string]string{}
	order := map[string]int{}
	used := map[string]bool{}
	for _, shard := range shards {
		from, err := iteratorOf(t, c, arn, shard.ShardId, streamtypes.ShardIteratorTypeTrimHorizon)
		require.NoError(t, err)
		records, _ := read(t, c, from, 7)
		column := (*shard.ShardId)[len(*shard.ShardId)-8:]
		for _, r := range records {
			pk := r.Dynamodb.Keys["pk"].(*streamtypes.AttributeValueMemberS).Value
			if before, ok := where[pk]; ok {
				require.Equal(t, before, column)
			}
			where[pk], used[column] = column, true
			require.Equal(t, fmt.Sprint(order[pk]), r.Dynamodb.Keys["sk"].(*streamtypes.AttributeValueMemberN).Value)
			order[pk]++
		}
	}
	require.Len(t, where, partitions)
	require.Len(t, used, 5)
	for pk, n := range order {
		require.Equal(t, 3, n, pk)
	}
}

// TestStreamIterators tests the types of iterators and their errors. Source: API_streams_GetShardIterator.
func TestStreamIterators(t *testing.T) {
	db := sortkeytest.New(t)
	c, arn := streamed(t, db, types.StreamViewTypeKeysOnly)
	shard := shardsOf(t, c, arn)[0]
	atEnd, err := iteratorOf(t, c, arn, shard.ShardId, streamtypes.ShardIteratorTypeLatest)
	require.NoError(t, err)
	for i := range 5 {
		put(t, db, "a", i, "x")
	}
	all := everything(t, c, arn)
	require.Len(t, all, 5)
	count := func(kind streamtypes.ShardIteratorType, number ...*string) int {
		from, err := iteratorOf(t, c, arn, shard.ShardId, kind, number...)
		require.NoError(t, err)
		list, _ := read(t, c, from, 2)
		return len(list)
	}
	third := all[2].Dynamodb.SequenceNumber
	require.Equal(t, 5, count(streamtypes.ShardIteratorTypeTrimHorizon))
	require.Equal(t, 0, count(streamtypes.ShardIteratorTypeLatest))
	require.Equal(t, 3, count(streamtypes.ShardIteratorTypeAtSequenceNumber, third))
	require.Equal(t, 2, count(streamtypes.ShardIteratorTypeAfterSequenceNumber, third))
	require.Equal(t, 5,
		count(streamtypes.ShardIteratorTypeAfterSequenceNumber, shard.SequenceNumberRange.StartingSequenceNumber)+1)
	list, _ := read(t, c, atEnd)
	require.Len(t, list, 5)

	for what, err := range map[string]error{
		"a number is missing": second(
			iteratorOf(t, c, arn, shard.ShardId, streamtypes.ShardIteratorTypeAtSequenceNumber),
		),
		"a number too many": second(
			iteratorOf(t, c, arn, shard.ShardId, streamtypes.ShardIteratorTypeLatest, third),
		),
		"no number": second(
			iteratorOf(
				t, c, arn, shard.ShardId, streamtypes.ShardIteratorTypeAtSequenceNumber,
				aws.String("aaaaaaaaaaaaaaaaaaaaaaaaa"),
			),
		),
		"another shard's": second(
			iteratorOf(
				t, c, arn, shard.ShardId, streamtypes.ShardIteratorTypeAtSequenceNumber,
				aws.String("9999999999999999999999999"),
			),
		),
		"no iterator": second(
			c.GetRecords(t.Context(), &dynamodbstreams.GetRecordsInput{ShardIterator: aws.String("x")}),
		),
		"too many records": second(
			c.GetRecords(t.Context(), &dynamodbstreams.GetRecordsInput{ShardIterator: atEnd, Limit: aws.Int32(1001)}),
		),
		"the ARN of a table": second(
			c.DescribeStream(t.Context(), &dynamodbstreams.DescribeStreamInput{
				StreamArn: aws.String("arn:aws:dynamodb:us-east-1:000000000000:table/Tab"),
			}),
		),
		"text that is no ARN": second(
			c.DescribeStream(t.Context(), &dynamodbstreams.DescribeStreamInput{
				StreamArn: aws.String("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"),
			}),
		),
		"an iterator of an ARN": second(
			c.GetRecords(t.Context(), &dynamodbstreams.GetRecordsInput{ShardIterator: aws.String(arn + "|1|")}),
		),
	} {
		require.Equal(t, "ValidationException", code(err), what)
	}
	for what, err := range map[string]error{
		"another stream": second(
			c.DescribeStream(t.Context(), &dynamodbstreams.DescribeStreamInput{
				StreamArn: aws.String(arn[:len(arn)-1] + "x"),
			}),
		),
		"another shard": second(
			iteratorOf(
				t, c, arn, aws.String("shardId-00000000000000000001-00000000"), streamtypes.ShardIteratorTypeLatest,
			),
		),
	} {
		require.Equal(t, "ResourceNotFoundException", code(err), what)
	}
	db.Clock.Advance(16 * time.Minute)
	_, err = c.GetRecords(t.Context(), &dynamodbstreams.GetRecordsInput{ShardIterator: atEnd})
	require.Equal(t, "ExpiredIteratorException", code(err))

	// Records older than a day are trimmed, whether or not a sweep has run.
	db.Clock.Advance(23 * time.Hour)
	put(t, db, "b", 1, "x")
	db.Clock.Set(db.Clock.Now().Add(45 * time.Minute))
	for range 2 {
		list := everything(t, c, arn)
		require.Len(t, list, 1)
		_, err = iteratorOf(t, c, arn, shard.ShardId, streamtypes.ShardIteratorTypeAtSequenceNumber, third)
		require.Equal(t, "TrimmedDataAccessException", code(err))
		_, err = db.DB.Sweep(t.Context())
		require.NoError(t, err)
	}
}

func second[T any](_ T, err error) error { return err }

// TestStreamEnds tests that a stream can be read for a day after it was disabled or its table was deleted, and that a
// new stream has another ARN.
func TestStreamEnds(t *testing.T) {
	db := sortkeytest.New(t)
	c, first := streamed(t, db, types.StreamViewTypeKeysOnly)
	set := func(on bool) {
		spec := &types.StreamSpecification{StreamEnabled: &on}
		if on {
			spec.StreamViewType = types.StreamViewTypeNewImage
		}
		_, err := db.Client.UpdateTable(t.Context(), &dynamodb.UpdateTableInput{
			TableName: aws.String("Tab"), StreamSpecification: spec,
		})
		require.NoError(t, err)
	}
	put(t, db, "a", 1, "x")
	set(false)
	put(t, db, "a", 2, "x") // written while there is no stream
	require.Equal(t, first, latest(t, db))
	set(true) // enable it again at the same moment of the clock
	next := latest(t, db)
	require.NotEqual(t, first, next)
	put(t, db, "a", 3, "x")
	require.Len(t, everything(t, c, first), 1)
	require.Len(t, everything(t, c, next), 1)
	out, err := c.DescribeStream(t.Context(), &dynamodbstreams.DescribeStreamInput{StreamArn: &first})
	require.NoError(t, err)
	require.Equal(t, streamtypes.StreamStatusDisabled, out.StreamDescription.StreamStatus)
	require.NotNil(t, out.StreamDescription.Shards[0].SequenceNumberRange.EndingSequenceNumber)

	fork := db.Fork(t)
	put(t, fork, "a", 4, "x")
	require.Len(t, everything(t, sdk.Streams(fork.DB), next), 2)
	require.Len(t, everything(t, c, next), 1)

	_, err = db.Client.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: aws.String("Tab")})
	require.NoError(t, err)
	require.Len(t, everything(t, c, next), 1)
	list := func(in *dynamodbstreams.ListStreamsInput) (arns []string) {
		for {
			out, err := c.ListStreams(t.Context(), in)
			require.NoError(t, err)
			for _, st := range out.Streams {
				arns = append(arns, *st.StreamArn)
			}
			if in.ExclusiveStartStreamArn = out.LastEvaluatedStreamArn; in.ExclusiveStartStreamArn == nil {
				return arns
			}
		}
	}
	require.Equal(t, []string{first, next}, list(&dynamodbstreams.ListStreamsInput{Limit: aws.Int32(1)}))
	require.Empty(t, list(&dynamodbstreams.ListStreamsInput{TableName: aws.String("Other")}))
	db.Clock.Set(db.Clock.Now().Add(25 * time.Hour))
	for range 2 { // before a sweep and after it
		require.Empty(t, list(&dynamodbstreams.ListStreamsInput{}))
		_, err = c.DescribeStream(t.Context(), &dynamodbstreams.DescribeStreamInput{StreamArn: &next})
		require.Equal(t, "ResourceNotFoundException", code(err))
		_, err = db.DB.Sweep(t.Context())
		require.NoError(t, err)
	}
}

// TestStreamPages reads records of 100 KB and tests that a page ends at 1 MB.
func TestStreamPages(t *testing.T) {
	db := sortkeytest.New(t)
	c, arn := streamed(t, db, types.StreamViewTypeNewImage)
	for i := range 25 {
		put(t, db, "a", i, string(make([]byte, 100<<10)))
	}
	from, err := iteratorOf(t, c, arn, shardsOf(t, c, arn)[0].ShardId, streamtypes.ShardIteratorTypeTrimHorizon)
	require.NoError(t, err)
	out, err := c.GetRecords(t.Context(), &dynamodbstreams.GetRecordsInput{ShardIterator: from})
	require.NoError(t, err)
	require.Len(t, out.Records, 10)
	list, _ := read(t, c, from)
	require.Len(t, list, 25)
}

// TestStreamWhileWriting reads a stream while several goroutines write and the clock moves. The reader must not miss
// a record at the end of a shard.
func TestStreamWhileWriting(t *testing.T) {
	db := sortkeytest.New(t, func(o *sortkey.Options) { o.StreamShards = 3 })
	c, arn := streamed(t, db, types.StreamViewTypeKeysOnly)
	const writers, writes = 4, 100
	done := make(chan struct{})
	for w := range writers {
		go func() {
			defer func() { done <- struct{}{} }()
			rng := rand.New(rand.NewPCG(1, uint64(w)))
			for i := range writes {
				_, err := db.Direct.PutItem(context.Background(), &dynamodb.PutItemInput{
					TableName: aws.String("Tab"), Item: key(fmt.Sprint(rng.IntN(20)), w*writes+i),
				})
				if err != nil {
					t.Error(err)
				}
				if rng.IntN(10) == 0 {
					db.Clock.Advance(20 * time.Minute)
				}
			}
		}()
	}
	seen := map[string]bool{}
	ended := map[string]bool{}
	at := map[string]*string{}
	poll := func() {
		for _, shard := range shardsOf(t, c, arn) {
			id := *shard.ShardId
			for !ended[id] {
				var from *string
				var err error
				if last := at[id]; last == nil {
					from, err = iteratorOf(t, c, arn, &id, streamtypes.ShardIteratorTypeTrimHorizon)
				} else {
					from, err = iteratorOf(t, c, arn, &id, streamtypes.ShardIteratorTypeAfterSequenceNumber, last)
				}
				require.NoError(t, err)
				out, err := c.GetRecords(t.Context(), &dynamodbstreams.GetRecordsInput{
					ShardIterator: from, Limit: aws.Int32(5),
				})
				if code(err) == "ExpiredIteratorException" { // the clock has moved on
					continue
				}
				require.NoError(t, err)
				for _, r := range out.Records {
					number := id + *r.Dynamodb.SequenceNumber
					require.False(t, seen[number])
					seen[number], at[id] = true, r.Dynamodb.SequenceNumber
				}
				ended[id] = out.NextShardIterator == nil
				if len(out.Records) == 0 {
					break
				}
			}
		}
	}
	for running := writers; running > 0; {
		select {
		case <-done:
			running--
		default:
			poll()
		}
	}
	poll()
	require.Len(t, seen, writers*writes)
}
