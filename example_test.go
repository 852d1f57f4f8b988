package sortkey_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/sortkey/sortkey"
)

// open opens a database with a table of two items.
func open() *sortkey.DB {
	db, err := sortkey.Open(sortkey.Options{})
	if err != nil {
		log.Fatal(err)
	}
	call(db, "CreateTable", `{"TableName":"Music", "BillingMode":"PAY_PER_REQUEST",
		"AttributeDefinitions":[{"AttributeName":"artist","AttributeType":"S"}, {"AttributeName":"song","AttributeType":"S"}],
		"KeySchema":[{"AttributeName":"artist","KeyType":"HASH"}, {"AttributeName":"song","KeyType":"RANGE"}]}`)
	call(db, "PutItem", `{"TableName":"Music", "Item":{"artist":{"S":"Nina"}, "song":{"S":"Feeling"}}}`)
	call(db, "PutItem", `{"TableName":"Music", "Item":{"artist":{"S":"Nina"}, "song":{"S":"Baltimore"}}}`)
	return db
}

// request builds a request of the service's protocol. [sortkey.DB.HTTPClient]
// ignores the address.
func request(operation, body string) *http.Request {
	req, err := http.NewRequest(http.MethodPost, "http://localhost", strings.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	req.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
	req.Header.Set("Content-Type", "application/x-amz-json-1.0")
	return req
}

// send returns the status and the body of the response to a request.
func send(db *sortkey.DB, req *http.Request) (int, string) {
	resp, err := db.HTTPClient().Do(req)
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		log.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

func call(db *sortkey.DB, operation, body string) string {
	status, answer := send(db, request(operation, body))
	if status != http.StatusOK {
		log.Fatalf("%s: %s", operation, answer)
	}
	return answer
}

const all = `{"TableName":"Music", "ProjectionExpression":"song",
	"KeyConditionExpression":"artist = :a", "ExpressionAttributeValues":{":a":{"S":"Nina"}}}`

// A database in memory opens immediately and needs neither a socket nor a file.
// Package sdk creates a *dynamodb.Client for it.
func ExampleOpen() {
	db, err := sortkey.Open(sortkey.Options{Region: "eu-central-1"})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	fmt.Println(db.Region(), call(db, "ListTables", `{}`))
	// Output: eu-central-1 {"TableNames":[]}
}

func ExampleDB_HTTPClient() {
	db := open()
	defer db.Close()
	resp, err := db.HTTPClient().Do(request("Query", all))
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	fmt.Println(resp.StatusCode, string(body), err)
	// Output: 200 {"Items":[{"song":{"S":"Baltimore"}},{"song":{"S":"Feeling"}}],"Count":2,"ScannedCount":2} <nil>
}

// Any server can use the handler, here under a prefix.
func ExampleDB_Handler() {
	db := open()
	defer db.Close()
	mux := http.NewServeMux()
	mux.Handle("/dynamodb/", http.StripPrefix("/dynamodb", db.Handler()))

	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	defer ln.Close()
	go http.Serve(ln, mux)

	req := request("ListTables", `{}`)
	req.URL.Host, req.URL.Path = ln.Addr().String(), "/dynamodb/"
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	fmt.Println(string(body), err)
	// Output: {"TableNames":["Music"]} <nil>
}

// Serve answers clients in any language until its context ends.
func ExampleDB_Serve() {
	db := open()
	defer db.Close()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- db.Serve(ctx, ln) }()

	req := request("ListTables", `{}`)
	req.URL.Host = ln.Addr().String()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		log.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	fmt.Println(string(body), err)

	stop()
	fmt.Println(<-done)
	// Output:
	// {"TableNames":["Music"]} <nil>
	// <nil>
}

// An observer sees every request, whether it came over HTTP or not, with what
// it read and cost.
func ExampleObserver() {
	db, err := sortkey.Open(sortkey.Options{Observer: logger{}})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	send(db, request("Query", all))
	// Output: Query of [Music]: ResourceNotFoundException
}

type logger struct{}

func (logger) Begin(context.Context, *sortkey.Event) {}

func (logger) End(_ context.Context, e *sortkey.Event) {
	fmt.Printf("%s of %v: %s\n", e.Operation, e.Tables, e.Error)
}

func ExampleDB_Fork() {
	db := open()
	defer db.Close()
	fork, err := db.Fork() // the time does not depend on the size
	if err != nil {
		log.Fatal(err)
	}
	defer fork.Close()
	call(fork, "DeleteTable", `{"TableName":"Music"}`)
	fmt.Println(call(fork, "ListTables", `{}`))
	fmt.Println(call(db, "ListTables", `{}`))
	// Output:
	// {"TableNames":[]}
	// {"TableNames":["Music"]}
}

func ExampleDB_Close() {
	db := open()
	db.Close()
	fmt.Println(send(db, request("Scan", `{"TableName":"Music"}`)))
	// Output: 503 {"__type":"com.amazon.coral.service#ServiceUnavailable","message":"store: closed"}
}

// A trace says which slice a query read and what the read cost.
func ExampleReadTrace() {
	db := open()
	defer db.Close()
	req := request("Query", all)
	req.Header.Set(sortkey.TraceHeader, "1")
	resp, err := db.HTTPClient().Do(req)
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	trace, ok := sortkey.ReadTrace(resp.Header)
	fmt.Println(ok, trace.Operation, trace.Table, trace.Examined, "examined", trace.Units, "units")
	// Output: true Query Music 2 examined 0.5 units
}

func ExampleDB_HoldIndexes() {
	db := open()
	defer db.Close()
	call(db, "UpdateTable", `{"TableName":"Music", "AttributeDefinitions":[{"AttributeName":"year","AttributeType":"N"}],
		"GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":"ByYear", "KeySchema":[{"AttributeName":"year","KeyType":"HASH"}], "Projection":{"ProjectionType":"ALL"}}}]}`)
	if err := db.HoldIndexes(); err != nil {
		log.Fatal(err)
	}
	call(db, "PutItem", `{"TableName":"Music", "Item":{"artist":{"S":"Nina"}, "song":{"S":"Sinnerman"}, "year":{"N":"1965"}}}`)
	const count = `{"TableName":"Music", "IndexName":"ByYear", "Select":"COUNT"}`
	fmt.Println(call(db, "Scan", count))
	db.Settle()
	fmt.Println(call(db, "Scan", count))
	// Output:
	// {"Count":0,"ScannedCount":0}
	// {"Count":1,"ScannedCount":1}
}

func ExampleStaleReads() {
	db, err := sortkey.Open(sortkey.Options{Simulate: sortkey.Simulation{StaleReads: sortkey.StaleReads{Window: time.Hour, Oldest: true}}})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	call(db, "CreateTable", `{"TableName":"Music", "BillingMode":"PAY_PER_REQUEST",
		"AttributeDefinitions":[{"AttributeName":"artist","AttributeType":"S"}], "KeySchema":[{"AttributeName":"artist","KeyType":"HASH"}]}`)
	call(db, "PutItem", `{"TableName":"Music", "Item":{"artist":{"S":"Nina"}}}`)
	fmt.Println(call(db, "GetItem", `{"TableName":"Music", "Key":{"artist":{"S":"Nina"}}}`))
	fmt.Println(call(db, "GetItem", `{"TableName":"Music", "Key":{"artist":{"S":"Nina"}}, "ConsistentRead":true}`))
	// Output:
	// {}
	// {"Item":{"artist":{"S":"Nina"}}}
}
