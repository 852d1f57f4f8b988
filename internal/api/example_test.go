package api_test

import (
	"context"
	"fmt"
	"log"

	"github.com/sortkey/sortkey/internal/api"
	"github.com/sortkey/sortkey/internal/table/life"
	"github.com/sortkey/sortkey/store/memory"
)

// A service takes request bodies and returns response bodies.
func ExampleService_Serve() {
	ctx := context.Background()
	db, err := life.Open(ctx, memory.Open())
	if err != nil {
		log.Fatal(err)
	}
	s := api.New(db, api.Options{})
	for _, request := range [][2]string{
		{"CreateTable", `{"TableName":"Music","BillingMode":"PAY_PER_REQUEST",
			"AttributeDefinitions":[{"AttributeName":"Artist","AttributeType":"S"}],
			"KeySchema":[{"AttributeName":"Artist","KeyType":"HASH"}]}`},
		{"PutItem", `{"TableName":"Music","Item":{"Artist":{"S":"No One You Know"},"Awards":{"N":"1.0"}}}`},
		{"GetItem", `{"TableName":"Music","Key":{"Artist":{"S":"No One You Know"}}}`},
		{"GetItem", `{"TableName":"Music","Key":{"Song":{"S":"Call Me Today"}}}`},
	} {
		body, status := s.Serve(ctx, "DynamoDB_20120810."+request[0], []byte(request[1]), nil)
		if request[0] != "CreateTable" { // skip the description, which has times and ids
			fmt.Println(status, string(body))
		}
	}
	// Output:
	// 200 {}
	// 200 {"Item":{"Artist":{"S":"No One You Know"},"Awards":{"N":"1"}}}
	// 400 {"__type":"com.amazon.coral.validate#ValidationException","message":"The provided key element does not match the schema"}
}
