package sdk_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/sortkeytest"
)

func enforced(o *sortkey.Options) { o.Simulate.EnforceThroughput = true }

// metered runs a test each way over a table Tab of 5 read and 5 write units, with an
// index ByG of 5 and index units, and a clock that stands still. Clients do not retry.
func metered(t *testing.T, index int64, fn func(t *testing.T, db *sortkeytest.DB, c *dynamodb.Client)) {
	t.Helper()
	eachWay(t, func(t *testing.T, db *sortkeytest.DB, c *dynamodb.Client) {
		db.Clock.Set(time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC))
		in := later()
		in.TableName, in.BillingMode = aws.String("Tab"), types.BillingModeProvisioned
		in.ProvisionedThroughput = &types.ProvisionedThroughput{
			ReadCapacityUnits: aws.Int64(5), WriteCapacityUnits: aws.Int64(5),
		}
		in.GlobalSecondaryIndexes[0].ProvisionedThroughput = &types.ProvisionedThroughput{
			ReadCapacityUnits: aws.Int64(5), WriteCapacityUnits: &index,
		}
		db.CreateTable(in)
		fn(t, db, impatient(c))
	}, enforced)
}

// impatient returns a client that does not retry.
func impatient(c *dynamodb.Client) *dynamodb.Client {
	return dynamodb.New(c.Options(), func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })
}

// item returns an item of Tab. It consumes a unit for each KB.
func item(pk, g string, kilobytes int) map[string]types.AttributeValue {
	it := map[string]types.AttributeValue{"pk": s(pk), "fat": s(strings.Repeat("x", max(0, kilobytes*1024-100)))}
	if g != "" {
		it["g"] = s(g)
	}
	return it
}

func putItem(t *testing.T, c *dynamodb.Client, it map[string]types.AttributeValue) error {
	t.Helper()
	_, err := c.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("Tab"), Item: it})
	return err
}

func getItem(t *testing.T, c *dynamodb.Client, pk string) error {
	t.Helper()
	_, err := c.GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: aws.String("Tab"), Key: map[string]types.AttributeValue{"pk": s(pk)},
		ProjectionExpression: aws.String("pk"),
	})
	return err
}

const (
	codeProvisioned = "ProvisionedThroughputExceededException"
	codeThrottling  = "ThrottlingException"

	msgTable = "The level of configured provisioned throughput for the table was exceeded. " +
		"Consider increasing your provisioning level with the UpdateTable API."
	msgIndex = "The level of configured provisioned throughput for one or more global secondary indexes of the " +
		"table was exceeded. Consider increasing your provisioning level for the under-provisioned global secondary " +
		"indexes with the UpdateTable API"
	msgOnDemand = "Throughput exceeds the current capacity of your table or index. " +
		"DynamoDB is automatically scaling your table or index so please try again shortly. " +
		"If exceptions persist, check if you have a hot key: " +
		"https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html"
)

// admitted returns how many calls are answered before one is throttled.
func admitted(t *testing.T, call func(n int) error, code, message string) (n int) {
	t.Helper()
	for ; n < 5000; n++ {
		if err := call(n); err != nil {
			refused(t, err, code, message)
			return n
		}
	}
	t.Fatal("no call is throttled")
	return 0
}

// Source of the burst: DG/burst-adaptive-capacity.html.
func TestThroughputBurst(t *testing.T) {
	metered(t, 5, func(t *testing.T, db *sortkeytest.DB, c *dynamodb.Client) {
		put := func(n int) error { return putItem(t, c, item(strconv.Itoa(n), "", 1)) }
		get := func(int) error { return getItem(t, c, "none") }
		require.Equal(t, 5, admitted(t, put, codeProvisioned, msgTable), "units of a new table")
		require.Equal(t, 10, admitted(t, get, codeProvisioned, msgTable), "reads of half a unit")
		db.Clock.Advance(2 * time.Second)
		require.Equal(t, 10, admitted(t, put, codeProvisioned, msgTable))
		db.Clock.Advance(time.Hour)
		require.Equal(t, 1500, admitted(t, put, codeProvisioned, msgTable), "of 300 seconds")

		// A condition that does not hold consumes too, and is not looked at when
		// the table is throttled.
		db.Clock.Advance(time.Second)
		_, err := c.PutItem(t.Context(), &dynamodb.PutItemInput{
			TableName: aws.String("Tab"), Item: item("1", "", 5),
			ConditionExpression: aws.String("attribute_not_exists(pk)"),
		})
		refused(t, err, "ConditionalCheckFailedException", "The conditional request failed")
		require.Equal(t, 4, admitted(t, put, codeProvisioned, msgTable))
		_, err = c.PutItem(t.Context(), &dynamodb.PutItemInput{
			TableName: aws.String("Tab"), Item: item("1", "", 1),
			ConditionExpression: aws.String("attribute_not_exists(pk)"),
		})
		refused(t, err, codeProvisioned, msgTable)

		_, err = c.UpdateTable(t.Context(), &dynamodb.UpdateTableInput{
			TableName: aws.String("Tab"),
			ProvisionedThroughput: &types.ProvisionedThroughput{
				ReadCapacityUnits: aws.Int64(5), WriteCapacityUnits: aws.Int64(50),
			},
		})
		require.NoError(t, err)
		db.Clock.Advance(time.Second)
		require.Equal(t, 50, admitted(t, put, codeProvisioned, msgTable), "after an increase")
	})
}

// A page is charged once it is read: it may put the table in debt, and the next one waits.
func TestThroughputOfPages(t *testing.T) {
	metered(t, 1000, func(t *testing.T, db *sortkeytest.DB, c *dynamodb.Client) {
		db.Clock.Advance(time.Hour)
		for n := range 10 {
			require.NoError(t, putItem(t, c, item(strconv.Itoa(n), "g", 40)))
		}
		db.Clock.Advance(time.Hour)
		scan := func(int) error {
			_, err := c.Scan(t.Context(), &dynamodb.ScanInput{
				TableName: aws.String("Tab"), ConsistentRead: aws.Bool(true), ProjectionExpression: aws.String("pk"),
			})
			return err
		}
		require.Equal(t, 15, admitted(t, scan, codeProvisioned, msgTable), "of 100 units each, 1500 in all")
		statement := func(int) error {
			_, err := c.ExecuteStatement(t.Context(), &dynamodb.ExecuteStatementInput{
				Statement: aws.String(`SELECT pk FROM "Tab"`),
			})
			return err
		}
		refused(t, statement(0), codeProvisioned, msgTable)
		in := &dynamodb.QueryInput{
			TableName: aws.String("Tab"), IndexName: aws.String("ByG"), KeyConditionExpression: aws.String("g = :g"),
			ProjectionExpression:      aws.String("pk"),
			ExpressionAttributeValues: map[string]types.AttributeValue{":g": s("g")},
		}
		query := func(int) error { _, err := c.Query(t.Context(), in); return err }
		require.Equal(t, 30, admitted(t, query, codeProvisioned, msgIndex), "the index has units of its own")
	})
}

// A write that an index does not admit changes nothing. Source: DG/GSI.html.
func TestThroughputOfIndex(t *testing.T) {
	metered(t, 2, func(t *testing.T, db *sortkeytest.DB, c *dynamodb.Client) {
		put := func(n int) error { return putItem(t, c, item(strconv.Itoa(n), "g", 1)) }
		require.Equal(t, 2, admitted(t, put, codeProvisioned, msgIndex))
		require.Len(t, sortkeytest.Items[map[string]any](db, "Tab"), 2)
		require.NoError(t, putItem(t, c, item("x", "", 1)), "an item that is not in the index")
	})
}

// A hot key is throttled however much the table has. Source:
// DG/bp-partition-key-design.html.
func TestThroughputOfHotKey(t *testing.T) {
	eachWay(t, func(t *testing.T, db *sortkeytest.DB, c *dynamodb.Client) {
		db.Clock.Set(time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC))
		db.Table("Tab", "pk", sortkeytest.Global("ByG", "g"))
		c = impatient(c)
		hot := func(int) error { return putItem(t, c, item("hot", "", 100)) }
		require.Equal(t, 10, admitted(t, hot, codeThrottling, msgOnDemand), "1,000 units")
		require.NoError(t, putItem(t, c, item("cold", "", 1)))
		db.Clock.Advance(time.Second)
		require.Equal(t, 10, admitted(t, hot, codeThrottling, msgOnDemand), "and not what was left of an hour")
		read := func(int) error { return getItem(t, c, "hot") }
		require.Equal(t, 3000*2/25, admitted(t, read, codeThrottling, msgOnDemand), "3,000 units")

		same := func(n int) error { return putItem(t, c, item(fmt.Sprint("pk", n), "same", 100)) }
		require.Equal(t, 10, admitted(t, same, codeThrottling,
			"Throughput exceeds the current capacity for one or more global secondary indexes. "+
				"DynamoDB is automatically scaling your index so please try again shortly."))

		_, err := c.UpdateTable(t.Context(), &dynamodb.UpdateTableInput{
			TableName:          aws.String("Tab"),
			OnDemandThroughput: &types.OnDemandThroughput{MaxWriteRequestUnits: aws.Int64(2)},
		})
		require.NoError(t, err)
		db.Clock.Advance(time.Hour)
		all := func(n int) error { return putItem(t, c, item(strconv.Itoa(n), "", 1)) }
		require.Equal(t, 600,
			admitted(t, all, codeThrottling,
				"Throughput exceeds the maximum OnDemandThroughput configured on table or index"))
	}, enforced)
}

// A batch leaves throttled requests unprocessed, and fails if all of them are.
// Source: API_BatchGetItem, API_BatchWriteItem.
func TestThroughputOfBatches(t *testing.T) {
	metered(t, 2, func(t *testing.T, db *sortkeytest.DB, c *dynamodb.Client) {
		ctx := t.Context()
		var writes []types.WriteRequest
		for n := range 7 {
			g := ""
			if n < 4 {
				g = "g"
			}
			writes = append(writes, types.WriteRequest{
				PutRequest: &types.PutRequest{Item: item(strconv.Itoa(n), g, 1)},
			})
		}
		out, err := c.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
			RequestItems: map[string][]types.WriteRequest{"Tab": writes}, ReturnConsumedCapacity: "TOTAL",
		})
		require.NoError(t, err)
		require.Equal(t, writes[2:4], out.UnprocessedItems["Tab"], "the index admits two")
		require.InDelta(t, 7, *out.ConsumedCapacity[0].CapacityUnits, 0)
		require.Len(t, sortkeytest.Items[map[string]any](db, "Tab"), 5)
		_, err = c.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
			RequestItems: map[string][]types.WriteRequest{"Tab": writes},
		})
		refused(t, err, codeProvisioned, msgTable)

		db.Clock.Advance(time.Second)
		var keys []map[string]types.AttributeValue
		for n := range 30 {
			keys = append(keys, map[string]types.AttributeValue{"pk": s(strconv.Itoa(n))})
		}
		get := &dynamodb.BatchGetItemInput{
			RequestItems: map[string]types.KeysAndAttributes{
				"Tab": {Keys: keys, ProjectionExpression: aws.String("pk")},
			},
		}
		got, err := c.BatchGetItem(ctx, get)
		require.NoError(t, err)
		left := got.UnprocessedKeys["Tab"]
		require.NotEmpty(t, left.Keys)
		require.Equal(t, keys[30-len(left.Keys):], left.Keys)
		require.Equal(t, "pk", *left.ProjectionExpression)
		_, err = c.BatchGetItem(ctx, get)
		refused(t, err, codeProvisioned, msgTable)
	})
}

// A throttled transaction is cancelled with a reason for each action at fault. Source:
// API_TransactWriteItems.
func TestThroughputOfTransactions(t *testing.T) {
	metered(t, 5, func(t *testing.T, db *sortkeytest.DB, c *dynamodb.Client) {
		ctx := t.Context()
		cancelled := func(err error) (codes []string) {
			t.Helper()
			var e *types.TransactionCanceledException
			require.ErrorAs(t, err, &e)
			for _, r := range e.CancellationReasons {
				codes = append(codes, *r.Code)
			}
			return codes
		}
		const exceeded = "ProvisionedThroughputExceeded"
		var puts []types.TransactWriteItem
		var inserts []types.ParameterizedStatement
		for n := range 4 {
			puts = append(puts, types.TransactWriteItem{
				Put: &types.Put{TableName: aws.String("Tab"), Item: item(strconv.Itoa(n), "", 1)},
			})
			inserts = append(inserts, types.ParameterizedStatement{
				Statement: aws.String(fmt.Sprintf(`INSERT INTO "Tab" VALUE {'pk': '%d'}`, n)),
			})
		}
		write := &dynamodb.TransactWriteItemsInput{TransactItems: puts}
		_, err := c.TransactWriteItems(ctx, write)
		require.Equal(t, []string{"None", "None", "None", exceeded}, cancelled(err), "two units for each")
		_, err = c.ExecuteTransaction(ctx, &dynamodb.ExecuteTransactionInput{TransactStatements: inserts})
		require.Equal(t, []string{"None", "None", "None", exceeded}, cancelled(err))
		db.Clock.Advance(time.Second)
		_, err = c.TransactWriteItems(ctx, write)
		require.NoError(t, err, "nothing was consumed")

		var gets []types.TransactGetItem
		var selects []types.ParameterizedStatement
		for n := range 7 {
			gets = append(gets, types.TransactGetItem{
				Get: &types.Get{
					TableName: aws.String("Tab"), Key: map[string]types.AttributeValue{"pk": s(strconv.Itoa(n))},
				},
			})
			selects = append(selects, types.ParameterizedStatement{
				Statement: aws.String(fmt.Sprintf(`SELECT * FROM "Tab" WHERE pk = '%d'`, n)),
			})
		}
		want := []string{"None", "None", "None", "None", "None", exceeded, exceeded}
		_, err = c.TransactGetItems(ctx, &dynamodb.TransactGetItemsInput{TransactItems: gets})
		require.Equal(t, want, cancelled(err))
		_, err = c.ExecuteTransaction(ctx, &dynamodb.ExecuteTransactionInput{TransactStatements: selects})
		require.Equal(t, want, cancelled(err))

		db.Clock.Advance(-time.Hour) // a clock that goes back fills nothing
		admitted(t, func(int) error { return getItem(t, c, "0") }, codeProvisioned, msgTable)
		batch, err := c.BatchExecuteStatement(ctx, &dynamodb.BatchExecuteStatementInput{
			Statements: []types.BatchStatementRequest{{Statement: selects[0].Statement}},
		})
		require.NoError(t, err)
		require.EqualValues(t, exceeded, batch.Responses[0].Error.Code)
		require.Empty(t, batch.Responses[0].Item)
	})
}

// Throttled requests are retried by the SDK until they get through. In a bubble that
// takes no real time.
func TestThroughputRetries(t *testing.T) {
	for _, way := range inProcess {
		t.Run(way, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				db := sortkeytest.New(t, enforced)
				c := clientOf(t, db, way)
				c = dynamodb.New(c.Options(), func(o *dynamodb.Options) { o.RetryMaxAttempts = 20 })
				db.CreateTable(&dynamodb.CreateTableInput{
					TableName: aws.String("Tab"),
					AttributeDefinitions: []types.AttributeDefinition{
						{AttributeName: aws.String("pk"), AttributeType: "S"},
					},
					KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: "HASH"}},
					ProvisionedThroughput: &types.ProvisionedThroughput{
						ReadCapacityUnits: aws.Int64(1), WriteCapacityUnits: aws.Int64(1),
					},
				})
				began := time.Now()
				for n := range 30 {
					require.NoError(t, putItem(t, c, item(strconv.Itoa(n), "", 1)))
				}
				// Each write may put the table a unit into debt.
				require.GreaterOrEqual(t, time.Since(began), 28*time.Second)
			})
		})
	}
}
