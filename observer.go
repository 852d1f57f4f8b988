package sortkey

import (
	"context"
	"time"

	"github.com/sortkey/sortkey/internal/api/event"
	"github.com/sortkey/sortkey/internal/engine"
	"github.com/sortkey/sortkey/internal/table"
)

// An Observer sees the requests of a database, for logs, metrics and tests. It also sees requests that are refused
// before they reach a table. Set it in [Options] or call [DB.Observe]. Its methods run in the goroutine of the
// request, so they should be quick. They must be safe for concurrent use.
type Observer interface {
	// The database calls Begin when a request begins. The event holds what is known about the request at that time.
	Begin(ctx context.Context, e *Event)
	// The database calls End when it has answered or refused the request. The observer may keep the event.
	End(ctx context.Context, e *Event)
}

// An Event describes one request, to an [Observer].
type Event struct {
	// Operation is the requested operation, such as PutItem, even if no
	// operation has that name; "" when the request names none.
	Operation string
	// Tables are the tables that the request names, sorted.
	Tables []string
	// Units are the capacity units that the request consumed, by table and
	// index.
	Units []Units
	// Examined and Returned count the rows that the request's queries and scans
	// read, and the rows that their filters kept.
	Examined, Returned int
	// Error is the error code, such as ValidationException, and Message is the text of the error. Both are "" if the
	// request succeeded.
	Error, Message string
	Start          time.Time
	Duration       time.Duration

	// Method, Path, From, Status, ID, In and Out are zero for a request that did not come over HTTP.

	// Method and Path come from the request; From is the client's address.
	Method, Path, From string
	// Status and ID are the status and the request id of the response.
	Status int
	ID     string
	// In and Out are the sizes of the two bodies as sent, in bytes.
	In, Out int64

	// Request is the body of the request in JSON. It is set only if the observer has a method RequestBytes() int and
	// the body has at most that many bytes. Do not change it.
	Request []byte
	// Asked is the number of items that the request reads by key. Found is the number of those that exist.
	Asked, Found int

	traces []table.Trace
}

// Units are the capacity units that a request consumed of a table or an index. An [Event] lists them. A request that
// ended in an error has consumed none, except a write whose condition failed.
type Units struct {
	Table string
	Index string // "" for the table itself
	Write bool   // write units, not read units
	Units float64
}

// Traces returns the traces of the request's queries and scans, one for each page.
func (e *Event) Traces() []Trace {
	traces := make([]Trace, len(e.traces))
	for i := range e.traces {
		traces[i] = Trace(engine.NewTrace(&e.traces[i]))
	}
	return traces
}

// observe adapts an [Observer] to the interface of package internal/api/event. If o is nil, it returns nil.
func observe(o Observer) event.Observer {
	if o == nil {
		return nil
	}
	return &observer{o}
}

type observer struct{ Observer }

func (o *observer) Begin(ctx context.Context, e *event.Event) {
	if k, ok := o.Observer.(interface{ RequestBytes() int }); ok {
		e.RequestBytes = max(e.RequestBytes, k.RequestBytes())
	}
	o.Observer.Begin(ctx, newEvent(e))
}

func (o *observer) End(ctx context.Context, e *event.Event) { o.Observer.End(ctx, newEvent(e)) }

func newEvent(e *event.Event) *Event {
	out := &Event{
		Operation: e.Operation, Tables: e.Tables, Error: e.Error, Message: e.Message, Start: e.Start,
		Duration: e.Duration,
		Method:   e.Method, Path: e.Path, From: e.From, Status: e.Status, ID: e.ID, In: e.In, Out: e.Out,
		traces: e.Traces, Request: e.Request, Asked: e.Asked, Found: e.Found,
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
