package sdk

import (
	"context"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/internal/inside"
)

// A short chooses for each call of a [Client] between the short way of [Direct] and
// the wire. It takes the short way only if the caller has added nothing after the
// Initialize step, so that only the answer and its metadata can be observed.
//
// The SDK does not pass the options of a call to the functions that build its stack.
// They are read, by reflection, from one of the SDK's own middlewares. If a version of
// the SDK keeps them elsewhere, every call goes over the wire, which is slower but
// gives the same answers.
type short struct {
	direct  *direct
	options func() reflect.Value // the client's dynamodb.Options
	joined  bool                 // the client has API options of the caller
}

// shorten returns a client of db with the caller's options that takes the short way
// where nobody can tell.
func shorten(db *sortkey.DB, base dynamodb.Options, optFns []func(*dynamodb.Options)) *dynamodb.Client {
	if inside.SideOf(db).Observer != nil {
		return dynamodb.New(base, optFns...)
	}
	s := &short{direct: newDirect(db, true)}
	if len(optFns) == 0 {
		base.APIOptions = []func(*middleware.Stack) error{s.begin}
	} else {
		optFns = s.around(optFns)
	}
	client := dynamodb.New(base, optFns...)
	// a copy, so not before a call
	s.options = sync.OnceValue(func() reflect.Value { return reflect.ValueOf(client.Options()) })
	return client
}

// around returns the caller's options between ours, which add the short way to the API
// options unless the caller has changed any other option.
func (s *short) around(optFns []func(*dynamodb.Options)) []func(*dynamodb.Options) {
	var before dynamodb.Options
	note := func(o *dynamodb.Options) { before = *o } // with the SDK's defaults
	add := func(o *dynamodb.Options) {
		if !sameOptions(reflect.ValueOf(before), reflect.ValueOf(*o)) {
			return
		}
		theirs := o.APIOptions
		o.APIOptions = append([]func(*middleware.Stack) error{s.begin}, theirs...)
		if len(theirs) > 0 {
			s.joined = true
			o.APIOptions = append(o.APIOptions, toEnd)
		}
	}
	return append(append([]func(*dynamodb.Options){note}, optFns...), add)
}

// begin adds the short way to the stack of a call that may take it. It runs before the
// API options of the caller.
func (s *short) begin(stack *middleware.Stack) error {
	options, ok := optionsOf(stack)
	if !ok || !sameOptions(s.options(), options) {
		return nil
	}
	if !s.joined && onlyTheSDKs(options.Field(apiOptions)) {
		return addTo(stack, s.direct)
	}
	c := &cautious{direct: s.direct, stack: stack}
	if err := addTo(stack, c); err != nil {
		return err
	}
	c.before = later(stack)
	return nil
}

// toEnd moves the short way after the middlewares of the caller.
func toEnd(stack *middleware.Stack) error {
	m, err := stack.Initialize.Remove(shortID)
	if err != nil {
		return nil // begin has left the call to the wire
	}
	return stack.Initialize.Add(m, middleware.After)
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
// apart from API options, which show on the stack.
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

// cautious is the short way on a stack to which the caller may add middlewares. The
// call goes over the wire if one of them is in a later step, or comes after this one.
type cautious struct {
	*direct
	stack  *middleware.Stack
	before []any // the middlewares of the later steps without the caller's
}

// HandleInitialize implements [middleware.InitializeMiddleware].
func (c *cautious) HandleInitialize(
	ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
) (middleware.InitializeOutput, middleware.Metadata, error) {
	ids := c.stack.Initialize.List()
	if ids[len(ids)-1] != shortID || !slices.EqualFunc(later(c.stack), c.before, func(a, b any) bool {
		x, y := reflect.ValueOf(a), reflect.ValueOf(b)
		return x.Type() == y.Type() && same(x, y)
	}) {
		return next.HandleInitialize(ctx, in)
	}
	return c.direct.HandleInitialize(ctx, in, next)
}

// later returns the middlewares of the steps after Initialize, in their order.
func later(stack *middleware.Stack) (list []any) {
	list = appendStep(list, stack.Serialize.List(), stack.Serialize.Get)
	list = appendStep(list, stack.Build.List(), stack.Build.Get)
	list = appendStep(list, stack.Finalize.List(), stack.Finalize.Get)
	return appendStep(list, stack.Deserialize.List(), stack.Deserialize.Get)
}

func appendStep[M any](list []any, ids []string, get func(string) (M, bool)) []any {
	for _, id := range ids {
		m, _ := get(id)
		list = append(list, m)
	}
	return list
}
