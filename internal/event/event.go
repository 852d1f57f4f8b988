// Package event has what observers are told of a request: the server begins an
// [Event] for each, the operations say in it what they read and consumed, and
// whoever began it hands it to the observer. A call without HTTP begins its own.
package event

import (
	"context"
	"time"

	"github.com/sortkey/sortkey/internal/table"
)

// An Event is one request, from its beginning to its end.
type Event struct {
	// Operation is the operation asked for, as PutItem, whether or not there is
	// one of that name; "" when the request names none.
	Operation string
	// Tables are those named in the request, by their names, sorted.
	Tables []string
	// Traces are those of the queries and scans, Used what was consumed.
	Traces []table.Trace
	Used   []Use
	// Error is the error's code, as ValidationException; "" for success. Message
	// is its text.
	Error, Message string
	Start          time.Time
	Duration       time.Duration

	// What follows is of HTTP, and zero for a call without it.

	// Method and Path are those of the request, From the client's address.
	Method, Path, From string
	// Status is that of the answer, ID its request id.
	Status int
	ID     string
	// In and Out are the bytes of the two bodies as they were sent.
	In, Out int64
}

// A Use is what a request consumed of a table, or of an index. A write whose
// condition failed has consumed its units; any other operation that ended in an
// error has consumed none.
type Use struct {
	Table string
	Index string // "" for the table itself
	Write bool   // they are write units
	Units float64
}

// An Observer is told of requests. Its methods are called in the goroutine of
// the request. It may keep an event after End.
type Observer interface {
	// Begin is called when a request begins; of the event only Operation, Start
	// and what HTTP knows are set.
	Begin(ctx context.Context, e *Event)
	// End is called when it has been answered or refused.
	End(ctx context.Context, e *Event)
}

type key struct{}

// With returns a context that carries an event for what runs in it to fill in.
func With(ctx context.Context, e *Event) context.Context {
	return context.WithValue(ctx, key{}, e)
}

// Of returns the event that ctx carries, nil if there is none.
func Of(ctx context.Context) *Event {
	e, _ := ctx.Value(key{}).(*Event)
	return e
}

// Fail records the error that a request ended with. A nil event records
// nothing.
func (e *Event) Fail(code, message string) {
	if e != nil {
		e.Error, e.Message = code, message
	}
}
