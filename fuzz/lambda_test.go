package fuzz_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/sortkeytest"
)

// TestLambda delivers changes to a handler written with aws-lambda-go.
func TestLambda(t *testing.T) {
	db := sortkeytest.New(t)
	db.Clock.Set(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	require.NoError(t, db.DB.CreateTable(t.Context(), "Orders", "id", sortkey.Stream()))
	db.PutJSON("Orders", []byte(`{"id":{"S":"a"},"n":{"N":"1.5"},"b":{"B":"AAE="},"l":{"L":[{"BOOL":true},{"NULL":true}]},
		"m":{"M":{"ss":{"SS":["x"]},"ns":{"NS":["7"]},"bs":{"BS":["AA=="]}}}} {"id":{"S":"b"}}`))
	check := func(r events.DynamoDBEventRecord) {
		c, item := r.Change, r.Change.NewImage
		require.Equal(t, []string{"INSERT", "aws:dynamodb", db.DB.Region(), "NEW_AND_OLD_IMAGES"},
			[]string{r.EventName, r.EventSource, r.AWSRegion, c.StreamViewType})
		require.NotEmpty(t, r.EventSourceArn)
		require.True(t, c.ApproximateCreationDateTime.Equal(db.Clock.Now()))
		require.Equal(t, "a", c.Keys["id"].String())
		require.Equal(t, "1.5", item["n"].Number())
		require.Equal(t, "\x00\x01", string(item["b"].Binary()))
		require.True(t, item["l"].List()[0].Boolean())
		require.True(t, item["l"].List()[1].IsNull())
		sets := item["m"].Map()
		require.Equal(t, []string{"x"}, sets["ss"].StringSet())
		require.Equal(t, []string{"7"}, sets["ns"].NumberSet())
		require.Equal(t, [][]byte{{0}}, sets["bs"].BinarySet())
	}
	calls := 0
	handle := func(_ context.Context, e events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
		switch calls++; calls {
		case 1:
			check(e.Records[0])
			return events.DynamoDBEventResponse{}, errors.New("not yet")
		case 2:
			second := events.DynamoDBBatchItemFailure{ItemIdentifier: e.Records[1].Change.SequenceNumber}
			return events.DynamoDBEventResponse{BatchItemFailures: []events.DynamoDBBatchItemFailure{second}}, nil
		}
		if n := len(e.Records); n != 1 {
			t.Errorf("%d records in the last event, want 1", n)
		}
		return events.DynamoDBEventResponse{}, nil
	}
	db.EventSource("Orders", lambda.NewHandler(handle), func(s *sortkeytest.EventSource) {
		s.ReportBatchItemFailures = true
	}).Deliver()
	require.Equal(t, 3, calls)
}
