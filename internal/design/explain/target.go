package explain

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/engine"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/throttle"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/server"
)

// A Target executes requests.
type Target interface {
	// Do sends a request and returns the output of the operation. If the target traces reads, traces has a trace of
	// each. If the service refuses the request, Do returns a [*ServiceError].
	Do(ctx context.Context, in wire.Request) (out wire.Output, traces []sortkey.Trace, err error)
}

// An APIError is an error of the service, from a [Target] or from a client of the AWS SDK.
type APIError interface {
	error
	ErrorCode() string
	ErrorMessage() string
}

// A ServiceError is an error that the service returned to a [Target].
type ServiceError struct {
	Code, Message string
	Status        int
	// Item is the item that failed a condition, if the request asked the service to return it.
	Item attr.Item
}

// ErrorCode implements [APIError].
func (e *ServiceError) ErrorCode() string { return e.Code }

// ErrorMessage implements [APIError].
func (e *ServiceError) ErrorMessage() string { return e.Message }

func (e *ServiceError) Error() string {
	if e.Message == "" {
		return e.Code
	}
	return e.Code + ": " + e.Message
}

// refused converts an error of the service to the type that a Target returns.
func refused(e *wire.Error) *ServiceError {
	return &ServiceError{Code: e.Code, Message: e.Message, Status: e.Status, Item: e.Item}
}

// withTraces returns a context that records the traces of queries and scans in this process, and a function that
// returns the traces recorded so far.
func withTraces(ctx context.Context) (context.Context, func() []sortkey.Trace) {
	var mu sync.Mutex
	var all []sortkey.Trace
	ctx = table.WithTrace(ctx, func(tr table.Trace) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, sortkey.Trace(engine.NewTrace(&tr)))
	})
	return ctx, func() []sortkey.Trace {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(all)
	}
}

// InProcess returns a target for a database in this process. For queries, scans and gets, it avoids JSON.
func InProcess(db *sortkey.DB) Target { return inProcess{db} }

type inProcess struct{ db *sortkey.DB }

func (t inProcess) Do(ctx context.Context, in wire.Request) (wire.Output, []sortkey.Trace, error) {
	traced, traces := withTraces(ctx)
	out, err := t.answer(traced, in)
	if err == nil {
		return out, traces(), nil
	}
	if cause := context.Cause(ctx); cause != nil {
		return nil, nil, cause
	}
	if e, ok := errors.AsType[*wire.Error](err); ok {
		err = refused(e)
	}
	return nil, nil, err
}

func (t inProcess) answer(ctx context.Context, in wire.Request) (wire.Output, error) {
	service := engine.Of(t.db).Service
	ctx = throttle.Exempt(ctx) // exempt the request from throttling, because a check may use all processors
	var items []attr.Item
	visit := func(it attr.Item) (int, error) {
		items = append(items, slices.Clone(it))
		return 0, nil
	}

	switch in := in.(type) {
	case *wire.QueryInput:
		out, err := service.Query(ctx, in, visit)
		if err == nil {
			out.Items = items
		}
		return out, err
	case *wire.ScanInput:
		out, err := service.Scan(ctx, in, visit)
		if err == nil {
			out.Items = items
		}
		return out, err
	case *wire.GetItemInput:
		out := new(wire.GetItemOutput)
		var err error
		out.ConsumedCapacity, err = service.GetItem(ctx, in, func(it attr.Item) { out.Item = slices.Clone(it) })
		return out, err
	case *wire.DescribeTableInput:
		return service.DescribeTable(ctx, in)
	}

	out, err := outputOf(in)
	if err != nil {
		return nil, err
	}
	body, status := service.Serve(ctx, in.Op().Target(), wire.AppendJSON(nil, in), nil)
	if status != http.StatusOK {
		return nil, serviceError(status, body)
	}
	return out, wire.DecodeOutput(body, out)
}

// unknown returns an error for a request that no Target sends.
func unknown(in wire.Request) error { return fmt.Errorf("explain does not send %v", in.Op()) }

// maxResponse limits the bytes of a response. A response of sortkey has at most 32 MB of items; other endpoints may
// write longer numbers.
const maxResponse = 64 << 20

// HTTP returns a target for an endpoint. If the endpoint checks signatures, client must sign requests; nil means
// [http.DefaultClient]. HTTP adds header to every request. Only a sortkey server reports traces.
func HTTP(endpoint string, client *http.Client, header http.Header) Target {
	if client == nil {
		client = http.DefaultClient
	}
	return &httpTarget{endpoint, client, header}
}

type httpTarget struct {
	endpoint string
	client   *http.Client
	header   http.Header
}

func (t *httpTarget) Do(ctx context.Context, in wire.Request) (wire.Output, []sortkey.Trace, error) {
	out, err := outputOf(in)
	if err != nil {
		return nil, nil, err
	}
	resp, err := t.send(ctx, in)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxResponse+1))
	if err != nil {
		return nil, nil, fmt.Errorf("cannot read the response of %s: %w", t.endpoint, err)
	}
	if len(body) > maxResponse {
		return nil, nil, fmt.Errorf("the response of %s is longer than %d bytes", t.endpoint, maxResponse)
	}

	if resp.StatusCode != http.StatusOK {
		return nil, nil, serviceError(resp.StatusCode, body)
	}
	if err := wire.DecodeOutput(body, out); err != nil {
		return nil, nil, advice.New(checkEndpoint, "cannot decode the response to %v: %w", in.Op(), err)
	}
	if tr, ok := server.ReadTrace(resp.Header); ok {
		return out, []sortkey.Trace{tr}, nil
	}
	return out, nil, nil
}

func (t *httpTarget) send(ctx context.Context, in wire.Request) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.endpoint, bytes.NewReader(wire.AppendJSON(nil, in)))
	if err != nil {
		return nil, err
	}
	maps.Copy(req.Header, t.header)
	req.Header.Set("Content-Type", "application/x-amz-json-1.0")
	req.Header.Set("X-Amz-Target", in.Op().Target())
	req.Header.Set(server.TraceHeader, "1")
	return t.client.Do(req)
}

// outputOf returns a new output for a request. It returns an error for an operation that targets do not send. If an
// attribute value in the request is invalid, it returns the service's error.
func outputOf(in wire.Request) (wire.Output, error) {
	if err := faultOf(in); err != nil {
		return nil, err
	}
	switch in.(type) {
	case *wire.QueryInput:
		return new(wire.QueryOutput), nil
	case *wire.ScanInput:
		return new(wire.ScanOutput), nil
	case *wire.GetItemInput:
		return new(wire.GetItemOutput), nil
	case *wire.BatchGetItemInput:
		return new(wire.BatchGetItemOutput), nil
	case *wire.DescribeTableInput:
		return new(wire.DescribeTableOutput), nil
	case *wire.ListTablesInput:
		return new(wire.ListTablesOutput), nil
	case *wire.ExecuteStatementInput:
		return new(wire.ExecuteStatementOutput), nil
	case *wire.PutItemInput:
		return new(wire.PutItemOutput), nil
	case *wire.UpdateItemInput:
		return new(wire.UpdateItemOutput), nil
	case *wire.DeleteItemInput:
		return new(wire.DeleteItemOutput), nil
	case *wire.CreateTableInput:
		return new(wire.CreateTableOutput), nil
	case *wire.UpdateTableInput:
		return new(wire.UpdateTableOutput), nil
	case *wire.DeleteTableInput:
		return new(wire.DeleteTableOutput), nil
	case *wire.UpdateTimeToLiveInput:
		return new(wire.UpdateTimeToLiveOutput), nil
	case *wire.DescribeTimeToLiveInput:
		return new(wire.DescribeTimeToLiveOutput), nil
	}
	return nil, unknown(in)
}

const checkEndpoint = "check the address: it may be that of another kind of server"

// serviceError decodes the body of an error response. If the body is not from the service but, for example, from a
// proxy, the returned error has only the HTTP status.
func serviceError(status int, body []byte) error {
	var e struct {
		Type    string `json:"__type"`
		Message string `json:"message"`
		Item    json.RawMessage
	}
	if json.Unmarshal(body, &e) != nil || e.Type == "" {
		return advice.New(checkEndpoint, "the endpoint returned status %d without a DynamoDB error", status)
	}
	code := e.Type[strings.LastIndexByte(e.Type, '#')+1:]
	it, _ := attr.ParseItem(e.Item) // most errors have no item
	return &ServiceError{Code: code, Message: e.Message, Status: status, Item: it}
}
