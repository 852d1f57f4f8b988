package layer

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"

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
	canned bool
	// Answers of canned layers, by operation: the first call's of each. All
	// calls of a workload have answers of about one length.
	bodies  map[string][]byte
	outputs map[work.Op]any
}

func newSDKLayer(name Name, d *Data) *sdkLayer {
	l := &sdkLayer{data: d, bodies: map[string][]byte{}, outputs: map[work.Op]any{}}
	switch name {
	case Client:
		l.client = sdk.Client(d.DB)
	case Direct:
		l.client = sdk.Direct(d.DB)
	case ClientCanned:
		l.canned = true
		l.client = sdk.Client(d.DB, func(o *dynamodb.Options) { o.HTTPClient = cannedTransport(l.bodies) })
	case DirectCanned:
		l.canned = true
		l.client = sdk.Client(d.DB, func(o *dynamodb.Options) {
			o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
				return stack.Initialize.Add(cannedOutput(l.outputs), middleware.After)
			})
		})
	}
	return l
}

// Close implements [Layer].
func (*sdkLayer) Close() error { return nil }

// cannedTransport answers every request with the body of its operation.
type cannedTransport map[string][]byte

// Do implements the SDK's HTTPClient.
func (c cannedTransport) Do(req *http.Request) (*http.Response, error) {
	if _, err := io.Copy(io.Discard, req.Body); err != nil {
		return nil, err
	}
	body := c[req.Header.Get("X-Amz-Target")]
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)), Request: req,
	}, nil
}

// cannedOutput answers every operation with its output.
type cannedOutput map[work.Op]any

// ID implements [middleware.InitializeMiddleware].
func (cannedOutput) ID() string { return "canned" }

// HandleInitialize implements [middleware.InitializeMiddleware].
func (c cannedOutput) HandleInitialize(_ context.Context, in middleware.InitializeInput, _ middleware.InitializeHandler) (out middleware.InitializeOutput, metadata middleware.Metadata, err error) {
	out.Result = c[opOf(in.Parameters)]
	return out, metadata, nil
}

func opOf(input any) work.Op {
	switch input.(type) {
	case *dynamodb.GetItemInput:
		return work.Get
	case *dynamodb.PutItemInput:
		return work.Put
	case *dynamodb.UpdateItemInput:
		return work.Update
	case *dynamodb.QueryInput:
		return work.Query
	case *dynamodb.ScanInput:
		return work.Scan
	case *dynamodb.TransactGetItemsInput:
		return work.TransactGet
	case *dynamodb.TransactWriteItemsInput:
		return work.TransactWrite
	}
	return ""
}

// Prepare implements [Layer].
func (l *sdkLayer) Prepare(ctx context.Context, c *work.Call) (measure.Op, error) {
	body := c.Body(l.data.Shape)
	out, status := l.data.API.Serve(ctx, c.Op.Target(), body, nil)
	if status != http.StatusOK {
		return nil, fmt.Errorf("%s: status %d: %s", c.Op, status, out)
	}
	run, err := l.op(c)
	if err != nil {
		return nil, err
	}
	if l.canned && l.outputs[c.Op] == nil {
		l.bodies[c.Op.Target()] = out
		direct := &sdkLayer{data: l.data, client: sdk.Direct(l.data.DB)}
		prepared, err := direct.op(c)
		if err != nil {
			return nil, err
		}
		if l.outputs[c.Op], _, err = prepared(ctx); err != nil {
			return nil, err
		}
	}
	want := *c
	if l.canned {
		want.Want = -1
	}
	size := len(out)
	return func(ctx context.Context, _ *measure.Scratch) (int, int, error) {
		_, rows, err := run(ctx)
		if err == nil {
			err = checked(&want, rows)
		}
		return rows, size, err
	}, nil
}

// op returns a function that makes the input of a call, as a program does each
// time, and calls the client with it. Inputs of thousands of calls made
// beforehand would be read from memory that no program has them in.
func (l *sdkLayer) op(c *work.Call) (func(context.Context) (out any, rows int, err error), error) {
	s, name, client := l.data.Shape, aws.String(work.TableName), l.client
	switch c.Op {
	case work.Get:
		key := s.KeyBinds(c.Items[0])
		return func(ctx context.Context) (any, int, error) {
			in := &dynamodb.GetItemInput{TableName: name, Key: avs(key)}
			out, err := client.GetItem(ctx, in)
			if err != nil || len(out.Item) == 0 {
				return out, 0, err
			}
			return out, 1, nil
		}, nil
	case work.Put:
		item := s.Binds(c.Items[0], c.Version)
		return func(ctx context.Context) (any, int, error) {
			in := &dynamodb.PutItemInput{TableName: name, Item: avs(item)}
			out, err := client.PutItem(ctx, in)
			return out, 0, err
		}, nil
	case work.Update:
		key, values := s.KeyBinds(c.Items[0]), []work.Bind{{Name: ":note", Kind: "S", Text: s.Note(c.Items[0], c.Version)}}
		return func(ctx context.Context) (any, int, error) {
			in := &dynamodb.UpdateItemInput{
				TableName: name, Key: avs(key), UpdateExpression: aws.String(work.UpdateExpression),
				ExpressionAttributeValues: avs(values),
			}
			out, err := client.UpdateItem(ctx, in)
			return out, 0, err
		}, nil
	case work.Query:
		return func(ctx context.Context) (any, int, error) {
			in := l.query(c)
			out, err := client.Query(ctx, in)
			if err != nil {
				return nil, 0, err
			}
			return out, len(out.Items), nil
		}, nil
	case work.Scan:
		return func(ctx context.Context) (any, int, error) {
			in := l.scan(c)
			out, err := client.Scan(ctx, in)
			if err != nil {
				return nil, 0, err
			}
			return out, len(out.Items), nil
		}, nil
	case work.TransactGet:
		keys := bindsOf(c.Items, s.KeyBinds)
		return func(ctx context.Context) (any, int, error) {
			in := &dynamodb.TransactGetItemsInput{}
			for _, key := range keys {
				in.TransactItems = append(in.TransactItems, types.TransactGetItem{Get: &types.Get{TableName: name, Key: avs(key)}})
			}
			out, err := client.TransactGetItems(ctx, in)
			if err != nil {
				return nil, 0, err
			}
			return out, len(out.Responses), nil
		}, nil
	case work.TransactWrite:
		items := bindsOf(c.Items, func(i int) []work.Bind { return s.Binds(i, c.Version) })
		return func(ctx context.Context) (any, int, error) {
			in := &dynamodb.TransactWriteItemsInput{}
			for _, item := range items {
				in.TransactItems = append(in.TransactItems, types.TransactWriteItem{Put: &types.Put{TableName: name, Item: avs(item)}})
			}
			out, err := client.TransactWriteItems(ctx, in)
			return out, 0, err
		}, nil
	}
	return nil, fmt.Errorf("the SDK layers do not call %s", c.Op)
}

func bindsOf(items []int, of func(int) []work.Bind) (all [][]work.Bind) {
	for _, i := range items {
		all = append(all, of(i))
	}
	return all
}

func (l *sdkLayer) query(c *work.Call) *dynamodb.QueryInput {
	r := &c.Range
	return &dynamodb.QueryInput{
		TableName: aws.String(work.TableName), IndexName: text(r.Index), KeyConditionExpression: text(r.Key), FilterExpression: text(r.Filter),
		ExpressionAttributeValues: avs(r.Values), ExclusiveStartKey: l.after(r), Limit: limit(r), ScanIndexForward: aws.Bool(!r.Reverse),
	}
}

func (l *sdkLayer) scan(c *work.Call) *dynamodb.ScanInput {
	r := &c.Range
	in := &dynamodb.ScanInput{
		TableName: aws.String(work.TableName), FilterExpression: text(r.Filter),
		ExpressionAttributeValues: avs(r.Values), ExclusiveStartKey: l.after(r), Limit: limit(r),
	}
	if r.Segments > 0 {
		in.Segment, in.TotalSegments = aws.Int32(int32(r.Segment)), aws.Int32(int32(r.Segments)) //nolint:gosec // small numbers
	}
	return in
}

func (l *sdkLayer) after(r *work.Range) map[string]types.AttributeValue {
	if r.After < 0 {
		return nil
	}
	return avs(l.data.Shape.KeyBinds(r.After))
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

func avs(bs []work.Bind) map[string]types.AttributeValue {
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
