package sortkeytest_test

import (
	"context"
	"fmt"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sortkey/sortkey/server"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/sdk"
	"github.com/sortkey/sortkey/sortkeytest"
)

// This file has the Go code of docs/testing.md and the pages it leads to, so that it
// compiles and runs. TestDocument compares them.

// Order is an item of the table Orders.
type Order struct {
	Customer string `dynamodbav:"customer"`
	Placed   int    `dynamodbav:"placed"`
	Status   string `dynamodbav:"status,omitempty"`
	Shipped  bool   `dynamodbav:"shipped,omitempty"`
	Total    int    `dynamodbav:"total,omitempty"`
}

// A Service is a program to test.
type Service struct{ client *dynamodb.Client }

// NewService returns a Service.
func NewService(c *dynamodb.Client) *Service { return &Service{c} }

// Ship marks an order as shipped.
func (s *Service) Ship(ctx context.Context, customer string, placed int) error {
	key, err := attributevalue.MarshalMap(map[string]any{"customer": customer, "placed": placed})
	if err != nil {
		return err
	}
	_, err = s.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: aws.String("Orders"), Key: key, UpdateExpression: aws.String("SET shipped = :yes"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":yes": &types.AttributeValueMemberBOOL{Value: true},
		},
	})
	return err
}

// Place puts an order, which is new.
func (s *Service) Place(ctx context.Context, o Order) error {
	o.Status = "new"
	item, err := attributevalue.MarshalMap(o)
	if err != nil {
		return err
	}
	_, err = s.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("Orders"), Item: item})
	return err
}

// ByStatus returns the orders with a status.
func (s *Service) ByStatus(ctx context.Context, status string) (orders []Order, err error) {
	out, err := s.client.Query(ctx, &dynamodb.QueryInput{
		TableName: aws.String("Orders"), IndexName: aws.String("ByStatus"),
		KeyConditionExpression: aws.String("#s = :s"), ExpressionAttributeNames: map[string]string{"#s": "status"},
		ExpressionAttributeValues: map[string]types.AttributeValue{":s": &types.AttributeValueMemberS{Value: status}},
	})
	if err != nil {
		return nil, err
	}
	return orders, attributevalue.UnmarshalListOfMaps(out.Items, &orders)
}

// Total returns the total of a customer's orders.
func (s *Service) Total(ctx context.Context, customer string) (total int, err error) {
	out, err := s.client.Query(ctx, &dynamodb.QueryInput{
		TableName: aws.String("Orders"), KeyConditionExpression: aws.String("customer = :c"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":c": &types.AttributeValueMemberS{Value: customer}},
	})
	var orders []Order
	if err == nil {
		err = attributevalue.UnmarshalListOfMaps(out.Items, &orders)
	}
	for _, o := range orders {
		total += o.Total
	}
	return total, err
}

func TestDocument(t *testing.T) {
	lines := func(path string) (all []string) {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		for line := range strings.Lines(string(data)) {
			all = append(all, strings.TrimSpace(line))
		}
		return all
	}
	code := strings.Join(slices.Concat(lines("docs_test.go"), lines("../design/designtest/docs_test.go")), "\n")
	pages, err := filepath.Glob("../docs/testing*.md")
	require.NoError(t, err)
	require.Len(t, pages, 3)
	for _, page := range pages {
		var block []string
		blocks, inside := 0, false
		for _, line := range lines(page) {
			switch {
			case line == "```go":
				inside, block = true, nil
			case line == "```" && inside:
				inside = false
				blocks++
				if text := strings.Join(block, "\n"); !strings.Contains(code, text) {
					t.Errorf("docs_test.go lacks this code of %s:\n%s", page, text)
				}
			case inside:
				block = append(block, line)
			}
		}
		require.NotZero(t, blocks, page)
	}
}

func opened(t *testing.T) (*sortkeytest.DB, *Service) {
	db := sortkeytest.New(t)
	db.Table("Orders", "customer / placed:N", sortkeytest.Global("ByStatus", "status / placed"))
	service := NewService(db.Client) // the real *dynamodb.Client
	return db, service
}

func TestDocumentSetenv(t *testing.T) {
	db := sortkeytest.New(t)
	db.Setenv(t) // AWS_ENDPOINT_URL_DYNAMODB and others; not in parallel tests
	require.Equal(t, db.URL(), os.Getenv("AWS_ENDPOINT_URL_DYNAMODB"))
}

func TestDocumentMoving(t *testing.T) {
	t.Run("address", func(t *testing.T) {
		db := sortkeytest.New(t)
		endpoint := db.URL() // http://127.0.0.1:41234, until the test ends
		require.Contains(t, endpoint, "http://127.0.0.1:")
	})
	db, err := sortkey.Open(sortkey.Options{})
	if err != nil {
		log.Fatal(err)
	}
	cfg := sdk.Config(db) // or client := sdk.Client(db)
	local := httptest.NewServer(server.New(db, server.Options{}))
	defer local.Close()
	over := dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) {
		o.BaseEndpoint, o.HTTPClient = &local.URL, local.Client()
	})
	for _, client := range []*dynamodb.Client{dynamodb.NewFromConfig(cfg), over} {
		_, err = client.ListTables(t.Context(), nil)
		require.NoError(t, err)
	}
	require.NoError(t, db.Close())
}

func TestDocumentItems(t *testing.T) {
	db, _ := opened(t)
	db.Put("Orders", []Order{{Customer: "7", Placed: 1}, {Customer: "7", Placed: 2}})

	order, ok := sortkeytest.Get[Order](db, "Orders", "7", 2)
	orders := sortkeytest.Query[Order](db, "Orders", "7")           // a partition
	open := sortkeytest.Query[Order](db, "Orders/ByStatus", "open") // of an index
	all := sortkeytest.Items[Order](db, "Orders")                   // in the order of keys
	require.True(t, ok)
	require.Equal(t, orders[1], order)
	require.Empty(t, open)
	require.Equal(t, orders, all)
}

func TestDocumentDiff(t *testing.T) {
	db, service := opened(t)
	db.Put("Orders", Order{Customer: "7", Placed: 2})
	before := db.Fork(t)
	if err := service.Ship(t.Context(), "7", 2); err != nil {
		t.Fatal(err)
	}
	t.Log(db.Diff(before))
	require.Equal(t, "Orders: customer / placed:N\n~ \"7\" / 2  {shipped: none → true}\n", db.Diff(before))
}

var stock = sortkeytest.Shared(func(db *sortkeytest.DB) {
	db.Table("Orders", "customer / placed:N")
	db.PutFile("Orders", "testdata/orders.json")
})

func TestTotal(t *testing.T) {
	t.Parallel()
	service := NewService(stock(t).Client)
	total, err := service.Total(t.Context(), "7")
	if err != nil || total != 42 {
		t.Errorf("Total(7) = %v, %v, want 42", total, err)
	}
}

func TestDocumentFaults(t *testing.T) {
	db := sortkeytest.New(&reports{TB: t}) // no call meets these faults
	// The first two writes are throttled; the third gets through.
	db.Fail(sortkeytest.Fault{Operation: "PutItem", Code: "ThrottlingException", Times: 2})

	// The second transaction is carried out, but its answer is lost.
	db.Fail(sortkeytest.Fault{Operation: "TransactWriteItems", Skip: 1, Times: 1, LoseAnswer: true})

	// The second action of each transaction meets another transaction.
	db.Fail(sortkeytest.Fault{Operation: "TransactWriteItems", Reasons: []string{"", "TransactionConflict"}})

	// A batch leaves its last request unprocessed, once.
	db.Fail(sortkeytest.Fault{Operation: "BatchWriteItem", Unprocessed: 1, Times: 1})

	// Items of one kind are slow.
	db.Fail(sortkeytest.Fault{Key: "INVOICE#*", Delay: 2 * time.Second})

	// The first and the third read fail.
	db.Fail(sortkeytest.Fault{Operation: "GetItem", Nth: []int{1, 3}, Code: "InternalServerError"})
}

func TestDocumentThroughput(t *testing.T) {
	db := sortkeytest.New(t, func(o *sortkey.Options) { o.Simulate.EnforceThroughput = true })
	db.Table("Orders", "customer / placed:N")
}

func TestDocumentConflicts(t *testing.T) {
	db := sortkeytest.New(t, func(o *sortkey.Options) { o.Simulate.TransactionDelay = 100 * time.Millisecond })
	db.Table("Orders", "customer / placed:N")
}

func TestDocumentSubtests(t *testing.T) {
	full := stock(t)
	for _, placed := range []int{1, 2} {
		t.Run(fmt.Sprint(placed), func(t *testing.T) {
			t.Parallel()
			db := full.Fork(t)
			if err := NewService(db.Client).Ship(t.Context(), "7", placed); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestDocumentWith(t *testing.T) {
	db := stock(t)
	t.Run("shipped", func(t *testing.T) {
		db := db.With(t)
		db.Put("Orders", Order{Customer: "7", Placed: 3})
	})
	_, ok := sortkeytest.Get[Order](db, "Orders", "7", 3)
	require.True(t, ok)
}

func TestShip(t *testing.T) {
	t.Parallel()
	db := sortkeytest.New(t)
	db.Table("Orders", "customer / placed:N")
	db.Put("Orders", Order{Customer: "7", Placed: 2})
	if err := NewService(db.Client).Ship(t.Context(), "7", 2); err != nil {
		t.Fatal(err)
	}
	if order, _ := sortkeytest.Get[Order](db, "Orders", "7", 2); !order.Shipped {
		t.Error("order is not shipped")
	}
}

func TestDocumentClock(t *testing.T) {
	db := sortkeytest.New(t)
	db.Table("Sessions", "id")
	_, err := db.Client.UpdateTimeToLive(t.Context(), &dynamodb.UpdateTimeToLiveInput{
		TableName: aws.String("Sessions"),
		TimeToLiveSpecification: &types.TimeToLiveSpecification{
			AttributeName: aws.String("ends"), Enabled: aws.Bool(true),
		},
	})
	require.NoError(t, err)
	db.Put("Sessions", map[string]any{"id": "1", "ends": db.Clock.Now().Add(time.Hour).Unix()})
	db.Clock.Advance(2 * time.Hour) // deletes the session, if ends is the attribute of the time to live
	require.Empty(t, sortkeytest.Items[map[string]any](db, "Sessions"))
}

func TestDocumentTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := sortkeytest.New(t)
		db.Table("Orders", "customer / placed:N")
		db.Fail(sortkeytest.Fault{Operation: "UpdateItem", Code: "ThrottlingException", Times: 7})
		patient := sdk.Client(db.DB, func(o *dynamodb.Options) { o.RetryMaxAttempts = 8 })
		if err := NewService(patient).Ship(t.Context(), "7", 2); err != nil {
			t.Error(err)
		}
	})
}

func TestDocumentSlowTables(t *testing.T) {
	db := sortkeytest.New(t, func(o *sortkey.Options) { o.Simulate.TableDelay = 10 * time.Second })
	db.Table("Orders", "customer / placed:N")
}

func TestDocumentStaleIndex(t *testing.T) {
	db, service := opened(t)
	ctx, order := t.Context(), Order{Customer: "7", Placed: 3}
	db.HoldIndexes()
	service.Place(ctx, order)                // writes the order
	found, _ := service.ByStatus(ctx, "new") // reads the index too early
	require.Empty(t, found)
}

func TestDocumentStaleReads(t *testing.T) {
	t.Run("window", func(t *testing.T) {
		// Each read sees some version of the last second; a failing test logs the seed.
		db := sortkeytest.New(t, func(o *sortkey.Options) { o.Simulate.StaleReads.Window = time.Second })
		db.Table("Orders", "customer / placed:N")
	})
	t.Run("oldest", func(t *testing.T) {
		// Each read sees the oldest version that it may see.
		db := sortkeytest.New(t, func(o *sortkey.Options) {
			o.Simulate.StaleReads = sortkey.StaleReads{Window: time.Second, Oldest: true}
		})
		db.Table("Orders", "customer / placed:N")
	})
}

func TestDocumentCalls(t *testing.T) {
	db, service := opened(t)
	db.Forbid("Scan") // fails the test as soon as somebody scans
	calls := db.Record()
	if err := service.Ship(t.Context(), "7", 2); err != nil {
		t.Fatal(err)
	}
	calls.Only("Orders")
	calls.AtMost(1) // capacity units
	if n := calls.Count("UpdateItem"); n != 1 {
		t.Errorf("%d updates, want 1", n)
	}
}

func TestDocumentLanguages(t *testing.T) {
	db, _ := opened(t)
	t.Setenv("PATH", t.TempDir()) // there is no pytest here
	cmd := exec.CommandContext(t.Context(), "pytest", "tests")
	cmd.Env = append(os.Environ(), db.Env()...)
	out, err := cmd.CombinedOutput()
	require.ErrorIs(t, err, exec.ErrNotFound)
	require.Empty(t, out)
}

func streamOfOrders(t *testing.T) (context.Context, *sortkeytest.DB, *Service) {
	ctx := t.Context()
	db, service := opened(t)
	_, err := db.Client.UpdateTable(ctx, &dynamodb.UpdateTableInput{
		TableName: aws.String("Orders"),
		StreamSpecification: &types.StreamSpecification{
			StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages,
		},
	})
	require.NoError(t, err)
	return ctx, db, service
}

func TestDocumentStreams(t *testing.T) {
	ctx, db, service := streamOfOrders(t)
	handled := 0
	handle := func(_ context.Context, change streamtypes.Record) error {
		handled++
		require.NotNil(t, change.Dynamodb.NewImage)
		return nil
	}
	require.NoError(t, service.Place(ctx, Order{Customer: "7", Placed: 1}))
	for change := range db.Changes("Orders") {
		if err := handle(ctx, change); err != nil {
			t.Error(err)
		}
	}
	require.Equal(t, 1, handled)
}

// HandleOrders reports each record as failed.
func HandleOrders(_ context.Context, e event) (r response, err error) {
	for _, record := range e.Records {
		r.BatchItemFailures = append(r.BatchItemFailures, batchFailure{record.Change.SequenceNumber})
	}
	return r, nil
}

// lambda stands in for package lambda of aws-lambda-go, which this module does not need.
var lambda struct{ lambdaPackage }

type lambdaPackage struct{}

func (lambdaPackage) NewHandler(fn any) invocation { return handler(fn) }

func TestDocumentFunctions(t *testing.T) {
	ctx, db, service := streamOfOrders(t)
	order := Order{Customer: "7", Placed: 1}
	var discarded [][]byte
	function := db.EventSource("Orders", lambda.NewHandler(HandleOrders), func(s *sortkeytest.EventSource) {
		s.BatchSize = 10
		s.MaximumRetryAttempts = 2
		s.BisectBatchOnFunctionError = true
		s.ReportBatchItemFailures = true
		s.OnFailure = func(message []byte) { discarded = append(discarded, message) }
	})
	if err := service.Place(ctx, order); err != nil {
		t.Fatal(err)
	}
	function.Deliver()
	require.Len(t, discarded, 1)
}
