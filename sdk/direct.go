package sdk

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"sync/atomic"

	"github.com/sortkey/sortkey/internal/inside"
	"github.com/sortkey/sortkey/internal/wire"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/api"
)

// Direct returns a DynamoDB client whose operations on items are answered by
// db at the end of the SDK's Initialize step: its own checks of inputs,
// paginators, waiters and error types work as usual, while nothing is
// serialised, signed or retried. All other operations take the way of [Client].
// The options are applied after those that lead to db.
//
// What middleware of a later step would see, such as the HTTP request and its
// limit of 16 MB, and the metadata of a response, such as its request id, exist
// only with [Client] and for errors. The context of a call reaches the database
// in both.
func Direct(db *sortkey.DB, optFns ...func(*dynamodb.Options)) *dynamodb.Client {
	d := &direct{service: inside.Service(db)}
	own := append([]func(*dynamodb.Options){}, optFns...)
	return dynamodb.New(options(db), append(own, func(o *dynamodb.Options) {
		// Last, so that the caller's middlewares of the same step run.
		o.APIOptions = append(o.APIOptions[:len(o.APIOptions):len(o.APIOptions)], func(stack *middleware.Stack) error {
			if err := stack.Initialize.Add(d, middleware.After); err != nil {
				return err
			}
			return stack.Deserialize.Add(failed{}, middleware.After)
		})
	})...)
}

// direct is the middleware of [Direct].
type direct struct{ service *api.Service }

// ID implements [middleware.InitializeMiddleware].
func (*direct) ID() string { return "SortkeyDirect" }

// errWire is for requests that go over the wire: operations that are not on
// items, and values that the service refuses while it reads a request. The
// wire path knows how, and with which words.
var errWire = errors.New("sdk: to be answered over the wire")

// HandleInitialize implements [middleware.InitializeMiddleware].
func (d *direct) HandleInitialize(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (out middleware.InitializeOutput, metadata middleware.Metadata, err error) {
	out.Result, err = d.answer(ctx, in.Parameters)
	if failure, ok := errors.AsType[*wire.Error](err); ok {
		return next.HandleInitialize(context.WithValue(ctx, failureKey{}, &sent{failure: failure}), in)
	}
	if errors.Is(err, errWire) {
		return next.HandleInitialize(ctx, in)
	}
	return out, metadata, err
}

// failureKey is the key of the *sent in the context of an operation that failed.
type failureKey struct{}

// sent is an error of the database on its way to the caller.
type sent struct {
	failure *wire.Error
	once    atomic.Bool
}

// failed is the middleware that stands where the response comes in. It hands an
// error of the database to the SDK as a response would carry it, so the SDK of
// any version makes the error, its type and its metadata itself. A retry, if
// the caller has asked for retries, is a request like any other.
type failed struct{}

// ID implements [middleware.DeserializeMiddleware].
func (failed) ID() string { return "SortkeyDirectError" }

// HandleDeserialize implements [middleware.DeserializeMiddleware].
func (failed) HandleDeserialize(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (out middleware.DeserializeOutput, metadata middleware.Metadata, err error) {
	s, ok := ctx.Value(failureKey{}).(*sent)
	if !ok || s.once.Swap(true) {
		return next.HandleDeserialize(ctx, in)
	}
	body := s.failure.AppendJSON(nil)
	out.RawResponse = &smithyhttp.Response{Response: &http.Response{
		StatusCode:    s.failure.Status,
		Header:        http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
		Body:          io.NopCloser(bytes.NewReader(body)),
		ContentLength: int64(len(body)),
	}}
	return out, metadata, nil
}

// answer runs one operation: a line for each that does not need the wire.
func (d *direct) answer(ctx context.Context, input any) (any, error) {
	if ctx.Err() != nil {
		return nil, errWire // which words it as the SDK does
	}
	switch in := input.(type) {
	case *dynamodb.GetItemInput:
		return d.getItem(ctx, in)
	case *dynamodb.PutItemInput:
		return run(ctx, d, in, (*source).putItem, (*api.Service).PutItem, putItemOutput)
	case *dynamodb.UpdateItemInput:
		return run(ctx, d, in, (*source).updateItem, (*api.Service).UpdateItem, updateItemOutput)
	case *dynamodb.DeleteItemInput:
		return run(ctx, d, in, (*source).deleteItem, (*api.Service).DeleteItem, deleteItemOutput)
	case *dynamodb.QueryInput:
		return find(ctx, d, in, in.Select, (*source).query, (*api.Service).QueryFunc, (*maker).queryOutput)
	case *dynamodb.ScanInput:
		return find(ctx, d, in, in.Select, (*source).scan, (*api.Service).ScanFunc, (*maker).scanOutput)
	case *dynamodb.BatchGetItemInput:
		return run(ctx, d, in, (*source).batchGetItem, (*api.Service).BatchGetItem, batchGetItemOutput)
	case *dynamodb.BatchWriteItemInput:
		return run(ctx, d, in, (*source).batchWriteItem, (*api.Service).BatchWriteItem, batchWriteItemOutput)
	case *dynamodb.TransactGetItemsInput:
		return run(ctx, d, in, (*source).transactGetItems, (*api.Service).TransactGetItems, transactGetItemsOutput)
	case *dynamodb.TransactWriteItemsInput:
		return run(ctx, d, in, (*source).transactWriteItems, (*api.Service).TransactWriteItems, transactWriteItemsOutput)
	}
	return nil, errWire
}

// run converts the input, calls the operation's method and converts its
// output.
func run[In, APIIn, APIOut, Out any](ctx context.Context, d *direct, in In, input func(*source, In) APIIn,
	method func(*api.Service, context.Context, APIIn) (APIOut, error), output func(APIOut) Out,
) (any, error) {
	s := sources.Get().(*source)
	defer s.release() // the request may use its memory until here
	request := input(s, in)
	if s.refused {
		return nil, errWire
	}
	result, err := method(d.service, ctx, request)
	if err != nil {
		return nil, failure(ctx, err)
	}
	return output(result), nil
}

// getItem is run for GetItem: what it finds becomes the answer where it lies.
func (d *direct) getItem(ctx context.Context, in *dynamodb.GetItemInput) (any, error) {
	s, m := sources.Get().(*source), makers.Get().(*maker)
	defer s.release()
	defer m.release()
	request := s.getItem(in)
	if s.refused {
		return nil, errWire
	}
	used, err := d.service.GetItemFunc(ctx, request, m.take)
	if err != nil {
		return nil, failure(ctx, err)
	}
	return m.getItemOutput(used), nil
}

// find is run for operations that find items, of which those become the
// answer that are asked for, where they lie.
func find[In, APIIn, APIOut, Out any](ctx context.Context, d *direct, in In, sel types.Select, input func(*source, In) APIIn,
	method func(*api.Service, context.Context, APIIn, func(attr.Item)) (APIOut, error), output func(*maker, APIOut) Out,
) (any, error) {
	m := makers.Get().(*maker)
	defer m.release()
	m.counting = sel == types.SelectCount
	return run(ctx, d, in, input, func(s *api.Service, ctx context.Context, in APIIn) (APIOut, error) {
		return method(s, ctx, in, m.add)
	}, func(out APIOut) Out { return output(m, out) })
}

// failure is the error of an operation, or that of its context if that ended.
func failure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return &aws.RequestCanceledError{Err: context.Cause(ctx)}
	}
	return err
}
