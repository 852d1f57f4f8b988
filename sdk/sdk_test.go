package sdk_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sortkey/sortkey/server"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/sdk"
	"github.com/sortkey/sortkey/sortkeytest"
)

// inProcess are the ways in which a call can reach a database in the same process.
var inProcess = []string{"Client", "Wire", "Direct"}

// clientOf returns a client that uses one of these ways, or HTTP.
func clientOf(t *testing.T, db *sortkeytest.DB, way string) *dynamodb.Client {
	t.Helper()
	switch way {
	case "Wire":
		return sdk.Client(db.DB, func(o *dynamodb.Options) {
			o.HTTPClient = server.New(db.DB, server.Options{}).Client()
		})
	case "Direct":
		return db.Direct
	case "HTTP":
		server := httptest.NewServer(server.New(db.DB, server.Options{}))
		t.Cleanup(server.Close)
		return dynamodb.New(dynamodb.Options{
			Region: "us-east-1", BaseEndpoint: &server.URL, Credentials: aws.AnonymousCredentials{},
			RetryMaxAttempts: 1,
		})
	}
	return db.Client
}

// eachClient runs a test with a client of each kind, each over its own database.
func eachClient(t *testing.T, fn func(t *testing.T, db *sortkeytest.DB, c *dynamodb.Client)) {
	t.Helper()
	for _, way := range inProcess {
		t.Run(way, func(t *testing.T) { db := sortkeytest.New(t); fn(t, db, clientOf(t, db, way)) })
	}
}

type row struct {
	Pk  string `dynamodbav:"pk"`
	Sk  int    `dynamodbav:"sk"`
	Fat string `dynamodbav:"fat,omitempty"`
}

func s(text string) types.AttributeValue { return &types.AttributeValueMemberS{Value: text} }

func key(pk string, sk int) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"pk": s(pk), "sk": &types.AttributeValueMemberN{Value: fmt.Sprint(sk)}}
}

func queryOf(pk string) *dynamodb.QueryInput {
	return &dynamodb.QueryInput{
		TableName: aws.String("Rows"), KeyConditionExpression: aws.String("pk = :p"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":p": s(pk)},
	}
}

func TestPaginators(t *testing.T) {
	eachClient(t, func(t *testing.T, db *sortkeytest.DB, c *dynamodb.Client) {
		db.Table("Rows", "pk / sk:N")
		for i := range 25 {
			db.Put("Rows", row{Pk: "P", Sk: i, Fat: strings.Repeat("x", 90_000)})
		}
		in := queryOf("P")
		in.Limit = aws.Int32(10)
		var got []int
		pages := 0
		for p := dynamodb.NewQueryPaginator(c, in); p.HasMorePages(); pages++ {
			out, err := p.NextPage(t.Context())
			require.NoError(t, err)
			var rows []row
			require.NoError(t, attributevalue.UnmarshalListOfMaps(out.Items, &rows))
			for _, r := range rows {
				got = append(got, r.Sk)
			}
		}
		require.Len(t, got, 25)
		require.True(t, slices.IsSorted(got))
		require.Equal(t, 3, pages)

		count := int32(0)
		for p := dynamodb.NewScanPaginator(c, &dynamodb.ScanInput{TableName: aws.String("Rows")}); p.HasMorePages(); {
			out, err := p.NextPage(t.Context())
			require.NoError(t, err)
			require.Less(t, out.Count, int32(25), "25 items of 90 KB are more than a page")
			count += out.Count
		}
		require.Equal(t, int32(25), count)

		names := []string{}
		for p := dynamodb.NewListTablesPaginator(c, &dynamodb.ListTablesInput{Limit: aws.Int32(1)}); p.HasMorePages(); {
			out, err := p.NextPage(t.Context())
			require.NoError(t, err)
			names = append(names, out.TableNames...)
		}
		require.Equal(t, []string{"Rows"}, names)

		batches := dynamodb.NewBatchGetItemPaginator(c,
			&dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
				"Rows": {Keys: []map[string]types.AttributeValue{key("P", 1), key("P", 2)}},
			}})
		out, err := batches.NextPage(t.Context())
		require.NoError(t, err)
		require.Len(t, out.Responses["Rows"], 2)
		require.False(t, batches.HasMorePages())
	})
}

// TestErrorTypes tests that errors have the same types, codes and statuses as from DynamoDB, so that errors.As finds
// them.
func TestErrorTypes(t *testing.T) {
	eachClient(t, func(t *testing.T, db *sortkeytest.DB, c *dynamodb.Client) {
		db.Table("Rows", "pk / sk:N")
		db.Put("Rows", row{Pk: "P", Sk: 1})

		_, err := c.Query(t.Context(), &dynamodb.QueryInput{
			TableName: aws.String("None"), KeyConditionExpression: aws.String("pk = :p"),
			ExpressionAttributeValues: map[string]types.AttributeValue{":p": s("P")},
		})
		missing, ok := errors.AsType[*types.ResourceNotFoundException](err)
		require.True(t, ok, "%v", err)
		require.Equal(t, "Requested resource not found", missing.ErrorMessage())
		operation, ok := errors.AsType[*smithy.OperationError](err)
		require.True(t, ok)
		require.Equal(t, "DynamoDB", operation.Service())
		require.Equal(t, "Query", operation.Operation())

		item := key("P", 1)
		_, err = c.PutItem(t.Context(), &dynamodb.PutItemInput{
			TableName: aws.String("Rows"), Item: item, ConditionExpression: aws.String("attribute_not_exists(pk)"),
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		})
		failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err)
		require.True(t, ok, "%v", err)
		require.Equal(t, item, failed.Item)
		require.Equal(t, "The conditional request failed", failed.ErrorMessage())

		_, err = c.GetItem(t.Context(), &dynamodb.GetItemInput{
			TableName: aws.String("Rows"), Key: map[string]types.AttributeValue{"pk": s("P")},
		})
		var wrong smithy.APIError
		require.ErrorAs(t, err, &wrong)
		require.IsType(t, &smithy.GenericAPIError{}, wrong)
		require.Equal(t, "ValidationException", wrong.ErrorCode())
		require.Equal(t, "The provided key element does not match the schema", wrong.ErrorMessage())
		var status interface{ HTTPStatusCode() int }
		require.ErrorAs(t, err, &status)
		require.Equal(t, http.StatusBadRequest, status.HTTPStatusCode())

		_, err = c.TransactWriteItems(t.Context(),
			&dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
				{Put: &types.Put{TableName: aws.String("Rows"), Item: key("P", 2)}},
				{Put: &types.Put{
					TableName: aws.String("Rows"), Item: item,
					ConditionExpression:                 aws.String("attribute_not_exists(pk)"),
					ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
				}},
			}})
		cancelled, ok := errors.AsType[*types.TransactionCanceledException](err)
		require.True(t, ok, "%v", err)
		require.Equal(t, "None", *cancelled.CancellationReasons[0].Code)
		require.Equal(t, "ConditionalCheckFailed", *cancelled.CancellationReasons[1].Code)
		require.Equal(t, item, cancelled.CancellationReasons[1].Item)

		// The SDK's own checks run first.
		_, err = c.GetItem(t.Context(), &dynamodb.GetItemInput{})
		require.ErrorContains(t, err, "missing required field, GetItemInput.Key")

		require.NoError(t, db.DB.Close())
		_, err = c.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("Rows"), Key: item})
		require.ErrorAs(t, err, &wrong)
		require.Equal(t, "ServiceUnavailable", wrong.ErrorCode())
		require.ErrorAs(t, err, &status)
		require.Equal(t, http.StatusServiceUnavailable, status.HTTPStatusCode())
	})
}

// TestContextEnds tests that a call ends when its context ends, with the SDK's own error.
func TestContextEnds(t *testing.T) {
	eachClient(t, func(t *testing.T, db *sortkeytest.DB, c *dynamodb.Client) {
		db.Table("Rows", "pk / sk:N")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := c.Query(ctx, queryOf("P"))
		require.ErrorIs(t, err, context.Canceled)

		ctx, cancel = context.WithDeadline(t.Context(), time.Unix(1, 0))
		defer cancel()
		_, err = c.Query(ctx, queryOf("P"))
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

// TestTraceIsKept tests that a trace does not change with later requests, for a key condition in either form.
func TestTraceIsKept(t *testing.T) {
	eachClient(t, func(t *testing.T, db *sortkeytest.DB, c *dynamodb.Client) {
		db.Table("Rows", "pk / sk:N")
		var traces []table.Trace
		ctx := table.WithTrace(t.Context(), func(tr table.Trace) { traces = append(traces, tr) })
		const rounds = 20
		for i := range rounds {
			pk := fmt.Sprintf("partition %02d", i)
			legacy := &dynamodb.QueryInput{TableName: aws.String("Rows"), KeyConditions: map[string]types.Condition{
				"pk": {
					ComparisonOperator: types.ComparisonOperatorEq, AttributeValueList: []types.AttributeValue{s(pk)},
				},
			}}
			for _, in := range []*dynamodb.QueryInput{queryOf(pk), legacy} {
				_, err := c.Query(ctx, in)
				require.NoError(t, err)
			}
			_, err := c.GetItem(ctx, &dynamodb.GetItemInput{
				TableName: aws.String("Rows"), Key: key("ZZZZZZZZZZZZZZZZZZZZ", i),
			})
			require.NoError(t, err)
		}
		require.Len(t, traces, 2*rounds)
		for i, tr := range traces {
			want := fmt.Sprintf("partition %02d", i/2)
			require.Equal(t, want, string(tr.Partition))
			require.Equal(t, want, string(tr.Clauses[0].Values[0].Raw()))
		}
	})
}

// TestAnswersStay tests that an answer does not change when later calls reuse memory, and that a caller who changes
// an answer does not change later ones.
func TestAnswersStay(t *testing.T) {
	eachClient(t, func(t *testing.T, db *sortkeytest.DB, c *dynamodb.Client) {
		db.Table("Rows", "pk / sk:N")
		item := func(i int) map[string]types.AttributeValue {
			m := key("P", i)
			for k := range i % 7 {
				m[fmt.Sprint("s", k)] = s(strings.Repeat(fmt.Sprint(k), i))
			}
			m["l"] = &types.AttributeValueMemberL{
				Value: []types.AttributeValue{
					s(fmt.Sprint("in", i)), &types.AttributeValueMemberB{Value: []byte{byte(i)}},
				},
			}
			m["ss"] = &types.AttributeValueMemberSS{Value: []string{fmt.Sprint("a", i), "b"}}
			return m
		}
		for i := range 20 {
			_, err := c.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("Rows"), Item: item(i)})
			require.NoError(t, err)
		}
		get := func(i int) map[string]types.AttributeValue {
			out, err := c.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("Rows"), Key: key("P", i)})
			require.NoError(t, err)
			return out.Item
		}
		query := func() []map[string]types.AttributeValue {
			out, err := c.Query(t.Context(), queryOf("P"))
			require.NoError(t, err)
			return out.Items
		}
		before := query()
		var got []map[string]types.AttributeValue
		for i := range 20 {
			got = append(got, get(i))
		}
		require.Empty(t, get(99))
		for range 2 {
			for i, m := range query() {
				require.Equal(t, item(i), m)
				spoil(m)
			}
		}
		for i := range 20 {
			require.Equal(t, item(i), before[i])
			require.Equal(t, item(i), got[i])
			spoil(got[i])
			require.Equal(t, item(i), get(i))
		}
	})
}

// spoil changes everything in an item that can be changed.
func spoil(m map[string]types.AttributeValue) {
	for _, name := range slices.Collect(maps.Keys(m)) {
		switch v := m[name].(type) {
		case *types.AttributeValueMemberS:
			v.Value = "spoilt"
		case *types.AttributeValueMemberN:
			v.Value = "666"
		case *types.AttributeValueMemberSS:
			v.Value[0] = "spoilt"
		case *types.AttributeValueMemberL:
			v.Value[1].(*types.AttributeValueMemberB).Value[0]++
			v.Value[0] = nil
		}
		m["spoilt"+name] = m[name]
		delete(m, name)
	}
}

// TestUnprocessedKeys tests that UnprocessedKeys is a new value, because callers append to it.
func TestUnprocessedKeys(t *testing.T) {
	eachClient(t, func(t *testing.T, db *sortkeytest.DB, c *dynamodb.Client) {
		db.Table("Rows", "pk / sk:N")
		in := &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{"Rows": {
			ConsistentRead: aws.Bool(true), ProjectionExpression: aws.String("#s, fat"),
			ExpressionAttributeNames: map[string]string{"#s": "sk"},
		}}}
		ka := in.RequestItems["Rows"]
		for i := range 50 {
			db.Put("Rows", row{Pk: "P", Sk: i, Fat: strings.Repeat("x", 390_000)})
			ka.Keys = append(ka.Keys, key("P", i))
		}
		in.RequestItems["Rows"] = ka
		found := 0
		for p := dynamodb.NewBatchGetItemPaginator(c, in); p.HasMorePages(); {
			out, err := p.NextPage(t.Context())
			require.NoError(t, err)
			found += len(out.Responses["Rows"])
			if rest, ok := out.UnprocessedKeys["Rows"]; ok {
				require.Equal(t, 50, found+len(rest.Keys))
				require.Equal(t, ka.ExpressionAttributeNames, rest.ExpressionAttributeNames)
				rest.ExpressionAttributeNames["#other"] = "x"
				*rest.ConsistentRead, *rest.ProjectionExpression = false, "x"
				require.Equal(t, "#s, fat", *ka.ProjectionExpression)
				require.Len(t, ka.ExpressionAttributeNames, 1)
				require.True(t, *ka.ConsistentRead)
				delete(rest.ExpressionAttributeNames, "#other")
				*rest.ConsistentRead, *rest.ProjectionExpression = true, "#s, fat"
			}
		}
		require.Equal(t, 50, found)
	})
}

// TestValuesThatCannotBeSent tests that values that the SDK cannot send are refused, and not taken for other values.
func TestValuesThatCannotBeSent(t *testing.T) {
	eachClient(t, func(t *testing.T, db *sortkeytest.DB, c *dynamodb.Client) {
		db.Table("Rows", "pk / sk:N")
		item := key("P", 1)
		item["x"] = nil
		_, err := c.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("Rows"), Item: item})
		var wrong smithy.APIError
		require.ErrorAs(t, err, &wrong)
		require.Equal(t, "SerializationException", wrong.ErrorCode())

		// The SDK replaces bytes that are not UTF-8 by U+FFFD.
		item["x"] = s("a\xffb")
		_, err = c.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("Rows"), Item: item})
		require.NoError(t, err)
		out, err := c.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("Rows"), Key: key("P", 1)})
		require.NoError(t, err)
		require.Equal(t, s("a�b"), out.Item["x"])
	})
}

func TestConcurrentUse(t *testing.T) {
	eachClient(t, func(t *testing.T, db *sortkeytest.DB, c *dynamodb.Client) {
		db.Table("Rows", "pk / sk:N")
		var wg sync.WaitGroup
		for w := range 8 {
			wg.Go(func() {
				for i := range 50 {
					if _, err := c.PutItem(t.Context(), &dynamodb.PutItemInput{
						TableName: aws.String("Rows"), Item: key(fmt.Sprint(w), i),
					}); err != nil {
						t.Error(err)
					}
					out, err := c.Query(t.Context(), queryOf(fmt.Sprint(w)))
					if err != nil || int(out.Count) != i+1 {
						t.Errorf("query of %d after %d: %v, %v", w, i, out, err)
					}
				}
			})
		}
		wg.Wait()
	})
}

// spy is a middleware of the Initialize step that records the calls it sees.
type spy struct{ seen *[]string }

func (spy) ID() string { return "spy" }

func (m spy) HandleInitialize(
	ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
) (middleware.InitializeOutput, middleware.Metadata, error) {
	*m.seen = append(*m.seen, middleware.GetOperationName(ctx))
	return next.HandleInitialize(ctx, in)
}

// TestOptions tests that the caller's options apply after ours, and that the caller's middlewares of the Initialize
// step run before the database answers, wherever they were added.
func TestOptions(t *testing.T) {
	db := sortkeytest.New(t)
	db.Table("Rows", "pk / sk:N")
	for _, make := range []func(*sortkey.DB, ...func(*dynamodb.Options)) *dynamodb.Client{sdk.Client, sdk.Direct} {
		var seen []string
		c := make(db.DB, func(o *dynamodb.Options) {
			o.Region = "eu-west-1"
			o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
				return stack.Initialize.Add(spy{&seen}, middleware.After)
			})
		})
		require.Equal(t, "eu-west-1", c.Options().Region)
		_, err := c.Query(t.Context(), queryOf("P"))
		require.NoError(t, err)
		_, err = c.ListTables(t.Context(), &dynamodb.ListTablesInput{})
		require.NoError(t, err)
		require.Equal(t, []string{"Query", "ListTables"}, seen)
	}
}

// TestRequestID tests that answers and errors have a request id, whichever way the call takes.
func TestRequestID(t *testing.T) {
	db := sortkeytest.New(t)
	db.Table("Tab", "id")
	for _, name := range inProcess {
		c := clientOf(t, db, name)
		out, err := c.Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("Tab")})
		require.NoError(t, err, name)
		id, ok := awsmiddleware.GetRequestIDMetadata(out.ResultMetadata)
		require.True(t, ok && len(id) == 52, name)
		_, err = c.Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("None")})
		var response *awshttp.ResponseError
		require.ErrorAs(t, err, &response, name)
		require.Len(t, response.ServiceRequestID(), 52, name)
	}
}
