package server_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"

	"github.com/sortkey/sortkey/server"

	"github.com/sortkey/sortkey"
)

// open opens a database with a table of two items.
func open() *sortkey.DB {
	db, err := sortkey.Open(sortkey.Options{})
	if err != nil {
		log.Fatal(err)
	}
	call(db, "CreateTable", `{"TableName":"Music", "BillingMode":"PAY_PER_REQUEST",
		"AttributeDefinitions":[{"AttributeName":"artist","AttributeType":"S"}, {"AttributeName":"song",
		"AttributeType":"S"}],
		"KeySchema":[{"AttributeName":"artist","KeyType":"HASH"}, {"AttributeName":"song","KeyType":"RANGE"}]}`)
	call(db, "PutItem", `{"TableName":"Music", "Item":{"artist":{"S":"Nina"}, "song":{"S":"Feeling"}}}`)
	call(db, "PutItem", `{"TableName":"Music", "Item":{"artist":{"S":"Nina"}, "song":{"S":"Baltimore"}}}`)
	return db
}

// request builds a request in DynamoDB's protocol. [server.Server.Client] ignores the address.
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
	resp, err := server.New(db, server.Options{}).Client().Do(req)
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

func ExampleServer_Client() {
	db := open()
	defer db.Close()
	resp, err := server.New(db, server.Options{}).Client().Do(request("Query", all))
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	fmt.Println(resp.StatusCode, string(body), err)
	// Output: 200 {"Items":[{"song":{"S":"Baltimore"}},{"song":{"S":"Feeling"}}],"Count":2,"ScannedCount":2} <nil>
}

// Any HTTP server can use the handler, here under a prefix.
func ExampleServer() {
	db := open()
	defer db.Close()
	mux := http.NewServeMux()
	mux.Handle("/dynamodb/", http.StripPrefix("/dynamodb", server.New(db, server.Options{})))

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
func ExampleServer_Serve() {
	db := open()
	defer db.Close()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- server.New(db, server.Options{}).Serve(ctx, ln) }()

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

// A trace says which slice a query read and what the read cost.
func ExampleReadTrace() {
	db := open()
	defer db.Close()
	req := request("Query", all)
	req.Header.Set(server.TraceHeader, "1")
	resp, err := server.New(db, server.Options{}).Client().Do(req)
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	trace, ok := server.ReadTrace(resp.Header)
	fmt.Println(ok, trace.Operation, trace.Table, trace.Examined, "examined", trace.Units, "units")
	// Output: true Query Music 2 examined 0.5 units
}
