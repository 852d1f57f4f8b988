package sortkeytest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"runtime/debug"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/sortkey/sortkey/internal/text"
)

// A handler is the handler of an AWS Lambda function. It takes the JSON of an event and
// returns the JSON of a response.
type handler func(ctx context.Context, event []byte) (response []byte, err error)

var (
	contextType = reflect.TypeFor[context.Context]()
	errorType   = reflect.TypeFor[error]()
)

// handlerOf returns the handler for what lambda.Start accepts: a lambda.Handler, or a function that
// takes nothing, a context, an event, or both, and returns nothing, an error, or a response and an
// error. Source: docs.aws.amazon.com/lambda/latest/dg/golang-handler.html, and package lambda of
// aws-lambda-go for what they do not say.
func handlerOf(v any) (handler, error) {
	if h, ok := v.(interface {
		Invoke(context.Context, []byte) ([]byte, error)
	}); ok {
		return h.Invoke, nil
	}
	fn := reflect.ValueOf(v)
	switch {
	case v == nil || fn.Kind() == reflect.Func && fn.IsNil():
		return nil, errors.New("handler is nil, want the function that the program passes to lambda.Start")
	case fn.Kind() != reflect.Func:
		return nil, fmt.Errorf("handler has type %T, want a function or a lambda.Handler", v)
	}

	of := fn.Type()
	problem := ""
	takesContext := of.NumIn() > 0 && isContext(of.In(0))
	switch in, out := of.NumIn(), of.NumOut(); {
	case in > 2 || in == 2 && !takesContext || of.IsVariadic():
		problem = "it takes more than a context and an event"
	case in > 0 && !takesContext && of.In(0).Kind() == reflect.Interface && of.In(0).NumMethod() > 0:
		problem = fmt.Sprintf("no event can be decoded into the interface %v", of.In(0))
	case in == 2 && of.In(1).Kind() == reflect.Interface && of.In(1).NumMethod() > 0:
		problem = fmt.Sprintf("no event can be decoded into the interface %v", of.In(1))
	case out > 2:
		problem = "it returns more than a response and an error"
	case out > 0 && !of.Out(out-1).Implements(errorType):
		problem = fmt.Sprintf("its last result has type %v, want an error", of.Out(out-1))
	}

	if problem != "" {
		return nil, fmt.Errorf("handler has type %v: %s; want func(context.Context, E) (R, error), "+
			"in which the context, E, R and the results are optional", of, problem)
	}
	return func(ctx context.Context, event []byte) ([]byte, error) {
		var args []reflect.Value
		if takesContext {
			args = append(args, reflect.ValueOf(ctx))
		}
		if len(args) < of.NumIn() {
			e := reflect.New(of.In(len(args)))
			if err := json.Unmarshal(event, e.Interface()); err != nil {
				return nil, fmt.Errorf("cannot decode the event: %w", err)
			}
			args = append(args, e.Elem())
		}

		results := fn.Call(args)
		if len(results) > 0 {
			if err, _ := results[len(results)-1].Interface().(error); err != nil {
				return nil, err
			}
		}
		if len(results) < 2 {
			return nil, nil
		}
		return encodeResponse(results[0].Interface())
	}, nil
}

// isContext reports whether a type is an interface with the methods of a context.
func isContext(t reflect.Type) bool {
	return t.Kind() == reflect.Interface && t.Implements(contextType) && contextType.Implements(t)
}

// encodeResponse returns the JSON of a response. A reader has the response itself, unless its JSON
// has more than an empty object.
func encodeResponse(v any) ([]byte, error) {
	encoded, err := json.Marshal(v)
	if r, ok := v.(io.Reader); ok && (err != nil || string(encoded) == "{}") {
		if c, ok := v.(io.Closer); ok {
			defer c.Close()
		}
		return io.ReadAll(r)
	}
	return encoded, err
}

// call calls the handler with the context of the test. A panic fails the test.
func (h handler) call(t testing.TB, event []byte) (response []byte, err error) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			t.Fatalf("sortkeytest: the handler panicked: %v\n%s", p, debug.Stack())
		}
	}()
	return h(t.Context(), event)
}

// An eventRecord is a record as it is in an event.
type eventRecord struct {
	json    []byte
	number  string
	created time.Time
}

// eventOf returns a record as it is in an event: as in GetRecords, but with the ARN of
// the stream, and with other field names in the identity.
// Source: docs.aws.amazon.com/lambda/latest/dg/with-ddb.html, and
// amazondynamodb/latest/developerguide/time-to-live-ttl-streams.html.
func eventOf(r types.Record, arn string) eventRecord {
	type identity struct {
		Type      *string `json:"type"`
		Principal *string `json:"principalId"`
	}
	type change struct {
		Created  int64          `json:"ApproximateCreationDateTime"`
		Keys     map[string]any `json:",omitempty"`
		NewImage map[string]any `json:",omitempty"`
		OldImage map[string]any `json:",omitempty"`
		Number   *string        `json:"SequenceNumber"`
		Size     *int64         `json:"SizeBytes"`
		View     string         `json:"StreamViewType"`
	}

	d := r.Dynamodb
	e := struct {
		ID       *string   `json:"eventID"`
		Name     string    `json:"eventName"`
		Version  *string   `json:"eventVersion"`
		Source   *string   `json:"eventSource"`
		Region   *string   `json:"awsRegion"`
		Change   change    `json:"dynamodb"`
		Identity *identity `json:"userIdentity,omitempty"`
		ARN      string    `json:"eventSourceARN"`
	}{
		ID: r.EventID, Name: string(r.EventName), Version: r.EventVersion, Source: r.EventSource, Region: r.AwsRegion,
		ARN: arn,
		Change: change{
			d.ApproximateCreationDateTime.Unix(), jsonItem(d.Keys), jsonItem(d.NewImage), jsonItem(d.OldImage),
			d.SequenceNumber, d.SizeBytes, string(d.StreamViewType),
		},
	}

	if u := r.UserIdentity; u != nil {
		e.Identity = &identity{u.Type, u.PrincipalId}
	}
	encoded, err := text.JSON(e)
	if err != nil {
		panic(err) // strings, numbers, and maps of them
	}
	return eventRecord{encoded, *d.SequenceNumber, *d.ApproximateCreationDateTime}
}

// matches reports whether a filter lets the record through.
func (r eventRecord) matches(f filter) bool {
	v, err := decodeJSON(r.json)
	if err != nil {
		panic(err) // it was encoded here
	}
	return f.matches(flatten(v))
}

// jsonItem returns a value whose JSON is the DynamoDB JSON of an item.
func jsonItem(item map[string]types.AttributeValue) map[string]any {
	out := make(map[string]any, len(item))
	for name, v := range item {
		out[name] = jsonValue(v)
	}
	return out
}

func jsonValue(v types.AttributeValue) any {
	one := func(kind string, value any) any { return map[string]any{kind: value} }
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return one("S", v.Value)
	case *types.AttributeValueMemberN:
		return one("N", v.Value)
	case *types.AttributeValueMemberB:
		return one("B", v.Value)
	case *types.AttributeValueMemberBOOL:
		return one("BOOL", v.Value)
	case *types.AttributeValueMemberNULL:
		return one("NULL", v.Value)
	case *types.AttributeValueMemberSS:
		return one("SS", v.Value)
	case *types.AttributeValueMemberNS:
		return one("NS", v.Value)
	case *types.AttributeValueMemberBS:
		return one("BS", v.Value)
	case *types.AttributeValueMemberM:
		return one("M", jsonItem(v.Value))
	case *types.AttributeValueMemberL:
		list := make([]any, len(v.Value))
		for i, e := range v.Value {
			list[i] = jsonValue(e)
		}
		return one("L", list)
	}
	panic(fmt.Sprintf("sortkeytest: cannot encode a %T", v))
}
