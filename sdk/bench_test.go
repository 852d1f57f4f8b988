package sdk_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/sortkey/sortkey/internal/engine"
	"github.com/sortkey/sortkey/server"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"

	"github.com/sortkey/sortkey/sdk"
	"github.com/sortkey/sortkey/sortkeytest"
)

// The ratios matter. The benchmarks compare a call over the wire with the same call answered by a transport that has
// the response body ready. They compare a call on the short way, through Direct or Client, with the same call
// answered by a middleware that has the output ready. The difference is Sortkey's time; the rest is the SDK's.
//
//	go test -bench . -benchmem ./sdk

func benchDB(b *testing.B) *sortkeytest.DB {
	db := sortkeytest.New(b)
	db.Table("Rows", "pk / sk:N")
	for p := range 10 {
		for i := range 100 {
			db.Put("Rows", map[string]any{
				"pk": fmt.Sprint(p), "sk": i, "name": "a name of some length", "count": i * 1000,
				"tags": []string{"red", "green"},
			})
		}
	}
	return db
}

// canned is a transport that answers every request with the same body.
type canned []byte

func (c canned) Do(req *http.Request) (*http.Response, error) {
	if _, err := io.Copy(io.Discard, req.Body); err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
		Body: io.NopCloser(bytes.NewReader(c)), ContentLength: int64(len(c)), Request: req,
	}, nil
}

// ready is a middleware that answers every operation with the same output.
type ready struct{ out any }

func (ready) ID() string { return "ready" }

func (m ready) HandleInitialize(
	context.Context, middleware.InitializeInput, middleware.InitializeHandler,
) (out middleware.InitializeOutput, metadata middleware.Metadata, err error) {
	out.Result = m.out
	return out, metadata, nil
}

func transport(c canned) func(*dynamodb.Options) {
	return func(o *dynamodb.Options) { o.HTTPClient = c }
}

func answered(out any) func(*dynamodb.Options) {
	return func(o *dynamodb.Options) {
		o.HTTPClient = canned(nil) // so that no call takes the short way
		o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
			return stack.Initialize.Add(ready{out}, middleware.After)
		})
	}
}

func BenchmarkGetItem(b *testing.B) {
	db := benchDB(b)
	in := &dynamodb.GetItemInput{TableName: aws.String("Rows"), Key: key("5", 50)}
	const body = `{"TableName":"Rows","Key":{"pk":{"S":"5"},"sk":{"N":"50"}}}`
	benchmark(b, db, "GetItem", body, func(c *dynamodb.Client) any {
		out, err := c.GetItem(b.Context(), in)
		if err != nil || len(out.Item) != 5 {
			b.Fatal(out, err)
		}
		return out
	})
}

func BenchmarkQuery10(b *testing.B) {
	db := benchDB(b)
	in := queryOf("5")
	in.KeyConditionExpression = aws.String("pk = :p AND sk BETWEEN :a AND :b")
	in.ExpressionAttributeValues[":a"] = &types.AttributeValueMemberN{Value: "40"}
	in.ExpressionAttributeValues[":b"] = &types.AttributeValueMemberN{Value: "49"}
	const body = `{"TableName":"Rows","KeyConditionExpression":"pk = :p AND sk BETWEEN :a AND :b",
		"ExpressionAttributeValues":{":p":{"S":"5"},":a":{"N":"40"},":b":{"N":"49"}}}`
	benchmark(b, db, "Query", body, func(c *dynamodb.Client) any {
		out, err := c.Query(b.Context(), in)
		if err != nil || len(out.Items) != 10 {
			b.Fatal(out, err)
		}
		return out
	})
}

// benchmark measures a call with each client. Body is the request that the call sends.
func benchmark(b *testing.B, db *sortkeytest.DB, operation, body string, call func(*dynamodb.Client) any) {
	out := call(db.Direct)
	response, _ := engine.Of(db.DB).Service.Serve(b.Context(), "DynamoDB_20120810."+operation, []byte(body), nil)
	wire := func(o *dynamodb.Options) { o.HTTPClient = server.New(db.DB, server.Options{}).Client() }
	for _, bb := range []struct {
		name   string
		client *dynamodb.Client
	}{
		{"Client", db.Client}, {"Wire", sdk.Client(db.DB, wire)},
		{"Wire/canned", sdk.Client(db.DB, transport(response))},
		{"Direct", db.Direct}, {"Direct/canned", sdk.Client(db.DB, answered(out))},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				call(bb.client)
			}
		})
	}
}
