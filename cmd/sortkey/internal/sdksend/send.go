// Package sdksend sends the requests of package wire through a client of the AWS SDK: the client signs them and has the
// errors, and the JSON is that of package wire.
package sdksend

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/sortkey/sortkey/internal/wire"
)

// Send sends a request through a client and sets *out, the output of its operation. Its errors are the SDK's.
func Send(ctx context.Context, client *dynamodb.Client, in wire.Request, out wire.Output) error {
	var err error
	through := func(o *dynamodb.Options) { o.APIOptions = append(o.APIOptions, exchange{in, out}.addTo) }
	switch in.(type) {
	case *wire.QueryInput:
		_, err = client.Query(ctx, nil, through)
	case *wire.ScanInput:
		_, err = client.Scan(ctx, nil, through)
	case *wire.GetItemInput:
		_, err = client.GetItem(ctx, nil, through)
	case *wire.PutItemInput:
		_, err = client.PutItem(ctx, nil, through)
	case *wire.UpdateItemInput:
		_, err = client.UpdateItem(ctx, nil, through)
	case *wire.DeleteItemInput:
		_, err = client.DeleteItem(ctx, nil, through)
	case *wire.ExecuteStatementInput:
		_, err = client.ExecuteStatement(ctx, nil, through)
	case *wire.DescribeTableInput:
		_, err = client.DescribeTable(ctx, nil, through)
	case *wire.CreateTableInput:
		_, err = client.CreateTable(ctx, nil, through)
	case *wire.UpdateTableInput:
		_, err = client.UpdateTable(ctx, nil, through)
	case *wire.DeleteTableInput:
		_, err = client.DeleteTable(ctx, nil, through)
	case *wire.UpdateTimeToLiveInput:
		_, err = client.UpdateTimeToLive(ctx, nil, through)
	case *wire.DescribeTimeToLiveInput:
		_, err = client.DescribeTimeToLive(ctx, nil, through)
	default:
		err = fmt.Errorf("cannot send %T through the SDK", in)
	}
	return err
}

// An exchange is a request whose JSON takes the place of that of the SDK's empty one, and the output that is decoded
// from the answer.
type exchange struct {
	in  wire.Request
	out wire.Output
}

// addTo adds the exchange to the steps of a call.
func (x exchange) addTo(stack *middleware.Stack) error {
	_, _ = stack.Initialize.Remove("OperationInputValidation") // of the empty input; the service checks ours
	serialize := middleware.SerializeMiddlewareFunc("SendJSON", x.serialize)
	if err := stack.Serialize.Insert(serialize, "OperationSerializer", middleware.After); err != nil {
		return err
	}
	deserialize := middleware.DeserializeMiddlewareFunc("ReceiveJSON", x.deserialize)
	return stack.Deserialize.Insert(deserialize, "OperationDeserializer", middleware.After)
}

// serialize sets the body of a request.
func (x exchange) serialize(
	ctx context.Context, step middleware.SerializeInput, next middleware.SerializeHandler,
) (out middleware.SerializeOutput, metadata middleware.Metadata, err error) {
	request, err := step.Request.(*smithyhttp.Request).SetStream(bytes.NewReader(x.in.AppendJSON(nil)))
	if err != nil {
		return out, metadata, err
	}
	step.Request = request
	return next.HandleSerialize(ctx, step)
}

// deserialize decodes the answer, unless it is an error, which the SDK decodes. It leaves an empty one to the SDK.
func (x exchange) deserialize(
	ctx context.Context, step middleware.DeserializeInput, next middleware.DeserializeHandler,
) (out middleware.DeserializeOutput, metadata middleware.Metadata, err error) {
	out, metadata, err = next.HandleDeserialize(ctx, step)
	response, ok := out.RawResponse.(*smithyhttp.Response)
	if err != nil || !ok || response.StatusCode != http.StatusOK {
		return out, metadata, err
	}
	body, err := io.ReadAll(response.Body)
	if err == nil {
		err = decode(body, x.out)
	}
	if err != nil {
		return out, metadata, &smithy.DeserializationError{Err: err}
	}
	_ = response.Body.Close() // the whole body is read
	response.Body = io.NopCloser(bytes.NewReader([]byte("{}")))
	return out, metadata, nil
}

// decode decodes an answer. Outputs without attribute values have no decoder of their own.
func decode(body []byte, out wire.Output) error {
	if own, ok := out.(interface{ DecodeJSON(body []byte) error }); ok {
		return own.DecodeJSON(body)
	}
	return json.Unmarshal(body, out)
}
