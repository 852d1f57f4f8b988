package sdk_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/sortkeytest"
)

// refused requires an error with a code and a message.
func refused(t *testing.T, err error, code, message string) {
	t.Helper()
	e, ok := errors.AsType[smithy.APIError](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, code, e.ErrorCode())
	require.Equal(t, message, e.ErrorMessage())
}

func delayed(o *sortkey.Options) { o.TableDelay = 2 * time.Second }

// later is the input of a table with one index.
func later() *dynamodb.CreateTableInput {
	return &dynamodb.CreateTableInput{
		TableName: aws.String("Later"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: "S"}, {AttributeName: aws.String("g"), AttributeType: "S"}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: "HASH"}},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String("ByG"), KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("g"), KeyType: "HASH"}},
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		}},
	}
}

// indexUpdate adds or deletes the index ByH of a table.
func indexUpdate(name string, add bool) *dynamodb.UpdateTableInput {
	in := &dynamodb.UpdateTableInput{TableName: &name}
	if !add {
		in.GlobalSecondaryIndexUpdates = []types.GlobalSecondaryIndexUpdate{{Delete: &types.DeleteGlobalSecondaryIndexAction{IndexName: aws.String("ByH")}}}
		return in
	}
	in.AttributeDefinitions = []types.AttributeDefinition{{AttributeName: aws.String("h"), AttributeType: "S"}}
	in.GlobalSecondaryIndexUpdates = []types.GlobalSecondaryIndexUpdate{{Create: &types.CreateGlobalSecondaryIndexAction{
		IndexName: aws.String("ByH"), KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("h"), KeyType: "HASH"}},
		Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
	}}}
	return in
}

func describe(t *testing.T, c *dynamodb.Client, name string) *types.TableDescription {
	t.Helper()
	out, err := c.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &name})
	require.NoError(t, err)
	return out.Table
}

const inUse = "Attempt to change a resource which is still in use: "

// Sources: ExtendDB pull request 204 for operations on items; ack-api-quirks,
// DDB-TABLE-444 and 374, for changes.
func TestTableDelayCreating(t *testing.T) {
	threeWays(t, func(t *testing.T, db *sortkeytest.DB, c *dynamodb.Client) {
		ctx := t.Context()
		_, err := c.CreateTable(ctx, later())
		require.NoError(t, err)
		d := describe(t, c, "Later")
		require.EqualValues(t, "CREATING", d.TableStatus)
		require.EqualValues(t, "CREATING", d.GlobalSecondaryIndexes[0].IndexStatus)
		names, err := c.ListTables(ctx, nil)
		require.NoError(t, err)
		require.Equal(t, []string{"Later", "Rows"}, names.TableNames)

		item := map[string]types.AttributeValue{"pk": s("a")}
		const none = "Requested resource not found"
		_, err = c.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("Later"), Item: item})
		refused(t, err, "ResourceNotFoundException", none)
		_, err = c.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("Later"), Key: item})
		refused(t, err, "ResourceNotFoundException", none)
		_, err = c.Scan(ctx, &dynamodb.ScanInput{TableName: aws.String("Later")})
		refused(t, err, "ResourceNotFoundException", none)
		_, err = c.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{"Later": {Keys: []map[string]types.AttributeValue{item}}}})
		refused(t, err, "ResourceNotFoundException", none)
		_, err = c.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{{Put: &types.Put{TableName: aws.String("Later"), Item: item}}}})
		refused(t, err, "ResourceNotFoundException", none)
		_, err = c.ExecuteStatement(ctx, &dynamodb.ExecuteStatementInput{Statement: aws.String(`SELECT * FROM "Later"`)})
		refused(t, err, "ResourceNotFoundException", none)

		_, err = c.CreateTable(ctx, later())
		refused(t, err, "ResourceInUseException", inUse+"Table is being created: Later")
		_, err = c.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: aws.String("Later")})
		refused(t, err, "ResourceInUseException", inUse+"Table is being created: Later")
		_, err = c.UpdateTable(ctx, &dynamodb.UpdateTableInput{TableName: aws.String("Later"), DeletionProtectionEnabled: aws.Bool(true)})
		refused(t, err, "ResourceInUseException", inUse+"Table is being created: Later")
		_, err = c.TagResource(ctx, &dynamodb.TagResourceInput{ResourceArn: d.TableArn, Tags: []types.Tag{{Key: aws.String("k"), Value: aws.String("v")}}})
		refused(t, err, "ResourceInUseException", inUse+"Table is being created: Later")
		_, err = c.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
			TableName: aws.String("Later"), TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String("x"), Enabled: aws.Bool(true)},
		})
		refused(t, err, "ResourceNotFoundException", "Requested resource not found: Table: Later not found")

		db.Clock.Advance(2 * time.Second)
		d = describe(t, c, "Later")
		require.EqualValues(t, "ACTIVE", d.TableStatus)
		require.EqualValues(t, "ACTIVE", d.GlobalSecondaryIndexes[0].IndexStatus)
		_, err = c.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("Later"), Item: item})
		require.NoError(t, err)
		_, err = c.CreateTable(ctx, later())
		refused(t, err, "ResourceInUseException", "Table already exists: Later")
	}, delayed)
}

func TestTableDelayUpdating(t *testing.T) {
	threeWays(t, func(t *testing.T, db *sortkeytest.DB, c *dynamodb.Client) {
		ctx := t.Context()
		_, err := c.UpdateTable(ctx, indexUpdate("Rows", true))
		require.NoError(t, err)
		d := describe(t, c, "Rows")
		require.EqualValues(t, "UPDATING", d.TableStatus)
		require.EqualValues(t, "CREATING", d.GlobalSecondaryIndexes[0].IndexStatus)
		require.True(t, *d.GlobalSecondaryIndexes[0].Backfilling)

		require.NoError(t, putRow(t, c, "a", 1), "items can be written meanwhile")
		require.True(t, has(t, c, "a", 1))
		onIndex := queryOf("a")
		onIndex.IndexName, onIndex.KeyConditionExpression = aws.String("ByH"), aws.String("h = :p")
		_, err = c.Query(ctx, onIndex)
		refused(t, err, "ValidationException", "Cannot read from backfilling global secondary index: ByH")
		_, err = c.ExecuteStatement(ctx, &dynamodb.ExecuteStatementInput{Statement: aws.String(`SELECT * FROM "Rows"."ByH"`)})
		refused(t, err, "ValidationException", "Cannot read from backfilling global secondary index: ByH")

		_, err = c.UpdateTable(ctx, indexUpdate("Rows", false))
		refused(t, err, "LimitExceededException", "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table")
		_, err = c.UpdateTable(ctx, &dynamodb.UpdateTableInput{TableName: aws.String("Rows"), DeletionProtectionEnabled: aws.Bool(true)})
		refused(t, err, "ResourceInUseException", inUse+"Table is being updated: Rows")
		_, err = c.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: aws.String("Rows")})
		refused(t, err, "ResourceInUseException", inUse+"Cannot delete table while indexes are being created, updated, or deleted.")

		db.Clock.Advance(2 * time.Second)
		d = describe(t, c, "Rows")
		require.EqualValues(t, "ACTIVE", d.TableStatus)
		require.EqualValues(t, "ACTIVE", d.GlobalSecondaryIndexes[0].IndexStatus)
		_, err = c.Query(ctx, onIndex)
		require.NoError(t, err)

		_, err = c.UpdateTable(ctx, indexUpdate("Rows", false))
		require.NoError(t, err)
		d = describe(t, c, "Rows")
		require.EqualValues(t, "UPDATING", d.TableStatus)
		require.EqualValues(t, "DELETING", d.GlobalSecondaryIndexes[0].IndexStatus)
		db.Clock.Advance(2 * time.Second)
		require.Empty(t, describe(t, c, "Rows").GlobalSecondaryIndexes)

		_, err = c.UpdateTable(ctx, &dynamodb.UpdateTableInput{TableName: aws.String("Rows"), TableClass: types.TableClassStandardInfrequentAccess})
		require.NoError(t, err)
		_, err = c.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: aws.String("Rows")})
		refused(t, err, "ResourceInUseException", inUse+"Table: Rows is in the process of being updated.")
	}, delayed)
}

func TestTableDelayDeleting(t *testing.T) {
	threeWays(t, func(t *testing.T, db *sortkeytest.DB, c *dynamodb.Client) {
		ctx := t.Context()
		require.NoError(t, putRow(t, c, "a", 1))
		_, err := c.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: aws.String("Rows")})
		require.NoError(t, err)
		require.EqualValues(t, "DELETING", describe(t, c, "Rows").TableStatus)
		refused(t, putRow(t, c, "a", 2), "ResourceNotFoundException", "Requested resource not found")
		_, err = c.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: aws.String("Rows")})
		refused(t, err, "ResourceInUseException", inUse+"Table is being deleted: Rows")
		again := later()
		again.TableName = aws.String("Rows")
		_, err = c.CreateTable(ctx, again)
		refused(t, err, "ResourceInUseException", "Table already exists: Rows")

		// Until somebody sweeps, the clock alone decides.
		db.Clock.Set(db.Clock.Now().Add(2 * time.Second))
		_, err = c.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String("Rows")})
		refused(t, err, "ResourceNotFoundException", "Requested resource not found: Table: Rows not found")
		names, err := c.ListTables(ctx, nil)
		require.NoError(t, err)
		require.Empty(t, names.TableNames)
		_, err = c.CreateTable(ctx, again)
		require.NoError(t, err)
		db.Clock.Advance(2 * time.Second)
		out, err := c.Scan(ctx, &dynamodb.ScanInput{TableName: aws.String("Rows")})
		require.NoError(t, err)
		require.Empty(t, out.Items, "the items went with the table")
	}, delayed)
}

// The waiters of the SDK take no real time in a bubble.
func TestTableDelayWaiters(t *testing.T) {
	for _, way := range []string{"Client", "Direct"} {
		t.Run(way, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				db := sortkeytest.New(t, func(o *sortkey.Options) { o.TableDelay = time.Minute })
				c := db.Client
				if way == "Direct" {
					c = db.Direct
				}
				began := time.Now()
				_, err := c.CreateTable(t.Context(), later())
				require.NoError(t, err)
				name := &dynamodb.DescribeTableInput{TableName: aws.String("Later")}
				require.NoError(t, dynamodb.NewTableExistsWaiter(c).Wait(t.Context(), name, time.Hour))
				require.GreaterOrEqual(t, time.Since(began), time.Minute)
				require.NoError(t, err)
				_, err = c.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: aws.String("Later")})
				require.NoError(t, err)
				require.NoError(t, dynamodb.NewTableNotExistsWaiter(c).Wait(t.Context(), name, time.Hour))
				require.GreaterOrEqual(t, time.Since(began), 2*time.Minute)
			})
		})
	}
}
