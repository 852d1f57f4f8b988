package layer

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/sortkey/sortkey/server"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"

	"github.com/sortkey/sortkey/bench/measure"
	"github.com/sortkey/sortkey/bench/work"
	"github.com/sortkey/sortkey/sdk"
)

// An sdkLayer calls through a client of the AWS SDK in this process.
type sdkLayer struct {
	data   *Data
	client *dynamodb.Client
	// canned holds the answers of a canned layer by operation: the answer of the
	// first call of each. The answers of a workload are about equally long.
	canned map[work.Op]cannedAnswer
}

type cannedAnswer struct {
	body   []byte
	output any
}

func newSDKLayer(name Name, d *Data) *sdkLayer {
	l := &sdkLayer{data: d}
	switch name {
	case Client:
		l.client = sdk.Client(d.DB, func(o *dynamodb.Options) {
			o.HTTPClient = server.New(d.DB, server.Options{}).Client()
		})
	case Direct:
		l.client = sdk.Direct(d.DB)
	case ClientCanned:
		l.canned = map[work.Op]cannedAnswer{}
		l.client = sdk.Client(d.DB, func(o *dynamodb.Options) { o.HTTPClient = cannedTransport(l.canned) })
	case DirectCanned:
		l.canned = map[work.Op]cannedAnswer{}
		l.client = sdk.Client(d.DB, func(o *dynamodb.Options) {
			o.HTTPClient = cannedTransport(nil) // so that no call takes the short way
			o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
				return stack.Initialize.Add(cannedOutput(l.canned), middleware.After)
			})
		})
	}
	return l
}

// Close implements [Layer].
func (*sdkLayer) Close() error { return nil }

// A cannedTransport answers every request with the body of its operation.
type cannedTransport map[work.Op]cannedAnswer

// Do implements the SDK's HTTPClient.
func (c cannedTransport) Do(req *http.Request) (*http.Response, error) {
	if _, err := io.Copy(io.Discard, req.Body); err != nil {
		return nil, err
	}
	_, op, _ := strings.Cut(req.Header.Get("X-Amz-Target"), ".")
	body := c[work.Op(op)].body
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)), Request: req,
	}, nil
}

// A cannedOutput answers every operation with its output.
type cannedOutput map[work.Op]cannedAnswer

// ID implements [middleware.InitializeMiddleware].
func (cannedOutput) ID() string { return "canned" }

// HandleInitialize implements [middleware.InitializeMiddleware].
func (c cannedOutput) HandleInitialize(
	ctx context.Context, _ middleware.InitializeInput, _ middleware.InitializeHandler,
) (out middleware.InitializeOutput, metadata middleware.Metadata, err error) {
	out.Result = c[work.Op(middleware.GetOperationName(ctx))].output
	return out, metadata, nil
}

// Prepare implements [Layer].
func (l *sdkLayer) Prepare(ctx context.Context, c *work.Call) (measure.Op, error) {
	body, status := l.data.API.Serve(ctx, c.Op.Target(), c.Body(l.data.Shape), nil)
	if _, _, err := answer(c, status, body); err != nil {
		return nil, err
	}

	run, err := sdkOp(l.client, l.data.Shape, c)
	if err != nil {
		return nil, err
	}
	want := *c
	if l.canned != nil {
		want.Want = -1
		if _, ok := l.canned[c.Op]; !ok {
			direct, err := sdkOp(sdk.Direct(l.data.DB), l.data.Shape, c)
			if err != nil {
				return nil, err
			}
			output, _, err := direct(ctx)
			if err != nil {
				return nil, err
			}
			l.canned[c.Op] = cannedAnswer{body, output}
		}
	}

	size := len(body)
	return func(ctx context.Context, _ *measure.Scratch) (int, int, error) {
		_, rows, err := run(ctx)
		if err == nil {
			err = checkRows(&want, rows)
		}
		return rows, size, err
	}, nil
}

// A sdkCall calls a client and returns its output and the rows of it.
type sdkCall func(context.Context) (output any, rows int, err error)

// sdkOp returns a function that makes the input of a call each time, as
// programs do, and calls the client with it. Thousands of inputs made
// beforehand would come from memory that is not in a cache.
func sdkOp(client *dynamodb.Client, s work.Shape, c *work.Call) (sdkCall, error) {
	name := aws.String(work.TableName)
	switch c.Op {
	case work.Get:
		key := s.KeyBinds(c.Items[0])
		return sdkCallOf(client.GetItem, func() *dynamodb.GetItemInput {
			return &dynamodb.GetItemInput{TableName: name, Key: values(key)}
		}, func(out *dynamodb.GetItemOutput) int { return min(len(out.Item), 1) }), nil
	case work.Put:
		item := s.Binds(c.Items[0], c.Version)
		return sdkCallOf(client.PutItem, func() *dynamodb.PutItemInput {
			return &dynamodb.PutItemInput{TableName: name, Item: values(item)}
		}, nil), nil
	case work.Update:
		key, note := s.KeyBinds(c.Items[0]), []work.Bind{
			{Name: ":note", Kind: "S", Text: s.Note(c.Items[0], c.Version)},
		}
		return sdkCallOf(client.UpdateItem, func() *dynamodb.UpdateItemInput {
			return &dynamodb.UpdateItemInput{
				TableName: name, Key: values(key), UpdateExpression: aws.String(work.UpdateExpression),
				ExpressionAttributeValues: values(note),
			}
		}, nil), nil
	case work.Query:
		return sdkCallOf(client.Query, func() *dynamodb.QueryInput { return queryInput(s, &c.Range) },
			func(out *dynamodb.QueryOutput) int { return len(out.Items) }), nil
	case work.Scan:
		return sdkCallOf(client.Scan, func() *dynamodb.ScanInput { return scanInput(s, &c.Range) },
			func(out *dynamodb.ScanOutput) int { return len(out.Items) }), nil
	case work.TransactGet:
		var keys [][]work.Bind
		for _, i := range c.Items {
			keys = append(keys, s.KeyBinds(i))
		}
		return sdkCallOf(client.TransactGetItems, func() *dynamodb.TransactGetItemsInput {
			in := &dynamodb.TransactGetItemsInput{}
			for _, key := range keys {
				in.TransactItems = append(
					in.TransactItems, types.TransactGetItem{Get: &types.Get{TableName: name, Key: values(key)}},
				)
			}
			return in
		}, func(out *dynamodb.TransactGetItemsOutput) int { return len(out.Responses) }), nil
	case work.TransactWrite:
		var items [][]work.Bind
		for _, i := range c.Items {
			items = append(items, s.Binds(i, c.Version))
		}
		return sdkCallOf(client.TransactWriteItems, func() *dynamodb.TransactWriteItemsInput {
			in := &dynamodb.TransactWriteItemsInput{}
			for _, item := range items {
				in.TransactItems = append(
					in.TransactItems, types.TransactWriteItem{Put: &types.Put{TableName: name, Item: values(item)}},
				)
			}
			return in
		}, nil), nil
	}
	return nil, fmt.Errorf("the SDK layers do not support %s", c.Op)
}

// sdkCallOf returns the call of a client's method. Rows may be nil.
func sdkCallOf[In, Out any](
	method func(context.Context, *In, ...func(*dynamodb.Options)) (*Out, error),
	input func() *In,
	rows func(*Out) int,
) sdkCall {
	return func(ctx context.Context) (any, int, error) {
		out, err := method(ctx, input())
		if err != nil || rows == nil {
			return out, 0, err
		}
		return out, rows(out), nil
	}
}

func queryInput(s work.Shape, r *work.Range) *dynamodb.QueryInput {
	return &dynamodb.QueryInput{
		TableName: aws.String(work.TableName), IndexName: text(r.Index), KeyConditionExpression: text(r.Key),
		FilterExpression:          text(r.Filter),
		ExpressionAttributeValues: values(r.Values), ExclusiveStartKey: startKey(s, r), Limit: limit(r),
		ScanIndexForward: aws.Bool(!r.Reverse),
	}
}

func scanInput(s work.Shape, r *work.Range) *dynamodb.ScanInput {
	in := &dynamodb.ScanInput{
		TableName: aws.String(work.TableName), FilterExpression: text(r.Filter),
		ExpressionAttributeValues: values(r.Values), ExclusiveStartKey: startKey(s, r), Limit: limit(r),
	}
	if r.Segments > 0 {
		in.Segment = aws.Int32(int32(r.Segment))        //nolint:gosec // a small number
		in.TotalSegments = aws.Int32(int32(r.Segments)) //nolint:gosec // a small number
	}
	return in
}

func startKey(s work.Shape, r *work.Range) map[string]types.AttributeValue {
	if r.After < 0 {
		return nil
	}
	return values(s.KeyBinds(r.After))
}

func limit(r *work.Range) *int32 {
	if r.Limit == 0 {
		return nil
	}
	return aws.Int32(int32(r.Limit)) //nolint:gosec // small numbers
}

func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func values(bs []work.Bind) map[string]types.AttributeValue {
	if len(bs) == 0 {
		return nil
	}
	m := map[string]types.AttributeValue{}
	for _, b := range bs {
		if b.Kind == "N" {
			m[b.Name] = &types.AttributeValueMemberN{Value: b.Text}
		} else {
			m[b.Name] = &types.AttributeValueMemberS{Value: b.Text}
		}
	}
	return m
}
