package sortkey

import (
	"context"
	"time"

	"github.com/sortkey/sortkey/internal/event"
	"github.com/sortkey/sortkey/internal/table"
)

// An Observer is told of the requests of a database, also of those that are
// refused before they reach a table. Its methods are called in the goroutine of
// the request, so they should be quick; they must be safe for concurrent use.
type Observer interface {
	// Begin is called when a request begins. Of the event, what it asks for is
	// set, as far as it is known.
	Begin(ctx context.Context, e *Event)
	// End is called when the request has been answered or refused. The event is
	// the observer's to keep.
	End(ctx context.Context, e *Event)
}

// An Event is one request.
type Event struct {
	// Operation is the operation asked for, as PutItem, whether or not there is
	// one of that name; "" when the request names none.
	Operation string
	// Tables are the tables that the request names, sorted.
	Tables []string
	// Units are the capacity units that it consumed of tables and indexes.
	Units []Units
	// Examined and Returned are the rows that its queries and scans read, and
	// those that their filters left.
	Examined, Returned int
	// Error is the code of the error, as ValidationException, and Message its
	// text; both are "" for success.
	Error, Message string
	Start          time.Time
	Duration       time.Duration

	// What follows is of HTTP, and zero for a request without it.

	// Method and Path are those of the request, From the client's address.
	Method, Path, From string
	// Status is that of the answer, ID its request id.
	Status int
	ID     string
	// In and Out are the bytes of the two bodies as they were sent.
	In, Out int64

	traces []table.Trace
}

// Units are the capacity units that a request consumed of a table or an index. A
// write whose condition failed has consumed its units; any other request that
// ended in an error has consumed none.
type Units struct {
	Table string
	Index string // "" for the table itself
	Write bool   // they are write units
	Units float64
}

// Traces returns the traces of the request's queries and scans.
func (e *Event) Traces() []Trace {
	traces := make([]Trace, len(e.traces))
	for i := range e.traces {
		traces[i] = newTrace(&e.traces[i])
	}
	return traces
}

// observe returns an observer as the packages below know it, nil for nil.
func observe(o Observer) event.Observer {
	if o == nil {
		return nil
	}
	return observer{o}
}

type observer struct{ Observer }

func (o observer) Begin(ctx context.Context, e *event.Event) { o.Observer.Begin(ctx, newEvent(e)) }
func (o observer) End(ctx context.Context, e *event.Event)   { o.Observer.End(ctx, newEvent(e)) }

func newEvent(e *event.Event) *Event {
	out := &Event{
		Operation: e.Operation, Tables: e.Tables, Error: e.Error, Message: e.Message, Start: e.Start, Duration: e.Duration,
		Method: e.Method, Path: e.Path, From: e.From, Status: e.Status, ID: e.ID, In: e.In, Out: e.Out, traces: e.Traces,
	}
	for _, u := range e.Used {
		out.Units = append(out.Units, Units(u))
	}
	for i := range e.Traces {
		out.Examined += e.Traces[i].Examined
		out.Returned += e.Traces[i].Returned
	}
	return out
}
