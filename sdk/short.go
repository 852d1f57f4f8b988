package sdk

import (
	"reflect"
	"runtime"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"

	"github.com/sortkey/sortkey"
)

// A short chooses for each call of a [Client] that was made without options between the
// short way of [Direct] and the wire. It takes the short way only if the call has no options
// either, so that only the answer and its metadata can be observed.
//
// The SDK does not pass the options of a call to the functions that build its stack.
// They are read, by reflection, from one of the SDK's own middlewares. If a version of
// the SDK keeps them elsewhere, every call goes over the wire, which is slower but
// gives the same answers.
type short struct {
	direct  *direct
	options func() reflect.Value // the client's dynamodb.Options
}

// shorten returns a client of db that takes the short way where nobody can tell.
func shorten(db *sortkey.DB, base dynamodb.Options) *dynamodb.Client {
	s := &short{direct: newDirect(db, true)}
	base.APIOptions = []func(*middleware.Stack) error{s.begin}
	client := dynamodb.New(base)
	// a copy, so not before a call
	s.options = sync.OnceValue(func() reflect.Value { return reflect.ValueOf(client.Options()) })
	return client
}

// begin adds the short way to the stack of a call that may take it.
func (s *short) begin(stack *middleware.Stack) error {
	options, ok := optionsOf(stack)
	if !ok || !sameOptions(s.options(), options) || !onlyTheSDKs(options.Field(apiOptions)) {
		return nil
	}
	return addTo(stack, s.direct)
}

// optionsOf returns the options with which the SDK built a stack.
func optionsOf(stack *middleware.Stack) (options reflect.Value, ok bool) {
	m, ok := stack.Finalize.Get("ResolveAuthScheme")
	if !ok {
		return options, false
	}
	v := reflect.Indirect(reflect.ValueOf(m))
	if v.Kind() != reflect.Struct {
		return options, false
	}
	options = reflect.Indirect(v.FieldByName("options"))
	return options, options.IsValid() && options.Type() == reflect.TypeFor[dynamodb.Options]()
}

// sameOptions reports whether two values of dynamodb.Options are certainly the same,
// apart from API options.
func sameOptions(a, b reflect.Value) bool {
	for i := range a.NumField() {
		if i != apiOptions && !same(a.Field(i), b.Field(i)) {
			return false
		}
	}
	return true
}

// apiOptions is the index of that field of dynamodb.Options.
var apiOptions = func() int {
	field, _ := reflect.TypeFor[dynamodb.Options]().FieldByName("APIOptions")
	return field.Index[0]
}()

// same reports whether two values of one type are certainly the same. It does not
// follow pointers, and compares functions by their code alone: the caller's functions
// have other code than the SDK's and ours.
func same(a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.Interface:
		if a.IsNil() || b.IsNil() {
			return a.IsNil() && b.IsNil()
		}
		a, b = a.Elem(), b.Elem()
		return a.Type() == b.Type() && same(a, b)
	case reflect.Struct:
		for i := range a.NumField() {
			if !same(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	case reflect.Slice:
		return a.Len() == b.Len() && (a.Len() == 0 || a.Pointer() == b.Pointer())
	case reflect.Func, reflect.Map, reflect.Pointer:
		return a.Pointer() == b.Pointer()
	case reflect.String:
		return a.String() == b.String()
	case reflect.Bool:
		return a.Bool() == b.Bool()
	default:
		return a.Comparable() && a.Equal(b)
	}
}

// onlyTheSDKs reports whether a list of API options has, after ours, only those by
// which the SDK's paginators and waiters add their names to the User-Agent.
func onlyTheSDKs(list reflect.Value) bool {
	for i := 1; i < list.Len(); i++ {
		name := runtime.FuncForPC(list.Index(i).Pointer()).Name()
		if !strings.HasPrefix(name, "github.com/aws/aws-sdk-go-v2/service/dynamodb.") ||
			!strings.Contains(name, "addIsPaginatorUserAgent") && !strings.Contains(name, "addIsWaiterUserAgent") {
			return false
		}
	}
	return true
}
