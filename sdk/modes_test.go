package sdk_test

import (
	"errors"
	"slices"
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
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/memory"
)

// refused requires an error with a code and a message.
func refused(t *testing.T, err error, code, message string) {
	t.Helper()
	e, ok := errors.AsType[smithy.APIError](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, code, e.ErrorCode())
	require.Equal(t, message, e.ErrorMessage())
}

func delayed(o *sortkey.Options) { o.Simulate.TableDelay = 2 * time.Second }

// later is the input of a table with one index.
func later() *dynamodb.CreateTableInput {
	return &dynamodb.CreateTableInput{
		TableName: aws.String("Later"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("pk"), AttributeType: "S"}, {AttributeName: aws.String("g"), AttributeType: "S"},
		},
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: "HASH"}},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName:  aws.String("ByG"),
			KeySchema:  []types.KeySchemaElement{{AttributeName: aws.String("g"), KeyType: "HASH"}},
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		}},
	}
}

// indexUpdate adds or deletes the index ByH of a table.
func indexUpdate(name string, add bool) *dynamodb.UpdateTableInput {
	in := &dynamodb.UpdateTableInput{TableName: &name}
	if !add {
		in.GlobalSecondaryIndexUpdates = []types.GlobalSecondaryIndexUpdate{
			{Delete: &types.DeleteGlobalSecondaryIndexAction{IndexName: aws.String("ByH")}},
		}
		return in
	}
	in.AttributeDefinitions = []types.AttributeDefinition{{AttributeName: aws.String("h"), AttributeType: "S"}}
	in.GlobalSecondaryIndexUpdates = []types.GlobalSecondaryIndexUpdate{
		{Create: &types.CreateGlobalSecondaryIndexAction{
			IndexName:  aws.String("ByH"),
			KeySchema:  []types.KeySchemaElement{{AttributeName: aws.String("h"), KeyType: "HASH"}},
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		}},
	}
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
	eachWay(t, func(t *testing.T, db *sortkeytest.DB, c *dynamodb.Client) {
		ctx := t.Context()
		_, err := c.CreateTable(ctx, later())
		require.NoError(t, err)
		d := describe(t, c, "Later")
		require.EqualValues(t, "CREATING", d.TableStatus)
		require.EqualValues(t, "CREATING", d.GlobalSecondaryIndexes[0].IndexStatus)
		require.Nil(t, d.BillingModeSummary.LastUpdateToPayPerRequestDateTime)
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
		_, err = c.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
			RequestItems: map[string]types.KeysAndAttributes{"Later": {Keys: []map[string]types.AttributeValue{item}}},
		})
		refused(t, err, "ResourceNotFoundException", none)
		_, err = c.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
			TransactItems: []types.TransactWriteItem{{Put: &types.Put{TableName: aws.String("Later"), Item: item}}},
		})
		refused(t, err, "ResourceNotFoundException", none)
		_, err = c.ExecuteStatement(ctx, &dynamodb.ExecuteStatementInput{
			Statement: aws.String(`SELECT * FROM "Later"`),
		})
		refused(t, err, "ResourceNotFoundException", none)

		_, err = c.CreateTable(ctx, later())
		refused(t, err, "ResourceInUseException", inUse+"Table is being created: Later")
		_, err = c.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: aws.String("Later")})
		refused(t, err, "ResourceInUseException", inUse+"Table is being created: Later")
		_, err = c.UpdateTable(ctx, &dynamodb.UpdateTableInput{
			TableName: aws.String("Later"), DeletionProtectionEnabled: aws.Bool(true),
		})
		refused(t, err, "ResourceInUseException", inUse+"Table is being created: Later")
		_, err = c.TagResource(ctx, &dynamodb.TagResourceInput{
			ResourceArn: d.TableArn, Tags: []types.Tag{{Key: aws.String("k"), Value: aws.String("v")}},
		})
		refused(t, err, "ResourceInUseException", inUse+"Table is being created: Later")
		_, err = c.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
			TableName: aws.String("Later"),
			TimeToLiveSpecification: &types.TimeToLiveSpecification{
				AttributeName: aws.String("x"), Enabled: aws.Bool(true),
			},
		})
		refused(t, err, "ResourceNotFoundException", "Requested resource not found: Table: Later not found")

		db.Clock.Advance(2 * time.Second)
		d = describe(t, c, "Later")
		require.EqualValues(t, "ACTIVE", d.TableStatus)
		require.EqualValues(t, "ACTIVE", d.GlobalSecondaryIndexes[0].IndexStatus)
		require.NotNil(t, d.BillingModeSummary.LastUpdateToPayPerRequestDateTime)
		_, err = c.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("Later"), Item: item})
		require.NoError(t, err)
		_, err = c.CreateTable(ctx, later())
		refused(t, err, "ResourceInUseException", "Table already exists: Later")
	}, delayed)
}

func TestTableDelayUpdating(t *testing.T) {
	eachWay(t, func(t *testing.T, db *sortkeytest.DB, c *dynamodb.Client) {
		ctx := t.Context()
		_, err := c.UpdateTable(ctx, indexUpdate("Rows", true))
		require.NoError(t, err)
		d := describe(t, c, "Rows")
		require.EqualValues(t, "UPDATING", d.TableStatus)
		require.EqualValues(t, "CREATING", d.GlobalSecondaryIndexes[0].IndexStatus)
		require.False(t, *d.GlobalSecondaryIndexes[0].Backfilling)

		require.NoError(t, putRow(t, c, "a", 1), "items can be written meanwhile")
		require.True(t, has(t, c, "a", 1))
		onIndex := queryOf("a")
		onIndex.IndexName, onIndex.KeyConditionExpression = aws.String("ByH"), aws.String("h = :p")
		_, err = c.Query(ctx, onIndex)
		refused(t, err, "ValidationException", "Cannot read from backfilling global secondary index: ByH")
		_, err = c.ExecuteStatement(ctx, &dynamodb.ExecuteStatementInput{
			Statement: aws.String(`SELECT * FROM "Rows"."ByH"`),
		})
		refused(t, err, "ValidationException", "Cannot read from backfilling global secondary index: ByH")

		_, err = c.UpdateTable(ctx, indexUpdate("Rows", false))
		refused(t, err, "LimitExceededException",
			"Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table")
		_, err = c.UpdateTable(ctx, &dynamodb.UpdateTableInput{
			TableName: aws.String("Rows"), TableClass: types.TableClassStandardInfrequentAccess,
		})
		refused(t, err, "ResourceInUseException", inUse+"Table is being updated: Rows")
		_, err = c.UpdateTable(ctx, &dynamodb.UpdateTableInput{
			TableName: aws.String("Rows"), DeletionProtectionEnabled: aws.Bool(false),
		})
		require.NoError(t, err, "a change that takes no time waits for none")
		_, err = c.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: aws.String("Rows")})
		refused(t, err, "ResourceInUseException",
			inUse+"Cannot delete table while indexes are being created, updated, or deleted.")

		// A program that waits for the table alone reads the index too early.
		db.Clock.Advance(time.Second)
		d = describe(t, c, "Rows")
		require.EqualValues(t, "ACTIVE", d.TableStatus)
		require.EqualValues(t, "CREATING", d.GlobalSecondaryIndexes[0].IndexStatus)
		require.True(t, *d.GlobalSecondaryIndexes[0].Backfilling)
		_, err = c.Query(ctx, onIndex)
		refused(t, err, "ValidationException", "Cannot read from backfilling global secondary index: ByH")

		db.Clock.Advance(time.Second)
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

		_, err = c.UpdateTable(ctx, &dynamodb.UpdateTableInput{
			TableName: aws.String("Rows"), TableClass: types.TableClassStandardInfrequentAccess,
		})
		require.NoError(t, err)
		_, err = c.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: aws.String("Rows")})
		refused(t, err, "ResourceInUseException", inUse+"Table: Rows is in the process of being updated.")
	}, delayed)
}

func TestTableDelayDeleting(t *testing.T) {
	eachWay(t, func(t *testing.T, db *sortkeytest.DB, c *dynamodb.Client) {
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
	for _, way := range inProcess {
		t.Run(way, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				db := sortkeytest.New(t, func(o *sortkey.Options) { o.Simulate.TableDelay = time.Minute })
				c := clientOf(t, db, way)
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

// putIndexed writes a row that the index ByG holds.
func putIndexed(t *testing.T, c *dynamodb.Client, sk int) {
	t.Helper()
	item := key("a", sk)
	item["g"] = s("a")
	_, err := c.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("Indexed"), Item: item})
	require.NoError(t, err)
}

func TestHoldIndexes(t *testing.T) {
	eachWay(t, func(t *testing.T, db *sortkeytest.DB, c *dynamodb.Client) {
		db.Table("Indexed", "pk / sk:N", sortkeytest.Global("ByG", "g / sk:N"), sortkeytest.Local("ByS", "g"))
		query := func(index string, consistent bool) (list []string) {
			in := &dynamodb.QueryInput{
				TableName: aws.String("Indexed"), KeyConditionExpression: aws.String("pk = :p"),
				ConsistentRead: &consistent, ExpressionAttributeValues: map[string]types.AttributeValue{":p": s("a")},
			}
			if index != "" {
				in.IndexName = &index
			}
			if index == "ByG" {
				in.KeyConditionExpression = aws.String("g = :p")
			}
			out, err := c.Query(t.Context(), in)
			require.NoError(t, err)
			for _, it := range out.Items {
				list = append(list, it["sk"].(*types.AttributeValueMemberN).Value)
			}
			slices.Sort(list) // a local index has equal keys in any order
			return list
		}
		putIndexed(t, c, 1)
		db.HoldIndexes()
		putIndexed(t, c, 2)
		require.Equal(t, []string{"1"}, query("ByG", false))
		require.Equal(t, []string{"1"}, query("ByS", false))
		require.Equal(t, []string{"1", "2"}, query("ByS", true), "a consistent read")
		require.Equal(t, []string{"1", "2"}, query("", false), "the table")
		scan, err := c.Scan(t.Context(), &dynamodb.ScanInput{
			TableName: aws.String("Indexed"), IndexName: aws.String("ByG"),
		})
		require.NoError(t, err)
		require.Len(t, scan.Items, 1)
		out, err := c.ExecuteStatement(t.Context(), &dynamodb.ExecuteStatementInput{
			Statement: aws.String(`SELECT * FROM "Indexed"."ByG"`),
		})
		require.NoError(t, err)
		require.Len(t, out.Items, 1)

		_, err = c.UpdateTable(t.Context(), indexUpdate("Indexed", true))
		require.NoError(t, err)
		_, err = c.PutItem(t.Context(),
			&dynamodb.PutItemInput{TableName: aws.String("Indexed"), Item: map[string]types.AttributeValue{
				"pk": s("a"), "sk": &types.AttributeValueMemberN{Value: "3"}, "g": s("a"), "h": s("x"),
			}})
		require.NoError(t, err)
		scan, err = c.Scan(t.Context(), &dynamodb.ScanInput{
			TableName: aws.String("Indexed"), IndexName: aws.String("ByH"),
		})
		require.NoError(t, err)
		require.Len(t, scan.Items, 1, "an index that is newer is not held")
		require.Equal(t, []string{"1"}, query("ByG", false))

		db.HoldIndexes() // anew
		require.Equal(t, []string{"1", "2", "3"}, query("ByG", false))
		putIndexed(t, c, 4)
		require.Equal(t, []string{"1", "2", "3"}, query("ByG", false))
		held := sortkeytest.Items[map[string]any](db.Fork(t), "Indexed")
		require.Len(t, held, 4)
		db.DB.Settle()
		require.Equal(t, []string{"1", "2", "3", "4"}, query("ByG", false))
	})
}

// Oldest makes every eventually consistent read miss what the window allows.
func TestStaleOldest(t *testing.T) {
	eachWay(t, func(t *testing.T, db *sortkeytest.DB, c *dynamodb.Client) {
		ctx := t.Context()
		db.Clock.Set(time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC))
		require.NoError(t, putRow(t, c, "a", 1))
		get := func(sk int, consistent bool) bool {
			out, err := c.GetItem(ctx, &dynamodb.GetItemInput{
				TableName: aws.String("Rows"), Key: key("a", sk), ConsistentRead: &consistent,
			})
			require.NoError(t, err)
			return out.Item != nil
		}
		require.False(t, get(1, false))
		require.True(t, get(1, true))
		batch, err := c.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
			RequestItems: map[string]types.KeysAndAttributes{
				"Rows": {Keys: []map[string]types.AttributeValue{key("a", 1)}},
			},
		})
		require.NoError(t, err)
		require.Empty(t, batch.Responses["Rows"])
		statements, err := c.BatchExecuteStatement(ctx, &dynamodb.BatchExecuteStatementInput{
			Statements: []types.BatchStatementRequest{
				{Statement: aws.String(`SELECT * FROM "Rows" WHERE pk = 'a' AND sk = 1`)},
			},
		})
		require.NoError(t, err)
		require.Empty(t, statements.Responses[0].Item)
		transact, err := c.TransactGetItems(ctx, &dynamodb.TransactGetItemsInput{
			TransactItems: []types.TransactGetItem{{Get: &types.Get{TableName: aws.String("Rows"), Key: key("a", 1)}}},
		})
		require.NoError(t, err)
		require.NotEmpty(t, transact.Responses[0].Item, "transactions are serializable")
		_, err = c.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: aws.String("Rows"), Key: key("a", 1), ConditionExpression: aws.String("attribute_exists(pk)"),
		})
		require.NoError(t, err, "conditions see every change")

		db.Clock.Advance(time.Second)
		require.NoError(t, putRow(t, c, "a", 2))
		db.Clock.Advance(time.Second)
		require.True(t, get(1, false), "the window has passed for the first")
		require.False(t, get(2, false))
		db.DB.Settle()
		require.True(t, get(2, false))
	}, func(o *sortkey.Options) {
		o.Simulate.StaleReads = sortkey.StaleReads{Window: 2 * time.Second, Oldest: true}
	})
}

// The seed chooses: the same one chooses the same, and every version in the window is
// seen some time.
func TestStaleSeed(t *testing.T) {
	answers := func(seed uint64) (seen []int) {
		db := sortkeytest.New(t, func(o *sortkey.Options) {
			o.Simulate.StaleReads = sortkey.StaleReads{Window: time.Second, Seed: seed}
		})
		db.Clock.Set(time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC))
		db.Table("Rows", "pk / sk:N")
		for sk := range 3 {
			require.NoError(t, putRow(t, db.Client, "a", sk))
		}
		for range 50 {
			out, err := db.Client.Query(t.Context(), queryOf("a"))
			require.NoError(t, err)
			seen = append(seen, len(out.Items))
		}
		return seen
	}
	first := answers(7)
	require.Equal(t, first, answers(7))
	require.NotEqual(t, first, answers(8))
	for n := range 4 {
		require.Contains(t, first, n)
	}
}

// slowForker is a store that forks, but not at once.
type slowForker struct{ store.Store }

func (slowForker) Fork() (store.Store, error) { return memory.Open(), nil }

func TestStaleReadsNeedVersions(t *testing.T) {
	_, err := sortkey.Open(sortkey.Options{
		Store:    slowForker{memory.Open()},
		Simulate: sortkey.Simulation{StaleReads: sortkey.StaleReads{Window: time.Second}},
	})
	require.ErrorIs(t, err, errors.ErrUnsupported)
	db, err := sortkey.Open(sortkey.Options{Store: slowForker{memory.Open()}})
	require.NoError(t, err)
	require.ErrorIs(t, db.HoldIndexes(), errors.ErrUnsupported)
	db.Settle()
	require.NoError(t, db.Close())
}
