package api

import (
	"context"
	"errors"

	"github.com/sortkey/sortkey/internal/api/event"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/wire"
)

// msgNoName is the text of package attr for an empty name inside an item.
const msgNoName = "Empty attribute name"

// call runs an operation. It calls begin, validates the input against the service model, calls do, and calls end. If
// the operation fails, call returns the zero output.
func call[I wire.Input, O any](
	ctx context.Context, s *Service, op wire.Op, in I, do func(*Service, context.Context, I) (O, error),
) (O, error) {
	ctx, c, err := s.begin(ctx, op, in)
	if err == nil {
		err = wire.Validate(op, in)
	}
	var out O
	if err == nil {
		out, err = do(s, ctx, in)
	}
	if err = c.end(ctx, err); err != nil {
		var none O
		return none, err
	}
	return out, nil
}

// observed reports whether an observer sees the operations that run with ctx.
func (s *Service) observed(ctx context.Context) bool {
	return (s.opts.Observer != nil || s.extra.Load() != nil) && !event.IsQuiet(ctx)
}

// begin begins a call and returns the context in which to run the operation. If a fault makes the call fail, begin
// returns an error. The caller must then not run the operation, but pass the error to end.
func (s *Service) begin(ctx context.Context, op wire.Op, in wire.Input) (context.Context, invocation, error) {
	c := invocation{service: s}
	extra := s.extra.Load()
	if s.opts.Observer == nil && extra == nil && s.faults.Empty() || event.IsQuiet(ctx) {
		return ctx, c, nil
	}
	c.extra = value(extra)
	if s.opts.Observer != nil || c.extra != nil {
		ctx = s.observe(ctx, &c, op, in)
	}
	if s.faults.Empty() {
		return ctx, c, nil
	}
	ctx, err := s.disturb(ctx, &c, op, in)
	return ctx, c, err
}

// observe begins the event of an invocation. If the server has already begun one, observe continues that event.
func (s *Service) observe(ctx context.Context, c *invocation, op wire.Op, in wire.Input) context.Context {
	if c.event = event.Of(ctx); c.event == nil {
		c.event, c.own = &event.Event{Operation: op.String(), Start: s.opts.Clock()}, true
		if s.opts.Observer != nil {
			s.opts.Observer.Begin(ctx, c.event)
		}
		ctx = event.With(ctx, c.event)
	}

	c.event.Tables = tablesOf(in)
	for _, o := range c.extra {
		o.Begin(ctx, c.event)
	}
	if e := c.event; e.RequestBytes > 0 && e.Request == nil && e.In <= int64(e.RequestBytes) {
		if r, ok := in.(wire.Request); ok { // of a call without a body
			e.Keep(wire.AppendJSON(nil, r))
		}
	}
	if op == wire.OpQuery || op == wire.OpScan || op == wire.OpExecuteStatement {
		e := c.event
		ctx = table.WithTrace(ctx, func(tr table.Trace) { e.Traces = append(e.Traces, tr) })
	}
	return ctx
}

// end ends a call and records its result. It returns the error that clients get, a [*wire.Error], or nil.
func (c *invocation) end(ctx context.Context, err error) error {
	if c.lose && ctx.Err() == nil {
		err = reset()
	}
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, cause) {
		err = &interruption{ctx.Err(), cause}
	}
	if err != nil {
		failure := c.service.wireError(err)
		c.event.Fail(failure.Code, failure.Message)
		err = failure
	}
	if c.own {
		c.event.Duration = c.service.opts.Clock().Sub(c.event.Start)
		if c.service.opts.Observer != nil {
			c.service.opts.Observer.End(ctx, c.event)
		}
	}

	for _, o := range c.extra {
		o.End(ctx, c.event)
	}
	return err
}

// An interruption is the error of an operation whose context ended. It wraps the cause of the context, so that
// [errors.Is] finds the cause. Its text does not show the cause to clients. [Service.wireError] does not treat it as
// an internal error.
type interruption struct{ ended, cause error }

func (e *interruption) Error() string { return e.ended.Error() }

func (e *interruption) Unwrap() []error { return []error{e.ended, e.cause} }

// checkForm does the checks of a valid input that need neither a table nor an expression. It checks which members the
// request combines (CheckParams), and the attribute values. noName reports that an attribute name in another member
// is empty, which is an error too.
func checkForm(op wire.Op, in wire.Input, faults wire.Faults, noName bool) error {
	if err := op.CheckParams(in); err != nil {
		return err
	}
	if noName {
		return op.Invalid(msgNoName)
	}
	return op.FaultError(faults, "")
}

// hasEmpty reports whether a map of attributes has an empty name.
func hasEmpty[V any](attributes map[string]V) bool {
	_, ok := attributes[""]
	return ok
}

// A handler runs an operation on a request body, and appends the response body to dst.
type handler func(s *Service, ctx context.Context, body, dst []byte) ([]byte, error)
