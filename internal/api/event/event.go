// Package event defines what observers see of a request. The server begins an [Event] for each request. Operations
// record in the event what they read and consumed, and the server passes it to the observer. A call without HTTP
// begins an event of its own. The server also passes a [Call] to each operation.
package event

import (
	"bytes"
	"context"
	"time"

	"github.com/sortkey/sortkey/internal/table"
)

// An Event describes one request.
type Event struct {
	// Operation is the operation that the request names, such as PutItem, even if there is no such operation. It is
	// "" if the request names none.
	Operation string
	// Tables are the names of the tables in the request, sorted.
	Tables []string
	// Traces has a trace for each page of a query or scan. Used is the consumed capacity.
	Traces []table.Trace
	Used   []Use
	// Asked is how many items the reads asked for by key. Found is how many of these items exist.
	Asked, Found int
	// Error is the error code, such as ValidationException, or "" if the request succeeded. Message is the text of
	// the error.
	Error, Message string
	Start          time.Time
	Duration       time.Duration

	// Request is the JSON body of the request. It is nil if the body is longer than RequestBytes. An observer that
	// wants the body sets RequestBytes in Begin.
	Request      []byte
	RequestBytes int

	// The fields below describe HTTP. They are zero for a call without HTTP.

	// Method and Path come from the request. From is the client's address.
	Method, Path, From string
	// Status and ID are the status and the request id of the response.
	Status int
	ID     string
	// In and Out are the sizes of the two bodies as sent, in bytes.
	In, Out int64
}

// A Use is the capacity that a request consumed on a table or an index. An operation that failed consumed none,
// except for a write whose condition failed.
type Use struct {
	Table string
	Index string // "" for the table itself
	Write bool   // write units, not read units
	Units float64
}

// An Observer sees requests. Its methods run in the goroutine of the request.
// It may keep an event after End.
type Observer interface {
	// Begin is called when a request begins. Only Operation, Start and the fields for HTTP are set in the event.
	Begin(ctx context.Context, e *Event)
	// End is called when the request has succeeded or failed.
	End(ctx context.Context, e *Event)
}

// Keep sets e.Request to a copy of body, unless body is longer than e.RequestBytes. It does nothing if e is nil.
func (e *Event) Keep(body []byte) {
	if e != nil && len(body) > 0 && len(body) <= e.RequestBytes {
		e.Request = bytes.Clone(body)
	}
}

// Got adds to the number of items that reads asked for by key, and to the number of items that they found. It does
// nothing if e is nil.
func (e *Event) Got(asked, found int) {
	if e != nil {
		e.Asked, e.Found = e.Asked+asked, e.Found+found
	}
}

type key struct{}

// With returns a context that carries an event. Operations with this context record in the event what they do.
func With(ctx context.Context, e *Event) context.Context {
	return context.WithValue(ctx, key{}, e)
}

// Of returns the event that ctx carries, or nil.
func Of(ctx context.Context) *Event {
	e, _ := ctx.Value(key{}).(*Event)
	return e
}

// Fail records the error of a request. It does nothing if e is nil.
func (e *Event) Fail(code, message string) {
	if e != nil {
		e.Error, e.Message = code, message
	}
}

// A Reservation is memory that one response has reserved. It is a part of the memory that the server has for
// responses.
type Reservation interface {
	// Reserve grows the reservation to at least this many bytes. It returns false if the server has not enough memory
	// left.
	Reserve(bytes int) bool
	// Reserved returns the size of the reservation in bytes.
	Reserved() int
}

// A Slot is the permission of a request to run. The server has a limited number of slots. Only the goroutine of the
// request uses its Slot.
type Slot interface {
	// Leave frees the slot for other requests while this request only waits.
	Leave()
	// Enter waits for a free slot. It returns false if ctx ends first.
	Enter(ctx context.Context) bool
}

// A Call is what the server passes to the operation of a request. It is empty if the operation was called without a
// server.
type Call struct {
	Host        string      // host and port that the client connected to, if it used a socket
	Database    string      // name of the database that the request is for, or ""
	Reservation Reservation // memory of the response; nil if it is not limited
	Slot        Slot        // slot of the request; nil if slots are not limited
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

// Quiet returns a context for operations that observers do not see, such as those with which a test fills a database.
// Neither faults nor throughput limits affect these operations. It is a [table.Settled] context.
func Quiet(ctx context.Context) context.Context {
	return context.WithValue(table.Settled(ctx), quietKey{}, true)
}

// IsQuiet reports whether ctx comes from [Quiet].
func IsQuiet(ctx context.Context) bool { return ctx.Value(quietKey{}) != nil }
