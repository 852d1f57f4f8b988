package sortkeytest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
	"testing"
	"time"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
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
	takesContext := of.NumIn() > 0 && of.In(0) == contextType
	switch in, out := of.NumIn(), of.NumOut(); {
	case in > 2 || in == 2 && !takesContext || of.IsVariadic():
		problem = "it takes more than a context and an event"
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
func eventOf(r wire.Record, arn string) eventRecord {
	type identity struct {
		Principal *string `json:"principalId"`
		Type      *string `json:"type"`
	}
	type change struct {
		Created  int64           `json:"ApproximateCreationDateTime"`
		Keys     json.RawMessage `json:",omitempty"`
		NewImage json.RawMessage `json:",omitempty"`
		OldImage json.RawMessage `json:",omitempty"`
		Number   *string         `json:"SequenceNumber"`
		Size     *int64          `json:"SizeBytes"`
		View     *string         `json:"StreamViewType"`
	}
	item := func(it attr.Item) json.RawMessage {
		if it == nil {
			return nil
		}
		return it.AppendJSON(nil)
	}

	var user *identity
	if u := r.UserIdentity; u != nil {
		user = &identity{u.PrincipalId, u.Type}
	}
	d, at := r.Dynamodb, created(*r.Dynamodb)
	encoded, err := text.JSON(struct {
		wire.Record
		Change   change    `json:"dynamodb"`
		Identity *identity `json:"userIdentity,omitempty"`
		ARN      string    `json:"eventSourceARN"`
	}{
		r, change{
			at.Unix(), item(d.Keys), item(d.NewImage), item(d.OldImage),
			d.SequenceNumber, d.SizeBytes, d.StreamViewType,
		}, user, arn,
	})
	if err != nil {
		panic(err) // strings, numbers and JSON
	}
	return eventRecord{encoded, *d.SequenceNumber, at}
}

// matches reports whether a filter lets the record through.
func (r eventRecord) matches(f filter) bool {
	v, err := decodeJSON(r.json)
	if err != nil {
		panic(err) // it was encoded here
	}
	return f.matches(flatten(v))
}
