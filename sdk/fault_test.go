package sdk_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/sortkeytest"
	"github.com/sortkey/sortkey/store"
)

// eachWay runs a test with several clients: one for each way in process, and one over a socket. Each client has a
// database of its own with the table Rows.
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

// refused requires that err is an error of DynamoDB with this code and message.
func refused(t *testing.T, err error, code, message string) {
	t.Helper()
	e, ok := errors.AsType[smithy.APIError](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, code, e.ErrorCode())
	require.Equal(t, message, e.ErrorMessage())
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

// TestFaultCause tests that a context that has ended causes no internal error, whatever its cause is.
func TestFaultCause(t *testing.T) {
	for _, way := range inProcess {
		t.Run(way, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var logged bytes.Buffer
				db := sortkeytest.New(t, func(o *sortkey.Options) {
					o.Logger = slog.New(slog.NewTextHandler(&logged, nil))
				})
				db.Fail(sortkeytest.Fault{Hang: true})
				rec := db.Record()
				ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, errors.New("too slow"))
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

// TestFaultUntilClose tests that calls that a fault delays end when the database is closed, and leak no goroutine.
func TestFaultUntilClose(t *testing.T) {
	for name, f := range map[string]sortkeytest.Fault{"hang": {Hang: true}, "delay": {Delay: time.Hour}} {
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
		db.Fail(sortkeytest.Fault{Operation: "PutItem", Times: 1})
	})
}

func TestFaultUnmet(t *testing.T) {
	u := &unmetT{TB: t}
	db := sortkeytest.New(u)
	db.Table("Rows", "pk / sk:N")
	db.Fail(sortkeytest.Fault{Operation: "Query", Table: "Rows", Code: "ThrottlingException"})
	require.NoError(t, putRow(t, db.Client, "P", 1))
	for i := range u.ends {
		u.ends[len(u.ends)-1-i]()
	}
	require.Len(t, u.errors, 1)
}
