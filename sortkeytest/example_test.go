package sortkeytest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/sortkeytest"
)

// example stands in for the *testing.T of a test.
type example struct{ testing.TB }

func (example) Helper()                   {}
func (example) Name() string              { return "example" }
func (example) Cleanup(func())            {}
func (example) Context() context.Context  { return context.Background() }
func (example) Fatalf(f string, a ...any) { panic(fmt.Sprintf(f, a...)) }

var t example

func query(
	c *dynamodb.Client, table, condition string, values map[string]types.AttributeValue,
) []map[string]types.AttributeValue {
	out, err := c.Query(context.Background(), &dynamodb.QueryInput{
		TableName: &table, KeyConditionExpression: &condition, ExpressionAttributeValues: values,
	})
	if err != nil {
		panic(err)
	}
	return out.Items
}

func ExampleNew() {
	db := sortkeytest.New(t, func(o *sortkey.Options) { o.Region = "eu-central-1" })
	db.Table("Notes", "id")
	out, err := db.Client.DescribeTable(context.Background(), &dynamodb.DescribeTableInput{
		TableName: aws.String("Notes"),
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(*out.Table.TableArn, out.Table.TableStatus)
	// Output: arn:aws:dynamodb:eu-central-1:000000000000:table/Notes ACTIVE
}

func ExampleDB_Table() {
	db := sortkeytest.New(t)
	db.Table("Readings", "sensor / second:N",
		sortkeytest.Local("ByValue", "value:N"),
		sortkeytest.Global("ByPlace", "country, city / second").Only("value"),
	)
	db.Put("Readings", map[string]any{
		"sensor": "a", "second": 2, "value": 7, "country": "NO", "city": "Oslo", "note": "-",
	})
	for _, item := range query(db.Direct, "Readings", "sensor = :s", map[string]types.AttributeValue{
		":s": &types.AttributeValueMemberS{Value: "a"},
	}) {
		fmt.Println(len(item), "attributes")
	}
	// Output: 6 attributes
}

func ExampleDB_Put() {
	type Song struct {
		Artist string `dynamodbav:"artist"`
		Title  string `dynamodbav:"title"`
		Year   int    `dynamodbav:"year"`
	}
	db := sortkeytest.New(t)
	db.Table("Songs", "artist / title")
	db.Put("Songs", Song{"Nina", "Feeling", 1965}, Song{"Nina", "Baltimore", 1978})
	for _, song := range sortkeytest.Items[Song](db, "Songs") {
		fmt.Println(song)
	}
	// Output:
	// {Nina Baltimore 1978}
	// {Nina Feeling 1965}
}

func ExampleDB_PutJSON() {
	db := sortkeytest.New(t)
	db.Table("Files", "drive / path")
	db.PutJSON("Files", []byte(`
		{"drive": {"S": "a91"}, "path": {"S": "root/photos/2.jpg"}, "size": {"N": "20"}}
		{"drive": {"S": "a91"}, "path": {"S": "root/photos/1.jpg"}, "size": {"N": "10"}}
	`))
	for _, item := range sortkeytest.Items[map[string]any](db, "Files") {
		fmt.Println(item["path"], item["size"])
	}
	// Output:
	// root/photos/1.jpg 10
	// root/photos/2.jpg 20
}

func ExampleDB_PutFile() {
	db := sortkeytest.New(t)
	db.Table("Files", "drive / path")
	db.PutFile("Files", "testdata/files.json") // the AWS CLI's output
	fmt.Println(len(sortkeytest.Items[map[string]any](db, "Files")), "files")
	// Output: 2 files
}

func ExampleGet() {
	type Note struct{ Id, Text string }
	db := sortkeytest.New(t)
	db.Table("Notes", "Id")
	db.Put("Notes", []Note{{"1", "buy milk"}, {"2", "call Ada"}}) // each element is an item
	fmt.Println(sortkeytest.Get[Note](db, "Notes", "2"))
	fmt.Println(sortkeytest.Get[Note](db, "Notes", "3"))
	// Output:
	// {2 call Ada} true
	// { } false
}

func ExampleQuery() {
	type Order struct {
		Customer string
		Placed   int
		Status   string
	}
	db := sortkeytest.New(t)
	db.Table("Orders", "Customer / Placed:N", sortkeytest.Global("ByStatus", "Status / Placed"))
	db.Put("Orders", Order{"7", 20260211, "open"}, Order{"7", 20260130, "sent"}, Order{"8", 20260201, "open"})
	fmt.Println(sortkeytest.Query[Order](db, "Orders", "7"))
	fmt.Println(sortkeytest.Query[Order](db, "Orders/ByStatus", "open"))
	// Output:
	// [{7 20260130 sent} {7 20260211 open}]
	// [{8 20260201 open} {7 20260211 open}]
}

func ExampleDB_Dump() {
	db := sortkeytest.New(t)
	db.Table("Orders", "customer / placed:N")
	db.Put("Orders",
		map[string]any{"customer": "8", "placed": 20260201, "total": 12.5},
		map[string]any{"customer": "7", "placed": 20260130, "lines": []any{map[string]any{"article": "tea"}}},
	)
	fmt.Print(db.Dump())
	// Output:
	// Orders: customer / placed:N
	// "7" / 20260130  {lines: [{article: "tea"}]}
	// "8" / 20260201  {total: 12.5}
}

func ExampleDB_Diff() {
	db := sortkeytest.New(t)
	db.Table("Orders", "id")
	db.Put("Orders", map[string]any{"id": "1", "state": "open"}, map[string]any{"id": "2"})
	before := db.Fork(t)

	// Here the code under test works with db.Client.
	db.Put("Orders", map[string]any{"id": "1", "state": "sent", "carrier": "post"}, map[string]any{"id": "3"})

	fmt.Print(db.Diff(before))
	// Output:
	// Orders: id
	// ~ "1"  {carrier: none → "post", state: "open" → "sent"}
	// + "3"
}

// A variable of the package, or of TestMain.
var shop = sortkeytest.Shared(func(db *sortkeytest.DB) {
	db.Table("Orders", "id")
	db.Put("Orders", map[string]any{"id": "1"})
})

func ExampleShared() {
	first, second := shop(t), shop(t) // in tests that may run in parallel
	first.Put("Orders", map[string]any{"id": "2"})
	fmt.Print(first.Dump(), second.Dump())
	// Output:
	// Orders: id
	// "1"
	// "2"
	// Orders: id
	// "1"
}

func ExampleDB_Fork() {
	full := sortkeytest.New(t)
	full.Table("Counters", "id")
	full.Put("Counters", map[string]any{"id": "a"}, map[string]any{"id": "b"})

	for _, id := range []string{"c", "d"} { // two subtests, each with its own copy
		db := full.Fork(t)
		db.Put("Counters", map[string]any{"id": id})
		fmt.Println(len(sortkeytest.Items[map[string]string](db, "Counters")))
	}
	fmt.Println(len(sortkeytest.Items[map[string]string](full, "Counters")))
	// Output:
	// 3
	// 3
	// 2
}

// The handler fails for one of the records. EventSource splits the batch until that record is alone, and then
// discards it.
func ExampleDB_EventSource() {
	db := sortkeytest.New(t)
	db.CreateTable(&dynamodb.CreateTableInput{
		TableName: aws.String("Orders"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
		StreamSpecification: &types.StreamSpecification{
			StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeKeysOnly,
		},
	})

	// A real function takes an events.DynamoDBEvent, and passes through lambda.NewHandler instead of handler.
	handleOrders := func(_ context.Context, e event) error {
		var ids []string
		for _, r := range e.Records {
			ids = append(ids, r.Change.Keys["id"].S)
		}
		if slices.Contains(ids, "bad") {
			fmt.Println(ids, "failed")
			return errors.New("not an order")
		}
		fmt.Println(ids)
		return nil
	}

	db.Put("Orders", map[string]any{"id": "1"}, map[string]any{"id": "bad"}, map[string]any{"id": "2"},
		map[string]any{"id": "3"})
	db.EventSource("Orders", handler(handleOrders), func(s *sortkeytest.EventSource) {
		s.BisectBatchOnFunctionError, s.MaximumRetryAttempts = true, 0
		s.OnFailure = func([]byte) { fmt.Println("discarded") }
	}).Deliver()
	// Output:
	// [1 bad 2 3] failed
	// [1 bad] failed
	// [1]
	// [bad] failed
	// discarded
	// [2 3]
}

func ExampleDB_Changes() {
	db := sortkeytest.New(t)
	db.CreateTable(&dynamodb.CreateTableInput{
		TableName: aws.String("Orders"),
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
		StreamSpecification: &types.StreamSpecification{
			StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeKeysOnly,
		},
	})
	db.Put("Orders", map[string]any{"id": "1"}, map[string]any{"id": "2"}, map[string]any{"id": "1", "state": "sent"})
	for change := range db.Changes("Orders") {
		fmt.Println(change.EventName, change.Dynamodb.Keys["id"].(*streamtypes.AttributeValueMemberS).Value)
	}
	// Output:
	// INSERT 1
	// INSERT 2
	// MODIFY 1
}

func ExampleDB_Record() {
	db := sortkeytest.New(t)
	db.Table("Notes", "id")
	calls := db.Record()
	if _, err := db.Client.GetItem(context.Background(), &dynamodb.GetItemInput{
		TableName: aws.String("Notes"), Key: id("1"),
	}); err != nil {
		panic(err)
	}
	calls.Never("Scan")
	calls.AtMost(0.5)
	for _, c := range calls.Calls() {
		fmt.Println(c.Operation, c.Tables)
	}
	// Output: GetItem [Notes]
}
