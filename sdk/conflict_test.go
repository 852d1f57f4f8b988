package sdk_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/sortkeytest"
)

// transaction returns the input of a transaction that puts rows into the partition "a".
func transaction(token string, sks ...int) *dynamodb.TransactWriteItemsInput {
	in := &dynamodb.TransactWriteItemsInput{ClientRequestToken: &token}
	for _, sk := range sks {
		in.TransactItems = append(in.TransactItems, types.TransactWriteItem{
			Put: &types.Put{TableName: aws.String("Rows"), Item: key("a", sk)},
		})
	}
	return in
}

// conflicts returns the codes in the cancellation reasons of a transaction.
func conflicts(t *testing.T, err error) (codes []string) {
	t.Helper()
	var e *types.TransactionCanceledException
	require.ErrorAs(t, err, &e)
	for _, r := range e.CancellationReasons {
		codes = append(codes, *r.Code)
	}
	return codes
}

// TestTransactionConflicts tests that conflicting operations are refused while a transaction locks items. Source:
// DG/transaction-apis.html, transaction conflict handling.
func TestTransactionConflicts(t *testing.T) {
	eachWay(t, func(t *testing.T, db *sortkeytest.DB, c *dynamodb.Client) {
		ctx, giveUp := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() {
			if _, err := c.TransactWriteItems(ctx, transaction("first", 1, 2)); err == nil {
				t.Error("a transaction of an hour has ended")
			}
		})
		defer running.Wait()
		defer giveUp()

		// When a write of one item is refused, the transaction has locked its items.
		require.Eventually(t, func() bool { return putRow(t, c, "a", 1) != nil }, 10*time.Second, time.Millisecond)
		refused(t, putRow(t, c, "a", 2), "TransactionConflictException", "Transaction is ongoing for the item")
		require.NoError(t, putRow(t, c, "a", 3))
		_, err := c.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: aws.String("Rows"), Key: key("a", 2)})
		require.Equal(t, "TransactionConflictException", code(err))
		_, err = c.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: aws.String("Rows"), Key: key("a", 2)})
		require.Equal(t, "TransactionConflictException", code(err))
		_, err = c.ExecuteStatement(ctx, &dynamodb.ExecuteStatementInput{
			Statement: aws.String(`DELETE FROM "Rows" WHERE pk = 'a' AND sk = 2`),
		})
		require.Equal(t, "TransactionConflictException", code(err))
		statements, err := c.BatchExecuteStatement(ctx, &dynamodb.BatchExecuteStatementInput{
			Statements: []types.BatchStatementRequest{
				{Statement: aws.String(`DELETE FROM "Rows" WHERE pk = 'a' AND sk = 2`)},
			},
		})
		require.NoError(t, err)
		require.EqualValues(t, "TransactionConflict", statements.Responses[0].Error.Code)

		_, err = c.TransactWriteItems(ctx, transaction("second", 3, 2))
		require.Equal(t, []string{"None", "TransactionConflict"}, conflicts(t, err))
		_, err = c.TransactWriteItems(ctx, transaction("first", 1, 2))
		require.Equal(t, "TransactionInProgressException", code(err))
		_, err = c.ExecuteTransaction(ctx, &dynamodb.ExecuteTransactionInput{
			TransactStatements: []types.ParameterizedStatement{
				{Statement: aws.String(`INSERT INTO "Rows" VALUE {'pk': 'a', 'sk': 1}`)},
			},
		})
		require.Equal(t, []string{"TransactionConflict"}, conflicts(t, err))
		_, err = c.ExecuteTransaction(ctx, &dynamodb.ExecuteTransactionInput{
			TransactStatements: []types.ParameterizedStatement{
				{Statement: aws.String(`SELECT * FROM "Rows" WHERE pk = 'a' AND sk = 1`)},
			},
		})
		require.Equal(t, []string{"TransactionConflict"}, conflicts(t, err))
		_, err = c.TransactGetItems(ctx, &dynamodb.TransactGetItemsInput{TransactItems: []types.TransactGetItem{
			{Get: &types.Get{TableName: aws.String("Rows"), Key: key("a", 3)}},
			{Get: &types.Get{TableName: aws.String("Rows"), Key: key("a", 1)}},
		}})
		require.Equal(t, []string{"None", "TransactionConflict"}, conflicts(t, err))

		put := func(sk int) types.WriteRequest {
			return types.WriteRequest{PutRequest: &types.PutRequest{Item: key("a", sk)}}
		}
		batch, err := c.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
			RequestItems: map[string][]types.WriteRequest{"Rows": {put(1), put(4)}},
		})
		require.NoError(t, err)
		require.Equal(t, []types.WriteRequest{put(1)}, batch.UnprocessedItems["Rows"])
		batch, err = c.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: batch.UnprocessedItems})
		require.NoError(t, err)
		require.Equal(t, []types.WriteRequest{put(1)}, batch.UnprocessedItems["Rows"])

		require.True(t, has(t, c, "a", 4), "reads of single items do not conflict")
		require.False(t, has(t, c, "a", 2), "and see what is committed")
		giveUp()
		running.Wait()
		require.Eventually(t, func() bool { return putRow(t, c, "a", 1) == nil }, 10*time.Second, time.Millisecond)
		require.False(t, has(t, c, "a", 2), "the transaction was not applied")
	}, func(o *sortkey.Options) { o.Simulate.TransactionDelay = time.Hour })
}
