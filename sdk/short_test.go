package sdk_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	smithyendpoints "github.com/aws/smithy-go/endpoints"
	"github.com/aws/smithy-go/logging"
	"github.com/aws/smithy-go/metrics"
	"github.com/aws/smithy-go/middleware"
	"github.com/aws/smithy-go/tracing"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/sdk"
	"github.com/sortkey/sortkey/sortkeytest"
)

// overWire reports whether an answer with this metadata came in a response to an HTTP request.
func overWire(t *testing.T, m middleware.Metadata) bool {
	t.Helper()
	raw, ok := awsmiddleware.GetRawResponse(m).(*smithyhttp.Response)
	require.True(t, ok)
	return raw.Request != nil
}

func getRow(t *testing.T, c *dynamodb.Client, optFns ...func(*dynamodb.Options)) middleware.Metadata {
	t.Helper()
	out, err := c.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("Rows"), Key: key("P", 1)},
		optFns...)
	require.NoError(t, err)
	require.Equal(t, key("P", 1), out.Item)
	return out.ResultMetadata
}

func oneRow(t *testing.T, optFns ...func(*sortkey.Options)) *sortkeytest.DB {
	db := sortkeytest.New(t, optFns...)
	db.Table("Rows", "pk / sk:N")
	db.Put("Rows", map[string]any{"pk": "P", "sk": 1})
	return db
}

// TestShort tests that operations on items take the short way if nobody observes them. It fails with a version of the
// SDK that keeps the options of a call elsewhere; see type short.
func TestShort(t *testing.T) {
	db := oneRow(t)
	ctx, c := t.Context(), db.Client
	table, row := aws.String("Rows"), key("P", 1)
	metadata := map[string]middleware.Metadata{"GetItem": getRow(t, c)}
	put, err := c.PutItem(ctx, &dynamodb.PutItemInput{TableName: table, Item: row})
	require.NoError(t, err)
	metadata["PutItem"] = put.ResultMetadata
	update, err := c.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: table, Key: row})
	require.NoError(t, err)
	metadata["UpdateItem"] = update.ResultMetadata
	query, err := c.Query(ctx, queryOf("P"))
	require.NoError(t, err)
	metadata["Query"] = query.ResultMetadata
	scan, err := c.Scan(ctx, &dynamodb.ScanInput{TableName: table})
	require.NoError(t, err)
	metadata["Scan"] = scan.ResultMetadata
	page, err := dynamodb.NewQueryPaginator(c, queryOf("P")).NextPage(ctx)
	require.NoError(t, err)
	metadata["paginator"] = page.ResultMetadata
	batch, err := c.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
		RequestItems: map[string]types.KeysAndAttributes{"Rows": {Keys: []map[string]types.AttributeValue{row}}},
	})
	require.NoError(t, err)
	metadata["BatchGetItem"] = batch.ResultMetadata
	writes, err := c.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
		RequestItems: map[string][]types.WriteRequest{"Rows": {{PutRequest: &types.PutRequest{Item: row}}}},
	})
	require.NoError(t, err)
	metadata["BatchWriteItem"] = writes.ResultMetadata
	deleted, err := c.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: table, Key: row})
	require.NoError(t, err)
	metadata["DeleteItem"] = deleted.ResultMetadata
	for name, m := range metadata {
		require.False(t, overWire(t, m), name)
	}
	tables, err := c.ListTables(ctx, nil)
	require.NoError(t, err)
	require.True(t, overWire(t, tables.ResultMetadata))
	older, err := c.GetItem(ctx, &dynamodb.GetItemInput{TableName: table, Key: row, AttributesToGet: []string{"x"}})
	require.NoError(t, err)
	require.True(t, overWire(t, older.ResultMetadata))
}

// TestMetadata tests that answers have the same metadata on the short way and over the wire.
func TestMetadata(t *testing.T) {
	db := oneRow(t)
	for _, way := range []string{"Client", "Wire"} {
		t.Run(way, func(t *testing.T) {
			before := time.Now()
			m := getRow(t, clientOf(t, db, way))
			require.Equal(t, way == "Wire", overWire(t, m))
			id, ok := awsmiddleware.GetRequestIDMetadata(m)
			require.True(t, ok)
			raw := awsmiddleware.GetRawResponse(m).(*smithyhttp.Response)
			require.Equal(t, "200 OK", raw.Status)
			require.Equal(t, id, raw.Header.Get("X-Amzn-Requestid"))
			require.Equal(t, "application/x-amz-json-1.0", raw.Header.Get("Content-Type"))
			at, ok := awsmiddleware.GetResponseAt(m)
			require.True(t, ok)
			require.False(t, at.Before(before))
			_, ok = awsmiddleware.GetServerTime(m)
			require.False(t, ok)
			attempts, ok := retry.GetAttemptResults(m)
			require.True(t, ok)
			require.Len(t, attempts.Results, 1)
			require.NoError(t, attempts.Results[0].Err)
			require.False(t, attempts.Results[0].Retried)
			own, _ := awsmiddleware.GetRequestIDMetadata(attempts.Results[0].ResponseMetadata)
			require.Equal(t, id, own)
		})
	}
}

// These types are hooks with which a caller can observe or change calls. Each counts its calls.

type countingClient struct {
	dynamodb.HTTPClient
	n *int
}

func (c countingClient) Do(r *http.Request) (*http.Response, error) {
	*c.n++
	return c.HTTPClient.Do(r)
}

type countingRetryer struct {
	aws.Retryer
	n *int
}

func (r countingRetryer) GetInitialToken() func(error) error {
	*r.n++
	return r.Retryer.GetInitialToken()
}

type countingResolver struct{ n *int }

func (r countingResolver) ResolveEndpoint(
	ctx context.Context, p dynamodb.EndpointParameters,
) (smithyendpoints.Endpoint, error) {
	*r.n++
	return dynamodb.NewDefaultEndpointResolverV2().ResolveEndpoint(ctx, p)
}

type countingMeters struct {
	metrics.NopMeterProvider
	n *int
}

func (m countingMeters) Meter(scope string, opts ...metrics.MeterOption) metrics.Meter {
	*m.n++
	return m.NopMeterProvider.Meter(scope, opts...)
}

type countingTracers struct {
	tracing.NopTracerProvider
	n *int
}

func (m countingTracers) Tracer(scope string, opts ...tracing.TracerOption) tracing.Tracer {
	*m.n++
	return m.NopTracerProvider.Tracer(scope, opts...)
}

func step(add func(*middleware.Stack) error) func(*dynamodb.Options) {
	return func(o *dynamodb.Options) { o.APIOptions = append(o.APIOptions, add) }
}

// hooks returns options, by name, that contain code that every call must run. The code counts its calls in n.
func hooks(db *sortkeytest.DB, n *int) map[string]func(*dynamodb.Options) {
	return map[string]func(*dynamodb.Options){
		"HTTPClient": func(o *dynamodb.Options) { o.HTTPClient = countingClient{o.HTTPClient, n} },
		"Retryer":    func(o *dynamodb.Options) { o.Retryer = countingRetryer{o.Retryer, n} },
		"resolver":   func(o *dynamodb.Options) { o.EndpointResolverV2 = countingResolver{n} },
		"credentials": func(o *dynamodb.Options) {
			own := o.Credentials
			o.Credentials = aws.CredentialsProviderFunc(func(ctx context.Context) (aws.Credentials, error) {
				*n++
				return own.Retrieve(ctx)
			})
		},
		"Logger": func(o *dynamodb.Options) {
			o.ClientLogMode = aws.LogRequest
			o.Logger = logging.LoggerFunc(func(logging.Classification, string, ...any) { *n++ })
		},
		"MeterProvider":  func(o *dynamodb.Options) { o.MeterProvider = countingMeters{n: n} },
		"TracerProvider": func(o *dynamodb.Options) { o.TracerProvider = countingTracers{n: n} },
		"Serialize": step(func(s *middleware.Stack) error {
			return s.Serialize.Add(middleware.SerializeMiddlewareFunc("mine", func(
				ctx context.Context, in middleware.SerializeInput, next middleware.SerializeHandler,
			) (middleware.SerializeOutput, middleware.Metadata, error) {
				*n++
				return next.HandleSerialize(ctx, in)
			}), middleware.Before)
		}),
		"Build": step(func(s *middleware.Stack) error {
			return s.Build.Add(middleware.BuildMiddlewareFunc("mine", func(
				ctx context.Context, in middleware.BuildInput, next middleware.BuildHandler,
			) (middleware.BuildOutput, middleware.Metadata, error) {
				*n++
				return next.HandleBuild(ctx, in)
			}), middleware.After)
		}),
		"Finalize": step(func(s *middleware.Stack) error {
			return s.Finalize.Add(middleware.FinalizeMiddlewareFunc("mine", func(
				ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler,
			) (middleware.FinalizeOutput, middleware.Metadata, error) {
				*n++
				return next.HandleFinalize(ctx, in)
			}), middleware.Before)
		}),
		"Deserialize": step(func(s *middleware.Stack) error {
			return s.Deserialize.Add(middleware.DeserializeMiddlewareFunc("mine", func(
				ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler,
			) (middleware.DeserializeOutput, middleware.Metadata, error) {
				*n++
				return next.HandleDeserialize(ctx, in)
			}), middleware.After)
		}),
		"another Retry": step(func(s *middleware.Stack) error {
			_, err := s.Finalize.Swap("Retry",
				retry.NewAttemptMiddleware(countingRetryer{aws.NopRetryer{}, n}, smithyhttp.RequestCloner))
			return err
		}),
		"another of one name": step(func(s *middleware.Stack) error {
			_, err := s.Finalize.Swap("Retry", middleware.FinalizeMiddlewareFunc("Retry", func(
				ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler,
			) (middleware.FinalizeOutput, middleware.Metadata, error) {
				*n++
				return next.HandleFinalize(ctx, in)
			}))
			return err
		}),
		"one less": step(func(s *middleware.Stack) error {
			*n++
			_, err := s.Build.Remove("UserAgent")
			return err
		}),
	}
}

// TestHooks tests that every hook runs, whether the client or the call has it.
func TestHooks(t *testing.T) {
	db := oneRow(t)
	n := 0
	for name, hook := range hooks(db, &n) {
		t.Run(name, func(t *testing.T) {
			c := sdk.Client(db.DB, hook)
			for what, get := range map[string]func() middleware.Metadata{
				"client": func() middleware.Metadata { return getRow(t, c) },
				"call":   func() middleware.Metadata { return getRow(t, db.Client, hook) },
				"copy": func() middleware.Metadata {
					return getRow(t, dynamodb.New(db.Client.Options(), hook))
				},
			} {
				n = 0
				require.True(t, overWire(t, get()), what)
				require.NotZero(t, n, what)
			}
		})
	}
	require.False(t, overWire(t, getRow(t, db.Client)), "other calls are as before")
}

// TestWatched tests that calls also go over the wire if the database has an observer, which can see HTTP.
func TestWatched(t *testing.T) {
	for name, opt := range map[string]func(*sortkey.Options){
		"observer": func(o *sortkey.Options) { o.Observer = nobody{} },
	} {
		t.Run(name, func(t *testing.T) { require.True(t, overWire(t, getRow(t, oneRow(t, opt).Client))) })
	}
}

type nobody struct{}

func (nobody) Begin(context.Context, *sortkey.Event) {}
func (nobody) End(context.Context, *sortkey.Event)   {}

// TestLargeRequests tests that a request that may exceed the limit of 16 MB goes over the wire, where the server
// checks the limit.
func TestLargeRequests(t *testing.T) {
	proptest.NeedLong(t)
	eachWay(t, func(t *testing.T, db *sortkeytest.DB, c *dynamodb.Client) {
		large := strings.Repeat("x", 17<<20)
		_, err := c.GetItem(t.Context(), &dynamodb.GetItemInput{
			TableName: aws.String("Rows"), Key: key("P", 1), ProjectionExpression: &large,
		})
		require.ErrorContains(t, err, "StatusCode: 413")
		item := key("P", 1)
		item["fat"] = &types.AttributeValueMemberB{Value: bytes.Repeat([]byte{0}, 13<<20)}
		_, err = c.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("Rows"), Item: item})
		require.ErrorContains(t, err, "StatusCode: 413")
	})
}

// TestErrorsWithoutAnswer tests that calls that get no answer fail with the same errors on the short way as over the
// wire.
func TestErrorsWithoutAnswer(t *testing.T) {
	ended := func(end func(context.Context) (context.Context, context.CancelFunc)) func(*testing.T) context.Context {
		return func(t *testing.T) context.Context {
			ctx, cancel := end(t.Context())
			t.Cleanup(cancel)
			return ctx
		}
	}
	for name, tt := range map[string]struct {
		fault sortkeytest.Fault
		ctx   func(*testing.T) context.Context
	}{
		"reset": {sortkeytest.Fault{Reset: true}, (*testing.T).Context},
		"lost":  {sortkeytest.Fault{LoseAnswer: true}, (*testing.T).Context},
		"deadline": {sortkeytest.Fault{
			Delay: time.Hour,
		}, ended(func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Minute)
		})},
		"cause": {sortkeytest.Fault{Hang: true}, ended(func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeoutCause(ctx, time.Minute, errors.New("too slow"))
		})},
		"cancelled": {sortkeytest.Fault{Hang: true}, ended(func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(time.Minute, cancel)
			return ctx, cancel
		})},
	} {
		t.Run(name, func(t *testing.T) {
			chains := map[string][]string{}
			for _, way := range inProcess {
				synctest.Test(t, func(t *testing.T) {
					db := oneRow(t)
					db.Fail(tt.fault)
					_, err := clientOf(t, db, way).GetItem(tt.ctx(t), &dynamodb.GetItemInput{
						TableName: aws.String("Rows"), Key: key("P", 1),
					})
					for ; err != nil; err = errors.Unwrap(err) {
						chains[way] = append(chains[way], fmt.Sprintf("%T: %[1]v", err))
					}
				})
			}
			require.Contains(t, chains["Wire"][0], "StatusCode: 0, RequestID: ,")
			for way, chain := range chains {
				require.Equal(t, chains["Wire"], chain, way)
			}
		})
	}
}
