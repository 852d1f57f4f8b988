package sdk

import (
	"reflect"
	"runtime"
	"slices"
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
	options func() *dynamodb.Options // of the client, without API options
}

// shorten returns a client of db that takes the short way where nobody can tell.
func shorten(db *sortkey.DB, base dynamodb.Options) *dynamodb.Client {
	s := &short{direct: newDirect(db, true)}
	base.APIOptions = []func(*middleware.Stack) error{s.begin}
	client := dynamodb.New(base)
	s.options = sync.OnceValue(func() *dynamodb.Options { // a copy, so not before a call
		options := client.Options()
		options.APIOptions = nil
		return &options
	})
	return client
}

// begin adds the short way to the stack of a call that may take it.
func (s *short) begin(stack *middleware.Stack) error {
	options := optionsOf(stack)
	if options == nil || !onlyTheSDKs(options.APIOptions) {
		return nil
	}
	call := *options
	call.APIOptions = nil
	if !reflect.DeepEqual(s.options(), &call) {
		return nil
	}
	return addTo(stack, s.direct)
}

// optionsOf returns the options with which the SDK built a stack, or nil.
func optionsOf(stack *middleware.Stack) *dynamodb.Options {
	m, ok := stack.Finalize.Get("ResolveAuthScheme")
	v := reflect.Indirect(reflect.ValueOf(m))
	if !ok || v.Kind() != reflect.Struct {
		return nil
	}
	options := v.FieldByName("options")
	if !options.IsValid() || !options.CanAddr() || options.Type() != reflect.TypeFor[dynamodb.Options]() {
		return nil
	}
	return (*dynamodb.Options)(options.Addr().UnsafePointer())
}

// onlyTheSDKs reports whether a list of API options has, after ours, only those by
// which the SDK's paginators and waiters add their names to the User-Agent.
func onlyTheSDKs(list []func(*middleware.Stack) error) bool {
	return !slices.ContainsFunc(list[1:], func(option func(*middleware.Stack) error) bool {
		name := runtime.FuncForPC(reflect.ValueOf(option).Pointer()).Name()
		return !strings.HasPrefix(name, "github.com/aws/aws-sdk-go-v2/service/dynamodb.") ||
			!strings.Contains(name, "addIsPaginatorUserAgent") && !strings.Contains(name, "addIsWaiterUserAgent")
	})
}
