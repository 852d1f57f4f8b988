package fuzz_test

import (
	"context"
	"errors"
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
