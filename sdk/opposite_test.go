package sdk_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/internal/tests/apitest"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/sdk"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/btree"
	"github.com/sortkey/sortkey/store/memory"
)

// TestOpposite tests that operations of SDK clients in Updates of opposite orders succeed, so the SDK retries none.
func TestOpposite(t *testing.T) {
	retry := func(o *dynamodb.Options) { o.RetryMaxAttempts = 3 }
	for name, open := range map[string]func(*testing.T) store.Store{
		"memory": func(*testing.T) store.Store { return memory.Open() },
		"btree":  func(*testing.T) store.Store { return btree.Open() },
	} {
		for kind, client := range map[string]func(*sortkey.DB) *dynamodb.Client{
			"wire":   func(db *sortkey.DB) *dynamodb.Client { return sdk.Client(db, retry) },
			"direct": func(db *sortkey.DB) *dynamodb.Client { return sdk.Direct(db, retry) },
		} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				put := func(ctx context.Context, db *sortkey.DB, table string, place int) error {
					_, err := client(db).PutItem(ctx, &dynamodb.PutItemInput{
						TableName: aws.String(table),
						Item: map[string]types.AttributeValue{
							"box":   &types.AttributeValueMemberS{Value: "a"},
							"place": &types.AttributeValueMemberN{Value: strconv.Itoa(place)},
						},
					})
					return err
				}
				apitest.Opposite(t, proptest.Cases(4000), open, put)
			})
		}
	}
}
