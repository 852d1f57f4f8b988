package sdk_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/sortkeytest"
	"github.com/sortkey/sortkey/store"
)

// eachWay runs a test with a client for each way in process and one over a
// socket, each over its own database with the table Rows.
func eachWay(
	t *testing.T, fn func(t *testing.T, db *sortkeytest.DB, c *dynamodb.Client), optFns ...func(*sortkey.Options),
) {
	t.Helper()
	for _, way := range append(inProcess, "HTTP") {
		t.Run(way, func(t *testing.T) {
			db := sortkeytest.New(t, optFns...)
			db.Table("Rows", "pk / sk:N")
			fn(t, db, clientOf(t, db, way))
		})
	}
}

func putRow(t *testing.T, c *dynamodb.Client, pk string, sk int) error {
	t.Helper()
	_, err := c.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("Rows"), Item: key(pk, sk)})
	return err
}

func has(t *testing.T, c *dynamodb.Client, pk string, sk int) bool {
	t.Helper()
	out, err := c.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("Rows"), Key: key(pk, sk)})
	require.NoError(t, err)
	return out.Item != nil
}

func TestFaultCodes(t *testing.T) {
	eachWay(t, func(t *testing.T, db *sortkeytest.DB, c *dynamodb.Client) {
		for _, want := range []string{
			"ProvisionedThroughputExceededException", "ThrottlingException", "RequestLimitExceeded",
			"InternalServerError", "TransactionConflictException", "TransactionInProgressException",
		} {
			f := db.DB.Fail(sortkey.Fault{Operation: "PutItem", Table: "Rows", Code: want, Times: 1}) // any code
			require.Equal(t, want, code(putRow(t, c, "P", 1)))
			require.False(t, has(t, c, "P", 1), want)
			require.NoError(t, putRow(t, c, "P", 1))
			require.Equal(t, 1, f.Count())
			f.Lift()
			_, err := c.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{
				TableName: aws.String("Rows"), Key: key("P", 1),
			})
			require.NoError(t, err)
		}
	})
}

func TestFaultMatching(t *testing.T) {
	eachWay(t, func(t *testing.T, db *sortkeytest.DB, c *dynamodb.Client) {
		second := db.Fail(sortkey.Fault{
			Operation: "PutItem", Key: "ORDER#*", Skip: 1, Times: 1, Code: "ThrottlingException",
		})
		require.NoError(t, putRow(t, c, "USER#1", 1))
		require.NoError(t, putRow(t, c, "ORDER#1", 1))
		require.Error(t, putRow(t, c, "ORDER#1", 2))
		require.NoError(t, putRow(t, c, "ORDER#1", 2))
		second.Lift()
		db.Fail(sortkey.Fault{Key: "7", Code: "ThrottlingException"}) // a number
		require.NoError(t, putRow(t, c, "USER#1", 8))
		require.Error(t, putRow(t, c, "USER#1", 7))
	})
}

// An answer that is lost after the write was applied: the retry of a transaction
// with a token does nothing twice.
func TestFaultLostAnswer(t *testing.T) {
	eachWay(t, func(t *testing.T, db *sortkeytest.DB, c *dynamodb.Client) {
		db.Fail(sortkey.Fault{Operation: "TransactWriteItems", LoseAnswer: true, Times: 1})
		add := func() error {
			_, err := c.TransactWriteItems(t.Context(),
				&dynamodb.TransactWriteItemsInput{
					ClientRequestToken: aws.String("once"), TransactItems: []types.TransactWriteItem{{
						Update: &types.Update{
							TableName: aws.String("Rows"), Key: key("P", 1), UpdateExpression: aws.String("ADD n :one"),
							ExpressionAttributeValues: map[string]types.AttributeValue{
								":one": &types.AttributeValueMemberN{Value: "1"},
							},
						},
					}},
				})
			return err
		}
		err := add()
		var lost *smithyhttp.RequestSendError
		require.ErrorAs(t, err, &lost)
		require.NoError(t, add())
		out, err := c.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("Rows"), Key: key("P", 1)})
		require.NoError(t, err)
		require.Equal(t, &types.AttributeValueMemberN{Value: "1"}, out.Item["n"])
	})
}

// An error can be lost like any answer.
func TestFaultLostError(t *testing.T) {
	eachWay(t, func(t *testing.T, db *sortkeytest.DB, c *dynamodb.Client) {
		require.NoError(t, putRow(t, c, "P", 1))
		db.Fail(sortkey.Fault{LoseAnswer: true, Times: 1})
		_, err := c.PutItem(t.Context(), &dynamodb.PutItemInput{
			TableName: aws.String("Rows"), Item: key("P", 1),
			ConditionExpression: aws.String("attribute_not_exists(pk)"),
		})
		var lost *smithyhttp.RequestSendError
		require.ErrorAs(t, err, &lost)
	})
}

// A connection that is reset, and an answer that is lost, are the same error in process and over a
// socket, on a new connection and on one that has had an answer.
func TestFaultReset(t *testing.T) {
	eachWay(t, func(t *testing.T, db *sortkeytest.DB, c *dynamodb.Client) {
		for range 2 {
			for _, fault := range []sortkey.Fault{{Reset: true, Times: 1}, {LoseAnswer: true, Times: 1}} {
				f := db.Fail(fault)
				err := putRow(t, c, "P", 1)
				var lost *smithyhttp.RequestSendError
				require.ErrorAs(t, err, &lost)
				require.ErrorIs(t, err, io.EOF)
				require.NotErrorIs(t, err, io.ErrUnexpectedEOF)
				require.Contains(t, err.Error(), "/\": EOF")
				require.Equal(t, fault.LoseAnswer, has(t, c, "P", 1))
				f.Lift()
				_, err = c.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{
					TableName: aws.String("Rows"), Key: key("P", 1),
				})
				require.NoError(t, err)
			}
		}
	})
}

func TestFaultHang(t *testing.T) {
	eachWay(t, func(t *testing.T, db *sortkeytest.DB, c *dynamodb.Client) {
		db.Fail(sortkey.Fault{Operation: "GetItem", Hang: true})
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		_, err := c.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("Rows"), Key: key("P", 1)})
		require.True(t, errors.Is(err, context.DeadlineExceeded), "%v", err)
	})
}

// A context that ended is not an internal error, whatever its cause.
func TestFaultCause(t *testing.T) {
	for _, way := range inProcess {
		t.Run(way, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var logged bytes.Buffer
				db := sortkeytest.New(t, func(o *sortkey.Options) {
					o.Logger = slog.New(slog.NewTextHandler(&logged, nil))
				})
				db.Fail(sortkey.Fault{Hang: true})
				rec := db.Record()
				ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, errors.New("no patience"))
				defer cancel()
				_, err := clientOf(t, db, way).GetItem(ctx, &dynamodb.GetItemInput{
					TableName: aws.String("Rows"), Key: key("P", 1),
				})
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.Equal(t, "GetItem Rows, ServiceUnavailable: context deadline exceeded\n", rec.String())
				require.Empty(t, logged.String())
			})
		})
	}
}

// Calls that a fault keeps waiting end when the database is closed, and leak no goroutine.
func TestFaultUntilClose(t *testing.T) {
	for name, f := range map[string]sortkey.Fault{"hang": {Hang: true}, "delay": {Delay: time.Hour}} {
		for _, way := range inProcess {
			t.Run(name+" "+way, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					db := sortkeytest.New(t)
					c := clientOf(t, db, way)
					db.Fail(f)
					get := func() error {
						_, err := c.GetItem(context.Background(), &dynamodb.GetItemInput{
							TableName: aws.String("Rows"), Key: key("P", 1),
						})
						return err
					}
					done := make(chan error, 1)
					go func() { done <- get() }()
					synctest.Wait()
					began := time.Now()
					require.NoError(t, db.DB.Close())
					require.ErrorContains(t, <-done, store.ErrClosed.Error())
					require.ErrorContains(t, get(), store.ErrClosed.Error())
					require.Zero(t, time.Since(began))
				})
			})
		}
	}
}

func TestFaultTransaction(t *testing.T) {
	eachWay(t, func(t *testing.T, db *sortkeytest.DB, c *dynamodb.Client) {
		db.Fail(sortkey.Fault{Operation: "TransactWriteItems", Reasons: []string{"", "TransactionConflict"}})
		_, err := c.TransactWriteItems(t.Context(),
			&dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
				{Put: &types.Put{TableName: aws.String("Rows"), Item: key("P", 1)}},
				{Put: &types.Put{TableName: aws.String("Rows"), Item: key("P", 2)}},
			}})
		var canceled *types.TransactionCanceledException
		require.ErrorAs(t, err, &canceled)
		require.Equal(t, "None", *canceled.CancellationReasons[0].Code)
		require.Equal(t, "TransactionConflict", *canceled.CancellationReasons[1].Code)
		require.False(t, has(t, c, "P", 1))
	})
}

// The service gives a reason for each action, so code that looks at the reason of an
// action finds it.
func TestFaultTransactionReasons(t *testing.T) {
	eachWay(t, func(t *testing.T, db *sortkeytest.DB, c *dynamodb.Client) {
		db.Fail(sortkey.Fault{Reasons: []string{"TransactionConflict"}})
		get := types.TransactGetItem{Get: &types.Get{TableName: aws.String("Rows"), Key: key("P", 1)}}
		other := types.TransactGetItem{Get: &types.Get{TableName: aws.String("Rows"), Key: key("P", 2)}}
		_, err := c.TransactGetItems(t.Context(), &dynamodb.TransactGetItemsInput{
			TransactItems: []types.TransactGetItem{get, other},
		})
		var canceled *types.TransactionCanceledException
		require.ErrorAs(t, err, &canceled)
		require.Len(t, canceled.CancellationReasons, 2)
		require.Equal(t, types.CancellationReason{Code: aws.String("None")}, canceled.CancellationReasons[1])
		require.NoError(t, putRow(t, c, "P", 1), "no transaction")
	})
}

func TestFaultUnprocessed(t *testing.T) {
	eachWay(t, func(t *testing.T, db *sortkeytest.DB, c *dynamodb.Client) {
		db.Table("Other", "pk / sk:N")
		put := func(sk int) types.WriteRequest {
			return types.WriteRequest{PutRequest: &types.PutRequest{Item: key("P", sk)}}
		}
		f := db.Fail(sortkey.Fault{Operation: "BatchWriteItem", Unprocessed: 2, Times: 1})
		requests := map[string][]types.WriteRequest{"Rows": {put(1), put(2)}, "Other": {put(3)}}
		out, err := c.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: requests})
		require.NoError(t, err)
		require.Len(t, out.UnprocessedItems["Rows"], 2)
		require.False(t, has(t, c, "P", 1))
		out, err = c.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: out.UnprocessedItems})
		require.NoError(t, err)
		require.Empty(t, out.UnprocessedItems)
		require.True(t, has(t, c, "P", 2))
		f.Lift()
		db.Fail(sortkey.Fault{Operation: "BatchGetItem", Unprocessed: 1})
		got, err := c.BatchGetItem(t.Context(), &dynamodb.BatchGetItemInput{
			RequestItems: map[string]types.KeysAndAttributes{
				"Rows": {Keys: []map[string]types.AttributeValue{key("P", 1), key("P", 2)}},
			},
		})
		require.NoError(t, err)
		require.Len(t, got.Responses["Rows"], 1)
		require.Equal(t, key("P", 2), got.UnprocessedKeys["Rows"].Keys[0])
	})
}

// unmetT counts the errors of a test that should fail.
type unmetT struct {
	testing.TB
	errors []string
	ends   []func()
}

func (u *unmetT) Errorf(format string, _ ...any)    { u.errors = append(u.errors, format) }
func (u *unmetT) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (u *unmetT) Cleanup(fn func())                 { u.ends = append(u.ends, fn) }

func TestFaultWithoutEffect(t *testing.T) {
	u := &unmetT{TB: t}
	db := sortkeytest.New(t).With(u)
	require.PanicsWithValue(t, "sortkeytest: the fault has no effect: set Code, Reasons, Unprocessed, Delay, Hang, "+
		"Reset or LoseAnswer", func() {
		db.Fail(sortkey.Fault{Operation: "PutItem", Times: 1})
	})
}

func TestFaultUnmet(t *testing.T) {
	u := &unmetT{TB: t}
	db := sortkeytest.New(u)
	db.Table("Rows", "pk / sk:N")
	f := db.Fail(sortkey.Fault{Operation: "Query", Table: "Rows", Code: "ThrottlingException"})
	require.NoError(t, putRow(t, db.Client, "P", 1))
	require.Equal(t, "Query, table Rows; the calls were 1 × PutItem Rows", f.String())
	for i := range u.ends {
		u.ends[len(u.ends)-1-i]()
	}
	require.Len(t, u.errors, 1)
}
