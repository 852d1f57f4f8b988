package fuzz_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sortkey/sortkey/sortkeytest"
)

// TestLambda delivers changes to handlers written with aws-lambda-go: to functions, and
// to the lambda.Handler that lambda.Start makes of them.
func TestLambda(t *testing.T) {
	db := sortkeytest.New(t)
	db.Clock.Set(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	db.CreateTable(&dynamodb.CreateTableInput{
		TableName: aws.String("Orders"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
		StreamSpecification:  &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages},
	})
	db.PutJSON("Orders", []byte(`{"id":{"S":"a"},"n":{"N":"1.5"},"b":{"B":"AAE="},"l":{"L":[{"BOOL":true},{"NULL":true}]},
		"m":{"M":{"ss":{"SS":["x"]},"ns":{"NS":["7"]},"bs":{"BS":["AA=="]}}}} {"id":{"S":"b"}}`))
	check := func(r events.DynamoDBEventRecord) {
		c, item := r.Change, r.Change.NewImage
		if r.EventName != string(events.DynamoDBOperationTypeInsert) || r.EventSource != "aws:dynamodb" || r.AWSRegion != db.DB.Region() || r.EventSourceArn == "" ||
			c.StreamViewType != string(events.DynamoDBStreamViewTypeNewAndOldImages) || !c.ApproximateCreationDateTime.Equal(db.Clock.Now()) ||
			c.Keys["id"].String() != "a" || item["n"].Number() != "1.5" || string(item["b"].Binary()) != "\x00\x01" ||
			!item["l"].List()[0].Boolean() || !item["l"].List()[1].IsNull() ||
			item["m"].Map()["ss"].StringSet()[0] != "x" || item["m"].Map()["ns"].NumberSet()[0] != "7" || len(item["m"].Map()["bs"].BinarySet()[0]) != 1 {
			t.Errorf("record is %+v", r)
		}
	}
	calls := 0
	handle := func(_ context.Context, e events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
		switch calls++; calls {
		case 1:
			check(e.Records[0])
			return events.DynamoDBEventResponse{}, errors.New("not yet")
		case 2:
			return events.DynamoDBEventResponse{BatchItemFailures: []events.DynamoDBBatchItemFailure{{ItemIdentifier: e.Records[1].Change.SequenceNumber}}}, nil
		}
		if n := len(e.Records); n != 1 {
			t.Errorf("%d records in the last event, want 1", n)
		}
		return events.DynamoDBEventResponse{}, nil
	}
	for name, handler := range map[string]any{"function": handle, "lambda.Handler": lambda.NewHandler(handle)} {
		calls = 0
		db.EventSource("Orders", handler, func(s *sortkeytest.EventSource) { s.ReportBatchItemFailures = true }).Deliver()
		if calls != 3 {
			t.Errorf("%s: %d calls, want 3", name, calls)
		}
	}
}

// TestLambdaForms delivers to every form of a function that lambda.Start takes, and to the
// lambda.Handler of the function: both are called alike, and refused alike.
func TestLambdaForms(t *testing.T) {
	db := sortkeytest.New(t)
	db.CreateTable(&dynamodb.CreateTableInput{
		TableName:            aws.String("Orders"),
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
		StreamSpecification:  &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeKeysOnly},
	})
	db.Put("Orders", map[string]any{"id": "a"})
	var got []string
	call := func(args ...any) { got = append(got, fmt.Sprintf("%T", args)) }
	fail := errors.New("no")
	for _, handler := range []any{
		func() { call() },
		func() error { call(); return fail },
		func() (events.DynamoDBEventResponse, error) { call(); return events.DynamoDBEventResponse{}, nil },
		func(e events.DynamoDBEvent) { call(e) },
		func(e events.DynamoDBEvent) error { call(e); return fail },
		func(e *events.DynamoDBEvent) (any, error) { call(e); return nil, nil },
		func(ctx context.Context) { call(ctx) },
		func(ctx context.Context) (any, error) { call(ctx); return nil, fail },
		func(ctx context.Context, e events.DynamoDBEvent) error { call(ctx, e); return nil },
		func(ctx context.Context, e events.DynamoDBEvent) (*events.DynamoDBEventResponse, error) {
			call(ctx, e)
			return nil, fail
		},
		func(any) { call() },
	} {
		var discarded [2]int
		var calls [2][]string
		for i, h := range []any{handler, lambda.NewHandler(handler)} {
			got = nil
			db.EventSource("Orders", h, func(s *sortkeytest.EventSource) {
				s.MaximumRetryAttempts, s.OnFailure = 0, func([]byte) { discarded[i]++ }
			}).Deliver()
			calls[i] = got
		}
		if len(calls[0]) != 1 || !slices.Equal(calls[0], calls[1]) || discarded[0] != discarded[1] {
			t.Errorf("%T: %d calls and %d batches discarded, as a lambda.Handler %d and %d",
				handler, len(calls[0]), discarded[0], len(calls[1]), discarded[1])
		}
	}
}
