package sortkeytest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/sdk"
	"github.com/sortkey/sortkey/sortkeytest"
)

// TestImportInBubble imports more than one batch in a bubble of testing/synctest. When the bubble's Wait returns, the
// import must have ended.
func TestImportInBubble(t *testing.T) {
	const items = 2500
	root := t.TempDir()
	var text strings.Builder
	for i := range items {
		fmt.Fprintf(&text, `{"Item":{"id":{"S":"%d"}}}`+"\n", i)
	}
	require.NoError(t, os.Mkdir(filepath.Join(root, "bucket"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(root, "bucket", "items.json"), []byte(text.String()), 0o600))
	synctest.Test(t, func(t *testing.T) {
		db := sortkeytest.New(t, func(o *sortkey.Options) { o.S3Root = root })
		client := sdk.Client(db.DB)
		_, err := client.ImportTable(t.Context(), &dynamodb.ImportTableInput{
			InputFormat:    types.InputFormatDynamodbJson,
			S3BucketSource: &types.S3BucketSource{S3Bucket: aws.String("bucket")},
			TableCreationParameters: &types.TableCreationParameters{
				TableName: aws.String("imported"), BillingMode: types.BillingModePayPerRequest,
				KeySchema: []types.KeySchemaElement{
					{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash},
				},
				AttributeDefinitions: []types.AttributeDefinition{
					{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS},
				},
			},
		})
		require.NoError(t, err)
		synctest.Wait()
		out, err := client.Scan(t.Context(), &dynamodb.ScanInput{
			TableName: aws.String("imported"), Select: types.SelectCount,
		})
		require.NoError(t, err)
		require.EqualValues(t, items, out.Count)
	})
}
