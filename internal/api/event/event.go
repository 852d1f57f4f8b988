// Package event defines what observers learn about a request. The server begins
// an [Event] for each request, the operations record in it what they read and
// consumed, and the server passes it to the observer. A call without HTTP
// begins its own event. A [Call] is what the server hands to an operation.
package event

import (
	"bytes"
	"context"
	"time"

	"github.com/sortkey/sortkey/internal/table"
)

// An Event describes one request, from beginning to end.
type Event struct {
	// Operation is the requested operation, such as PutItem, even if no
	// operation has that name; "" when the request names none.
	Operation string
	// Tables are the names of the tables in the request, sorted.
	Tables []string
	// Traces has a trace for each query and scan; Used is the consumed capacity.
	Traces []table.Trace
	Used   []Use
	// Asked and Found count the items that reads have named by their keys, and those that there are.
	Asked, Found int
	// Error is the error code, such as ValidationException, or "" for success.
	// Message is the error's text.
	Error, Message string
	Start          time.Time
	Duration       time.Duration

	// Request is the body of the request in JSON, if an observer has asked for it and it is not
	// longer than RequestBytes, which observers set when the request begins.
	Request      []byte
	RequestBytes int

	// The fields below describe HTTP. They are zero for a call without it.

	// Method and Path come from the request; From is the client's address.
	Method, Path, From string
	// Status and ID are the status and the request id of the response.
	Status int
	ID     string
	// In and Out are the sizes of the two bodies as sent, in bytes.
	In, Out int64
}

// A Use is the capacity that a request consumed of a table or an index. A write
// whose condition failed has consumed units; any other operation that ended in
// an error has consumed none.
type Use struct {
	Table string
	Index string // "" for the table itself
	Write bool   // write units, not read units
	Units float64
}

// An Observer sees requests. Its methods run in the goroutine of the request.
// It may keep an event after End.
type Observer interface {
	// Begin is called when a request begins. Of the event, only Operation,
	// Start and the fields of HTTP are set.
	Begin(ctx context.Context, e *Event)
	// End is called when the request has been answered or refused.
	End(ctx context.Context, e *Event)
}

// Keep sets the Request of an event to a copy of body if an observer has asked for it. It does nothing for a
// nil event.
func (e *Event) Keep(body []byte) {
	if e != nil && len(body) > 0 && len(body) <= e.RequestBytes {
		e.Request = bytes.Clone(body)
	}
}

// Got counts items that a read has named by their keys, and those that it found. It does nothing for a nil event.
func (e *Event) Got(asked, found int) {
	if e != nil {
		e.Asked, e.Found = e.Asked+asked, e.Found+found
	}
}

type key struct{}

// With returns a context that carries an event, which the operations fill in.
func With(ctx context.Context, e *Event) context.Context {
	return context.WithValue(ctx, key{}, e)
}

// Of returns the event that ctx carries, or nil.
func Of(ctx context.Context) *Event {
	e, _ := ctx.Value(key{}).(*Event)
	return e
}

// Fail records the error that ended a request. It does nothing for a nil event.
func (e *Event) Fail(code, message string) {
	if e != nil {
		e.Error, e.Message = code, message
	}
}

// A Reservation is the share that one response has taken of the memory that the server grants to all responses.
type Reservation interface {
	// Reserve makes the share at least so many bytes, and reports whether there is
	// as much.
	Reserve(bytes int) bool
	// Reserved returns the size of the share.
	Reserved() int
}

// A Slot is the place of a request among those that the server handles at a time. Only the goroutine of
// the request uses it.
type Slot interface {
	// Leave gives the slot to other requests, while this one only waits.
	Leave()
	// Enter waits for the slot again. It returns false if ctx ends first.
	Enter(ctx context.Context) bool
}

// A Call is what the server hands to the operation of a request. Without a server it is empty.
type Call struct {
	Host        string      // and the port that the client asked, if it came over a socket
	Database    string      // the name of the database that the request is for, or ""
	Reservation Reservation // of the response; nil: nothing limits it
	Slot        Slot        // which the request has entered; nil: it takes none
	// Server is the context of the server, which ends when the server begins to stop. Requests may go on after that.
	Server context.Context //nolint:containedctx // see above
}

type callKey struct{}

// WithCall returns a context that carries a call.
func WithCall(ctx context.Context, c Call) context.Context {
	return context.WithValue(ctx, callKey{}, &c)
}

// CallOf returns the call that ctx carries, or an empty one.
func CallOf(ctx context.Context) (c Call) {
	if carried, ok := ctx.Value(callKey{}).(*Call); ok {
		c = *carried
	}
	return c
}

type quietKey struct{}

// Quiet returns a context for operations that are not observed, made to fail or
// throttled, such as the fixtures of a test. It is a [table.Settled] context.
func Quiet(ctx context.Context) context.Context {
	return context.WithValue(table.Settled(ctx), quietKey{}, true)
}

// IsQuiet reports whether ctx comes from [Quiet].
func IsQuiet(ctx context.Context) bool { return ctx.Value(quietKey{}) != nil }
