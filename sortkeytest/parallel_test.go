package sortkeytest_test

import (
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/sortkeytest"
)

// A thousand parallel subtests with a copy each. How long they take is printed by
// go test -run ManySubtests -v.
func TestManySubtests(t *testing.T) {
	shared := sortkeytest.Shared(func(db *sortkeytest.DB) {
		db.Table("Orders", "id")
		for i := range 100 {
			db.Put("Orders", map[string]any{"id": fmt.Sprint(i)})
		}
	})
	key := map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "own"}}
	for i := range 1000 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			db := shared(t)
			for range 2 {
				_, err := db.Client.PutItem(t.Context(), &dynamodb.PutItemInput{
					TableName: aws.String("Orders"), Item: key,
				})
				require.NoError(t, err)
				out, err := db.Client.GetItem(t.Context(), &dynamodb.GetItemInput{
					TableName: aws.String("Orders"), Key: key,
				})
				require.NoError(t, err)
				require.Len(t, out.Item, 1)
			}
			out, err := db.Client.Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("Orders")})
			require.NoError(t, err)
			require.EqualValues(t, 101, out.Count)
		})
	}
}
