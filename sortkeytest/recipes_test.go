package sortkeytest_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/sdk"
	"github.com/sortkey/sortkey/sortkeytest"
)

// These tests are recipes to copy. Each makes something rare happen to a function of a program, and shows that the
// function handles it.

func id(v string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: v}}
}

func accounts(t *testing.T) *sortkeytest.DB {
	db := sortkeytest.New(t)
	db.Table("Accounts", "id")
	db.Put("Accounts", []map[string]any{{"id": "a", "balance": 100}, {"id": "b", "balance": 0}})
	return db
}

// The code under test is throttled: the SDK retries until the third write succeeds.
func TestRecipeThrottled(t *testing.T) {
	db := accounts(t)
	throttled := db.Fail(sortkeytest.Fault{
		Operation: "PutItem", Table: "Accounts", Code: "ProvisionedThroughputExceededException", Times: 2,
	})
	client := sdk.Client(db.DB, func(o *dynamodb.Options) {
		o.Retryer = retry.NewStandard(func(o *retry.StandardOptions) { o.MaxBackoff = time.Millisecond })
	})
	_, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("Accounts"), Item: id("c")})
	require.NoError(t, err)
	require.Equal(t, 2, throttled.Count())
}

// transfer moves an amount between accounts. Because of the token, a repeated request has no second effect.
func transfer(ctx context.Context, c *dynamodb.Client, token, amount string) error {
	add := func(account, sign string) types.TransactWriteItem {
		return types.TransactWriteItem{Update: &types.Update{
			TableName: aws.String("Accounts"), Key: id(account),
			UpdateExpression: aws.String("SET balance = balance " + sign + " :n"),
			ExpressionAttributeValues: map[string]types.AttributeValue{
				":n": &types.AttributeValueMemberN{Value: amount},
			},
		}}
	}
	in := &dynamodb.TransactWriteItemsInput{
		TransactItems: []types.TransactWriteItem{add("a", "-"), add("b", "+")}, ClientRequestToken: &token,
	}
	for attempt := 1; ; attempt++ {
		_, err := c.TransactWriteItems(ctx, in)
		var cancelled *types.TransactionCanceledException
		if err == nil || attempt == 3 ||
			errors.As(err, &cancelled) && aws.ToString(cancelled.CancellationReasons[0].Code) == "ValidationError" {
			return err
		}
	}
}

// An answer is lost after the transfer was executed. The token prevents a second transfer.
func TestRecipeLostAnswer(t *testing.T) {
	db := accounts(t)
	before := db.Fork(t)
	db.Fail(sortkeytest.Fault{Operation: "TransactWriteItems", Times: 1, LoseAnswer: true})
	require.NoError(t, transfer(t.Context(), db.Client, "t1", "30"))
	require.Equal(t, "Accounts: id\n~ \"a\"  {balance: 100 → 70}\n~ \"b\"  {balance: 0 → 30}\n", db.Diff(before))
}

// The second account is part of another transaction, so the SDK retries the transfer.
func TestRecipeConflict(t *testing.T) {
	db := accounts(t)
	db.Fail(sortkeytest.Fault{Operation: "TransactWriteItems", Reasons: []string{"", "TransactionConflict"}, Times: 2})
	require.NoError(t, transfer(t.Context(), db.Client, "t1", "30"))
}

// putAll writes items, and sends those again that a batch leaves unprocessed.
func putAll(ctx context.Context, c *dynamodb.Client, ids ...string) error {
	requests := map[string][]types.WriteRequest{}
	for _, v := range ids {
		requests["Accounts"] = append(requests["Accounts"], types.WriteRequest{
			PutRequest: &types.PutRequest{Item: id(v)},
		})
	}
	for len(requests) > 0 {
		out, err := c.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: requests})
		if err != nil {
			return err
		}
		requests = out.UnprocessedItems
	}
	return nil
}

// A batch leaves requests unprocessed, and the program must send them again.
func TestRecipeUnprocessed(t *testing.T) {
	db := accounts(t)
	db.Fail(sortkeytest.Fault{Operation: "BatchWriteItem", Unprocessed: 2, Times: 1})
	require.NoError(t, putAll(t.Context(), db.Client, "c", "d", "e"))
	require.Len(t, sortkeytest.Items[map[string]any](db, "Accounts"), 5)
}

// place puts an order and returns how many orders are new. If patient is false, it does not read again, so its count
// is right only while indexes show each change immediately.
func place(ctx context.Context, s *Service, o Order, patient bool) (count int, err error) {
	if err := s.Place(ctx, o); err != nil {
		return 0, err
	}
	for attempt := 1; ; attempt++ {
		found, err := s.ByStatus(ctx, "new")
		seen := slices.ContainsFunc(found, func(f Order) bool {
			return f.Customer == o.Customer && f.Placed == o.Placed
		})
		if err != nil || seen || !patient || attempt == 10 {
			return len(found), err
		}
		time.Sleep(time.Second)
	}
}

// The program reads a global index too early: the index lacks each change for five seconds. In a bubble of
// testing/synctest these seconds take no real time.
func TestRecipeStaleIndex(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := sortkeytest.New(t, func(o *sortkey.Options) {
			o.Simulate.StaleReads = sortkey.StaleReads{Window: 5 * time.Second, Oldest: true}
		})
		db.Table("Orders", "customer / placed:N", sortkeytest.Global("ByStatus", "status / placed"))
		service := NewService(db.Client)
		count, err := place(t.Context(), service, Order{Customer: "7", Placed: 1}, false)
		require.NoError(t, err)
		require.Zero(t, count, "the index has the order at once")
		count, err = place(t.Context(), service, Order{Customer: "7", Placed: 2}, true)
		require.NoError(t, err)
		require.Equal(t, 2, count)
	})
}

// The program must not scan, and a request must not cost more than planned.
func TestRecipeNoScan(t *testing.T) {
	db := stock(t)
	db.Forbid("Scan")
	calls := db.Record()
	total, err := NewService(db.Client).Total(t.Context(), "7")
	require.NoError(t, err)
	require.Equal(t, 42, total)
	calls.AtMost(0.5)
}

// setUp creates a table and writes its first item. If wait is false, it works with every emulator that creates tables
// immediately, but fails with DynamoDB.
func setUp(ctx context.Context, c *dynamodb.Client, wait bool) error {
	_, err := c.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName: aws.String("New"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
	})
	if err == nil && wait {
		err = dynamodb.NewTableExistsWaiter(c).Wait(ctx, &dynamodb.DescribeTableInput{TableName: aws.String("New")},
			time.Minute)
	}
	if err == nil {
		_, err = c.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("New"), Item: id("first")})
	}
	return err
}

// Creating a table takes 30 seconds, so the test finds that the program does not wait for it. In the bubble of
// synctest these seconds take no real time.
func TestRecipeForgottenWaiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func(o *sortkey.Options) { o.Simulate.TableDelay = 30 * time.Second }
		var missing *types.ResourceNotFoundException
		require.ErrorAs(t, setUp(t.Context(), sortkeytest.New(t, slow).Client, false), &missing)
		require.NoError(t, setUp(t.Context(), sortkeytest.New(t, slow).Client, true))
	})
}

// TestFaultOfTableAndKey tests that Key in a fault matches only keys of the fault's Table.
func TestFaultOfTableAndKey(t *testing.T) {
	db := sortkeytest.New(t)
	db.Table("Orders", "id")
	db.Table("Other", "id")
	db.Fail(sortkeytest.Fault{Table: "Other", Key: "1", Code: "InternalServerError", Times: 1})
	write := func(order, other string) error {
		put := func(table, key string) types.TransactWriteItem {
			return types.TransactWriteItem{Put: &types.Put{TableName: &table, Item: id(key)}}
		}
		_, err := db.Client.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{
			TransactItems: []types.TransactWriteItem{put("Orders", order), put("Other", other)},
		}, func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })
		return err
	}
	require.NoError(t, write("1", "2"))
	require.ErrorContains(t, write("2", "1"), "InternalServerError")
}
