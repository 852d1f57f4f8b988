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

// A short chooses between the short way of [Direct] and the wire for each call of a [Client] that was created without
// options. It takes the short way only if the call has no options either, as the caller can then observe only the
// answer and its metadata.
//
// The SDK does not pass the options of a call to the functions that build its middleware stack. So short reads the
// options, by reflection, from one of the SDK's own middlewares. If a version of the SDK keeps them elsewhere, every
// call goes over the wire, which is slower but gives the same answers.
type short struct {
	direct  *direct
	options func() *dynamodb.Options // the client's options, without APIOptions
}

// shorten returns a client of db that takes the short way wherever the caller cannot notice it.
func shorten(db *sortkey.DB, base dynamodb.Options) *dynamodb.Client {
	s := &short{direct: newDirect(db, true)}
	base.APIOptions = []func(*middleware.Stack) error{s.begin}
	client := dynamodb.New(base)
	// Options makes a copy of the options, so call it only when a call needs them.
	s.options = sync.OnceValue(func() *dynamodb.Options {
		options := client.Options()
		options.APIOptions = nil
		return &options
	})
	return client
}

// begin adds the short way to the stack of a call, unless the call has options.
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

// optionsOf returns the options with which the SDK built a stack, or nil if it does not find them.
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

// onlyTheSDKs reports whether all API options except the first, which is begin, come from the SDK itself: its
// paginators and waiters add their names to the User-Agent.
func onlyTheSDKs(list []func(*middleware.Stack) error) bool {
	return !slices.ContainsFunc(list[1:], func(option func(*middleware.Stack) error) bool {
		name := runtime.FuncForPC(reflect.ValueOf(option).Pointer()).Name()
		return !strings.HasPrefix(name, "github.com/aws/aws-sdk-go-v2/service/dynamodb.") ||
			!strings.Contains(name, "addIsPaginatorUserAgent") && !strings.Contains(name, "addIsWaiterUserAgent")
	})
}
