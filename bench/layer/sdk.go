package layer

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sortkey/sortkey/bench/measure"
	"github.com/sortkey/sortkey/bench/work"
)

// An sdkLayer calls through a client of the AWS SDK in this process.
type sdkLayer struct {
	data   *Data
	client *dynamodb.Client
}

// Close implements [Layer].
func (sdkLayer) Close() error { return nil }

// Prepare implements [Layer].
func (l sdkLayer) Prepare(ctx context.Context, c *work.Call) (measure.Op, error) {
	body, status := l.data.API.Serve(ctx, c.Op.Target(), c.Body(l.data.Shape), nil)
	if _, _, err := answer(c, status, body); err != nil {
		return nil, err
	}
	run, err := sdkOp(l.client, l.data.Shape, c)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, _ *measure.Scratch) (rows, size int, err error) {
		rows, err = run(ctx)
		if err == nil {
			err = checkRows(c, rows)
		}
		return rows, len(body), err
	}, nil
}

// A sdkCall calls a client and returns the rows of its output.
type sdkCall func(context.Context) (rows int, err error)

// sdkOp returns a function that makes the input of a call, as programs do, and then calls the client with it. It
// makes a new input each time, because thousands of inputs made in advance would not fit into the processor's cache.
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

// sdkCallOf returns a function that calls a method of the client with a new input. Rows counts the rows of the
// output; if rows is nil, the function returns 0.
func sdkCallOf[In, Out any](
	method func(context.Context, *In, ...func(*dynamodb.Options)) (*Out, error),
	input func() *In,
	rows func(*Out) int,
) sdkCall {
	return func(ctx context.Context) (int, error) {
		out, err := method(ctx, input())
		if err != nil || rows == nil {
			return 0, err
		}
		return rows(out), nil
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
