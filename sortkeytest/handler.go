package sortkeytest

import (
	"context"
	"encoding/json"
	"fmt"
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

// handlerOf returns the handler for what lambda.Start accepts: a lambda.Handler, or a
// function func([context.Context,] E) ([[R,] error]).
// Source: docs.aws.amazon.com/lambda/latest/dg/golang-handler.html.
func handlerOf(v any) (handler, error) {
	if h, ok := v.(interface {
		Invoke(context.Context, []byte) ([]byte, error)
	}); ok {
		return h.Invoke, nil
	}
	fn := reflect.ValueOf(v)
	if fn.Kind() != reflect.Func || fn.IsNil() {
		return nil, fmt.Errorf("handler has type %T, want a function", v)
	}
	of := fn.Type()
	takesContext := of.NumIn() > 0 && of.In(0) == contextType
	in, out := of.NumIn(), of.NumOut()
	if takesContext {
		in--
	}
	if in != 1 || of.IsVariadic() || out > 2 || out > 0 && of.Out(out-1) != errorType {
		return nil, fmt.Errorf("handler has type %v, want func(context.Context, E) (R, error), in which the context, R and the results are optional", of)
	}
	return func(ctx context.Context, event []byte) ([]byte, error) {
		e := reflect.New(of.In(of.NumIn() - 1))
		if err := json.Unmarshal(event, e.Interface()); err != nil {
			return nil, fmt.Errorf("cannot decode the event: %w", err)
		}
		args := []reflect.Value{e.Elem()}
		if takesContext {
			args = []reflect.Value{reflect.ValueOf(ctx), e.Elem()}
		}
		results := fn.Call(args)
		if out > 0 {
			if err, _ := results[out-1].Interface().(error); err != nil {
				return nil, err
			}
		}
		if out < 2 {
			return nil, nil
		}
		return json.Marshal(results[0].Interface())
	}, nil
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
	var v any
	if err := json.Unmarshal(r.json, &v); err != nil {
		panic(err) // it was encoded here
	}
	return f(v, true)
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
