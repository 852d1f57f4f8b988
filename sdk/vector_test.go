package sdk_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/sdk"
	"github.com/sortkey/sortkey/server"
	"github.com/sortkey/sortkey/sortkeytest"
)

// TestVectorCapacity tests that the short way and the wire both report the units that a write to a vector index
// consumes.
func TestVectorCapacity(t *testing.T) {
	db := sortkeytest.New(t)
	db.CreateTable(&dynamodb.CreateTableInput{
		TableName: aws.String("Drive"),
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS},
		},
		VectorIndexes: []types.VectorIndex{{
			IndexName: aws.String("Near"), Dimensions: aws.Int64(1), DistanceFunction: types.VectorDistanceFunctionCosine,
			Projection:      &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly},
			VectorAttribute: &types.VectorAttributeDefinition{AttributeName: aws.String("at")},
		}},
	})
	number := &types.AttributeValueMemberN{Value: "1"}
	for _, id := range []string{"1", "2"} {
		client := db.Direct
		if id == "2" {
			client = overTheWire(db)
		}
		out, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{
			TableName: aws.String("Drive"), ReturnConsumedCapacity: types.ReturnConsumedCapacityIndexes,
			Item: map[string]types.AttributeValue{
				"id": &types.AttributeValueMemberS{Value: id},
				"at": &types.AttributeValueMemberL{Value: []types.AttributeValue{number}},
			},
		})
		require.NoError(t, err)
		require.Equal(t, map[string]types.VectorCapacity{"Near": {VectorWriteRequestBytes: aws.Float64(1024)}},
			out.ConsumedCapacity.VectorIndexes)
	}
}

// overTheWire returns a client whose calls all go over the wire.
func overTheWire(db *sortkeytest.DB) *dynamodb.Client {
	return sdk.Client(db.DB, func(o *dynamodb.Options) { o.HTTPClient = server.New(db.DB, server.Options{}).Client() })
}
