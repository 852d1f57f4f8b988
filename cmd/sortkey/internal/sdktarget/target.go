// Package sdktarget sends typed requests through a client of the AWS SDK. [New] makes a
// client a target of package explain; [Copy] converts between the shapes of package wire
// and those of the SDK.
package sdktarget

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/wire"
)

// New returns a target that sends requests through a client. It reports traces if the
// client is one of package sdk.
func New(client *dynamodb.Client) explain.Target { return target{client} }

type target struct{ client *dynamodb.Client }

func (t target) Do(ctx context.Context, in wire.Request) (wire.Output, []sortkey.Trace, error) {
	out, err := explain.OutputOf(in)
	if err != nil {
		return nil, nil, err
	}
	ctx, traces := explain.Traced(ctx)
	err = Send(ctx, t.client, in, out)
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		refused := &explain.ServiceError{Code: api.ErrorCode(), Message: api.ErrorMessage()}
		if response, ok := errors.AsType[*smithyhttp.ResponseError](err); ok {
			refused.Status = response.HTTPStatusCode()
		}
		return nil, nil, refused
	}
	if err != nil {
		return nil, nil, err
	}
	return out, traces(), nil
}

// Send sends a request through a client and sets *out, the output of its operation. Its
// errors are the SDK's.
func Send(ctx context.Context, client *dynamodb.Client, in wire.Input, out wire.Output) error {
	switch in.(type) {
	case *wire.QueryInput:
		return call(ctx, client.Query, in, out)
	case *wire.ScanInput:
		return call(ctx, client.Scan, in, out)
	case *wire.GetItemInput:
		return call(ctx, client.GetItem, in, out)
	case *wire.BatchGetItemInput:
		return call(ctx, client.BatchGetItem, in, out)
	case *wire.PutItemInput:
		return call(ctx, client.PutItem, in, out)
	case *wire.UpdateItemInput:
		return call(ctx, client.UpdateItem, in, out)
	case *wire.DeleteItemInput:
		return call(ctx, client.DeleteItem, in, out)
	case *wire.ExecuteStatementInput:
		return call(ctx, client.ExecuteStatement, in, out)
	case *wire.DescribeTableInput:
		return call(ctx, client.DescribeTable, in, out)
	case *wire.CreateTableInput:
		return call(ctx, client.CreateTable, in, out)
	case *wire.UpdateTableInput:
		return call(ctx, client.UpdateTable, in, out)
	case *wire.DeleteTableInput:
		return call(ctx, client.DeleteTable, in, out)
	case *wire.UpdateTimeToLiveInput:
		return call(ctx, client.UpdateTimeToLive, in, out)
	case *wire.DescribeTimeToLiveInput:
		return call(ctx, client.DescribeTimeToLive, in, out)
	case *wire.ListTablesInput:
		return call(ctx, client.ListTables, in, out)
	}
	return fmt.Errorf("cannot send %T through the SDK", in)
}

// A method of a client has the input I and the output O.
type method[I, O any] func(context.Context, *I, ...func(*dynamodb.Options)) (*O, error)

// call sends a request with a method of a client.
func call[I, O any](ctx context.Context, send method[I, O], in wire.Input, out wire.Output) error {
	input := new(I)
	if err := Copy(input, in); err != nil {
		return err
	}
	output, err := send(ctx, input)
	if err != nil {
		return err
	}
	return Copy(out, output)
}
