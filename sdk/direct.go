package sdk

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync/atomic"

	"github.com/sortkey/sortkey/internal/engine"
	"github.com/sortkey/sortkey/internal/wire"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/internal/api"
)

// Direct returns a DynamoDB client that always takes the short way: it answers operations on items at the end of the
// SDK's Initialize step, whatever the options are. The SDK's own checks of inputs, its paginators, waiters and error
// types work as usual. As with [Client], four kinds of requests go over the wire: transactions and other operations
// that are not on items; requests with legacy parameters from before expressions; requests that may exceed the limit
// of 16 MB; and requests that DynamoDB would refuse while it decodes them.
//
// On the short way, a call that succeeds runs NOTHING of a later step: no middleware of Serialize, Build, Finalize or
// Deserialize, no signer, no Retryer and no HTTPClient, even if the options set them. [Client] takes the short way
// only if the caller cannot notice it, so [Client] is nearly always the better choice.
func Direct(db *sortkey.DB, optFns ...func(*dynamodb.Options)) *dynamodb.Client {
	d := newDirect(db, false)
	own := append([]func(*dynamodb.Options){}, optFns...)
	return dynamodb.New(options(db), append(own, func(o *dynamodb.Options) {
		// Add this option last, so that the caller's middlewares of the Initialize step run before the short way.
		o.APIOptions = append(o.APIOptions[:len(o.APIOptions):len(o.APIOptions)], func(stack *middleware.Stack) error {
			return addTo(stack, d)
		})
	})...)
}

// addTo adds two middlewares to a stack. It adds short at the end of the Initialize step. It adds failed at the end
// of the Deserialize step, where the response arrives.
func addTo(stack *middleware.Stack, short middleware.InitializeMiddleware) error {
	if err := stack.Initialize.Add(short, middleware.After); err != nil {
		return err
	}
	return stack.Deserialize.Add(failed{}, middleware.After)
}

// direct is the middleware that answers a call on the short way.
type direct struct {
	service   *api.Service
	requestID func() string // returns a new one
	whole     bool          // add all metadata that the SDK has for an answer, not only the request id
}

func newDirect(db *sortkey.DB, whole bool) *direct {
	return &direct{service: engine.Of(db).Service, requestID: engine.Of(db).RequestID, whole: whole}
}

// shortID is the ID of the middleware of the short way.
const shortID = "SortkeyShortWay"

// ID implements [middleware.InitializeMiddleware].
func (*direct) ID() string { return shortID }

// errWire means that a request must go over the wire. Its operation has no short way, the request may be too long, or
// DynamoDB would refuse one of its values while it decodes the request, with a message of its own.
var errWire = errors.New("sdk: request must be serialised")

// HandleInitialize implements [middleware.InitializeMiddleware].
func (d *direct) HandleInitialize(
	ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
) (out middleware.InitializeOutput, metadata middleware.Metadata, err error) {
	out.Result, err = d.answer(ctx, in.Parameters)
	if err == nil {
		if !d.whole {
			awsmiddleware.SetRequestIDMetadata(&metadata, d.requestID())
			return out, metadata, nil
		}
		metadata, err = answered(ctx, d.requestID())
		return out, metadata, err
	}

	failure, ok := errors.AsType[*wire.Error](err)
	if !ok { // err is errWire
		return next.HandleInitialize(ctx, in)
	}
	s := &sent{response: &smithyhttp.Response{Response: &http.Response{Header: http.Header{}, Body: http.NoBody}}}
	switch {
	case ctx.Err() != nil:
		s.err = &smithy.CanceledError{Err: ctx.Err()}
		ctx = context.WithoutCancel(ctx) // keep the context alive, as all steps before the connection must still run
	case errors.Is(failure, api.ErrReset):
		s.err = &smithyhttp.RequestSendError{Err: sendError(endpoint+"/", io.EOF)}
	default:
		s.response = httpResponse(failure.Status, d.requestID(), failure.AppendJSON(nil))
	}

	return next.HandleInitialize(context.WithValue(ctx, failureKey{}, s), in)
}

// failureKey is the key of a context value. With it, HandleInitialize passes the *sent of a failed operation to
// failed.
type failureKey struct{}

// A sent is what the SDK gets for a failed operation in place of an HTTP exchange. It is a response. If err is set,
// it is an error of the connection and an empty response.
type sent struct {
	response *smithyhttp.Response
	err      error
	once     atomic.Bool
}

// failed is the middleware that runs where the response arrives. It passes an error of the database to the SDK as a
// response, so that any version of the SDK itself creates the error, its type and its metadata. If the caller has set
// a Retryer, later attempts go over the wire.
type failed struct{}

// ID implements [middleware.DeserializeMiddleware].
func (failed) ID() string { return "SortkeyShortWayError" }

// HandleDeserialize implements [middleware.DeserializeMiddleware].
func (failed) HandleDeserialize(
	ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler,
) (out middleware.DeserializeOutput, metadata middleware.Metadata, err error) {
	s, ok := ctx.Value(failureKey{}).(*sent)
	if !ok || s.once.Swap(true) {
		return next.HandleDeserialize(ctx, in)
	}
	out.RawResponse = s.response
	return out, metadata, s.err
}

// answered returns the metadata of a successful answer: the request id, the response (whose body has been read), its
// time, and the single attempt. It runs the SDK's own middlewares to create them.
func answered(ctx context.Context, id string) (middleware.Metadata, error) {
	_, metadata, err := attempt.HandleFinalize(ctx, middleware.FinalizeInput{}, received(id))
	return metadata, err
}

var (
	attempt = retry.NewAttemptMiddleware(aws.NopRetryer{}, func(request any) any { return request })
	timing  awsmiddleware.RecordResponseTiming
	raw     awsmiddleware.AddRawResponse
)

// A received is a request id. As a handler, it is the innermost of the Finalize step that answered runs. It passes a
// response with this id through the SDK's middlewares of the Deserialize step.
type received string

// HandleFinalize implements [middleware.FinalizeHandler].
func (r received) HandleFinalize(
	ctx context.Context, _ middleware.FinalizeInput,
) (out middleware.FinalizeOutput, metadata middleware.Metadata, err error) {
	_, metadata, err = timing.HandleDeserialize(ctx, middleware.DeserializeInput{}, r)
	awsmiddleware.SetRequestIDMetadata(&metadata, string(r))
	return out, metadata, err
}

// HandleDeserialize implements [middleware.DeserializeHandler].
func (r received) HandleDeserialize(
	ctx context.Context, in middleware.DeserializeInput,
) (out middleware.DeserializeOutput, metadata middleware.Metadata, err error) {
	return raw.HandleDeserialize(ctx, in, response{string(r)})
}

// response is the innermost handler of the Deserialize step that received runs. It returns an HTTP response with the
// request id.
type response struct{ id string }

// HandleDeserialize implements [middleware.DeserializeHandler].
func (r response) HandleDeserialize(
	context.Context, middleware.DeserializeInput,
) (out middleware.DeserializeOutput, metadata middleware.Metadata, err error) {
	out.RawResponse = httpResponse(http.StatusOK, r.id, nil)
	return out, metadata, nil
}

// httpResponse returns the response that the server would send.
func httpResponse(status int, id string, body []byte) *smithyhttp.Response {
	r := &http.Response{
		Status: "200 OK", StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}, "X-Amzn-Requestid": {id}},
		Body:   http.NoBody,
	}
	if status != http.StatusOK {
		r.Status = strconv.Itoa(status) + " " + http.StatusText(status)
	}
	if body != nil {
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	return &smithyhttp.Response{Response: r}
}

// answer runs an operation on items on the short way. It returns errWire if the request must go over the wire.
func (d *direct) answer(ctx context.Context, input any) (any, error) {
	if ctx.Err() != nil {
		return nil, errWire // on the wire, the SDK returns the error of the context
	}
	m := toSDKs.Get().(*toSDK)
	defer m.release()
	switch in := input.(type) {
	case *dynamodb.GetItemInput:
		return m.getItem(ctx, in, d.service)
	case *dynamodb.PutItemInput:
		return run(ctx, m, in, new(dynamodb.PutItemOutput), d.service.PutItem)
	case *dynamodb.UpdateItemInput:
		return run(ctx, m, in, new(dynamodb.UpdateItemOutput), d.service.UpdateItem)
	case *dynamodb.DeleteItemInput:
		return run(ctx, m, in, new(dynamodb.DeleteItemOutput), d.service.DeleteItem)
	case *dynamodb.QueryInput:
		m.counting = in.Select == types.SelectCount
		return run(ctx, m, in, new(dynamodb.QueryOutput), visiting(m, d.service.Query))
	case *dynamodb.ScanInput:
		m.counting = in.Select == types.SelectCount
		return run(ctx, m, in, new(dynamodb.ScanOutput), visiting(m, d.service.Scan))
	case *dynamodb.BatchGetItemInput:
		return run(ctx, m, in, new(dynamodb.BatchGetItemOutput), d.service.BatchGetItem)
	case *dynamodb.BatchWriteItemInput:
		return run(ctx, m, in, new(dynamodb.BatchWriteItemOutput), d.service.BatchWriteItem)
	}
	return nil, errWire
}

// run converts the input, calls the operation's method and stores the converted output in out.
func run[In, Out any](
	ctx context.Context, m *toSDK, in, out any, method func(context.Context, *In) (*Out, error),
) (any, error) {
	s := fromSDKs.Get().(*fromSDK)
	defer s.release() // release s only now, as request may use its memory until method has returned
	request := new(In)
	if convert(s, in, request); s.refused || s.tooLong() {
		return nil, errWire
	}
	result, err := method(ctx, request)
	if err != nil {
		return nil, err
	}
	convert(m, result, out)
	return out, nil
}

// visiting returns the method of Query or Scan in the form that run takes. m converts the items directly from the
// store's memory.
func visiting[In, Out any](
	m *toSDK, method func(context.Context, *In, api.Visit) (*Out, error),
) func(context.Context, *In) (*Out, error) {
	return func(ctx context.Context, in *In) (*Out, error) { return method(ctx, in, m.visitEach) }
}

// getItem does for GetItem what run does for other operations. It converts the item directly from the store's memory.
func (m *toSDK) getItem(ctx context.Context, in *dynamodb.GetItemInput, service *api.Service) (any, error) {
	s := fromSDKs.Get().(*fromSDK)
	defer s.release()
	s.borrows = true // nothing keeps the key after the call
	if convert(s, in, &s.get); s.refused || s.tooLong() {
		return nil, errWire
	}
	used, err := service.GetItem(ctx, &s.get, m.visitOne)
	if err != nil {
		return nil, err
	}
	if m.got == nil {
		m.got = new(getOutput)
	}
	convert(m, &used, &m.got.out.ConsumedCapacity)
	return &m.got.out, nil
}
