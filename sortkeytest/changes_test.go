package sortkeytest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/sortkeytest"
)

// TestChanges tests that Changes yields the changes of many items in the order of the writes, also from several
// generations of shards and after the stream was disabled.
func TestChanges(t *testing.T) {
	t.Run("one shard", func(t *testing.T) { testChanges(t, 1) })
	t.Run("three shards", func(t *testing.T) { testChanges(t, 3) })
}

func testChanges(t *testing.T, shards int) {
	db := sortkeytest.New(t, func(o *sortkey.Options) { o.StreamShards = shards })
	db.Table("Plain", "id")
	db.CreateTable(&dynamodb.CreateTableInput{
		TableName: aws.String("Events"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
		StreamSpecification: &types.StreamSpecification{
			StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeKeysOnly,
		},
	})
	for range db.Changes("Events") {
		t.Error("a record before the first change")
	}
	var want []string
	for i := range 2500 { // more than two pages of a shard
		want = append(want, fmt.Sprint("e", i))
		db.Put("Events", id(want[i]))
		if i%1000 == 999 {
			db.Clock.Advance(5 * time.Hour) // to the next shards
		}
	}
	read := func() (got []string) {
		for change := range db.Changes("Events") {
			require.Equal(t, streamtypes.OperationTypeInsert, change.EventName)
			got = append(got, change.Dynamodb.Keys["id"].(*streamtypes.AttributeValueMemberS).Value)
		}
		return got
	}
	same := require.Equal
	if shards > 1 {
		same = func(t require.TestingT, want, got any, more ...any) { require.ElementsMatch(t, want, got, more...) }
	}
	same(t, want, read())
	for change := range db.Changes("Events") {
		require.NotNil(t, change.Dynamodb)
		break
	}
	_, err := db.Client.UpdateTable(t.Context(), &dynamodb.UpdateTableInput{
		TableName:           aws.String("Events"),
		StreamSpecification: &types.StreamSpecification{StreamEnabled: aws.Bool(false)},
	})
	require.NoError(t, err)
	same(t, want, read())
}
