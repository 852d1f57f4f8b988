package sdk_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"

	"github.com/sortkey/sortkey/sdk"
	"github.com/sortkey/sortkey/sortkeytest"
)

// TestEveryOperation calls every operation that the client has, without what
// it requires and with the names of a table in all members that are strings.
// Each has an answer, or an error that the client can read, and none is unknown.
func TestEveryOperation(t *testing.T) {
	eachClient(t, func(t *testing.T, db *sortkeytest.DB, c *dynamodb.Client) {
		db.Table("Rows", "pk / sk:N")
		everyOperation(t, c)
		everyOperation(t, sdk.Streams(db.DB))
	})
}

// everyOperation calls all operations of a client.
func everyOperation(t *testing.T, c any) {
	t.Helper()
	for i := range reflect.TypeOf(c).NumMethod() {
		m := reflect.TypeOf(c).Method(i)
		if m.Type.NumIn() != 4 || m.Type.In(1) != reflect.TypeFor[context.Context]() {
			continue // not an operation
		}
		options := reflect.MakeFunc(m.Type.In(3).Elem(), func(args []reflect.Value) []reflect.Value {
			unchecked(args[0].Elem().FieldByName("APIOptions").Addr().Interface().(*[]func(*middleware.Stack) error))
			return nil
		})
		for _, in := range []reflect.Value{reflect.New(m.Type.In(2).Elem()), named(m.Type.In(2).Elem())} {
			out := reflect.ValueOf(c).Method(i).Call([]reflect.Value{reflect.ValueOf(t.Context()), in, options})
			err, _ := out[1].Interface().(error)
			if err == nil {
				continue
			}
			fault, ok := errors.AsType[smithy.APIError](err)
			if !ok || fault.ErrorCode() == "" || fault.ErrorFault() == smithy.FaultServer ||
				strings.HasPrefix(fault.ErrorCode(), "Internal") {
				t.Errorf("%s: %v", m.Name, err)
				continue
			}
			if fault.ErrorCode() == "UnknownOperationException" {
				t.Errorf("%s: %v", m.Name, err)
			}
		}
	}
}

// named returns an input with the name of a table in its members.
func named(t reflect.Type) reflect.Value {
	in := reflect.New(t)
	for i := range t.NumField() {
		if f := in.Elem().Field(i); f.CanSet() && f.Type() == reflect.TypeFor[*string]() {
			f.Set(reflect.ValueOf(aws.String("Rows")))
		}
	}
	return in
}

// unchecked sends what the client would refuse by itself.
func unchecked(options *[]func(*middleware.Stack) error) {
	*options = append(*options, func(stack *middleware.Stack) error {
		stack.Initialize.Remove("OperationInputValidation") // an error where there is none
		return nil
	})
}
