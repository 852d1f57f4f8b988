package api

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/sortkey/sortkey/internal/api/event"
	"github.com/sortkey/sortkey/internal/api/throughput"
	"github.com/sortkey/sortkey/internal/table/life"
	"github.com/sortkey/sortkey/internal/wire"
)

// Serve runs an operation on a request body. target names the operation, such as "DynamoDB_20120810.PutItem". Serve
// appends the response body to dst, and returns dst with the HTTP status. The response may be an error. If the status
// is -1, the caller must reset the connection ([ErrReset]).
func (s *Service) Serve(ctx context.Context, target string, body, dst []byte) (out []byte, status int) {
	op, _ := wire.Lookup(target)
	event.Of(ctx).Keep(body)
	h := handlers()[op]
	if h == nil {
		e := wire.UnknownOperation()
		event.Of(ctx).Fail(e.Code, e.Message)
		return e.AppendJSON(dst), e.Status
	}
	out, err := h(s, ctx, body, dst)
	if err != nil {
		e := s.wireError(err)
		event.Of(ctx).Fail(e.Code, e.Message)
		if errors.Is(e, ErrReset) {
			return dst, -1
		}
		return e.AppendJSON(dst), e.Status
	}
	return out, 200
}

// Implements reports whether the service has the operation op.
func (s *Service) Implements(op wire.Op) bool { return handlers()[op] != nil }

// An operation is an operation of the service with its handler.
type operation struct {
	op wire.Op
	handler
}

var registered struct {
	once     sync.Once
	handlers [256]handler
}

// handlers returns the handlers of all operations. It builds them on the first call, not at package initialization.
// So the linker can drop operations that a program does not use, if the program never calls handlers.
func handlers() *[256]handler {
	registered.once.Do(func() {
		for _, o := range slices.Concat(operations(), ownOperations(), refusedOperations()) {
			registered.handlers[o.op] = o.handler
		}
	})
	return &registered.handlers
}

// ownOperations returns the operations that have a handler of their own, which encodes stored items without a copy.
func ownOperations() []operation {
	return []operation{
		{wire.OpGetItem, (*Service).serveGetItem},
		{wire.OpQuery, page(func(in *wire.QueryInput) *string { return in.Select }, (*Service).Query)},
		{wire.OpScan, page(func(in *wire.ScanInput) *string { return in.Select }, (*Service).Scan)},
	}
}

// typed returns an operation that calls method. It must not be inlined, or the compiler would compile the handler
// again for each operation.
//
//go:noinline
func typed[I wire.Input, O wire.Output](
	op wire.Op, method func(*Service, context.Context, I) (O, error),
) operation {
	return operation{op, func(s *Service, ctx context.Context, body, dst []byte) ([]byte, error) {
		in := op.NewInput().(I)
		if err := wire.Decode(body, in); err != nil {
			return nil, err
		}
		out, err := call(ctx, s, op, in, method)
		if err != nil {
			return nil, err
		}
		if reservation := event.CallOf(ctx).Reservation; reservation != nil && reservation.Reserved() > cap(dst) {
			dst = slices.Grow(dst, reservation.Reserved())
		}
		if _, empty := any(out).(Empty); empty {
			return dst, nil
		}
		return wire.AppendJSON(dst, out), nil
	}}
}

// New returns a service over db.
func New(db *life.DB, opts Options) *Service {
	opts = opts.withDefaults()
	s := &Service{db: db, opts: opts, arns: ARNs{Region: opts.Region, Account: opts.Account}, jobs: newRunner()}
	if opts.EnforceThroughput {
		s.meter = new(throughput.Meter)
	}
	if opts.TransactionDelay > 0 {
		s.ongoing = &ongoing{items: itemSet{}, tokens: map[string]bool{}}
	}
	return s
}

// work runs a job of any kind.
func work(ctx context.Context, r *run) error {
	switch r.job.Kind {
	case exportJobs:
		return exports.work(ctx, r)
	case importJobs:
		return imports.work(ctx, r)
	case bulkJobs:
		return bulks.work(ctx, r)
	}
	return fmt.Errorf("unknown kind of job %q", r.job.Kind)
}
