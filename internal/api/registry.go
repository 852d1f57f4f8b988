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

// Serve runs the operation that target names, such as
// "DynamoDB_20120810.PutItem", on a request body. It appends the response body
// to dst and returns it with the HTTP status. Errors are responses too. The status
// is -1 if the connection is to be reset instead ([ErrReset]).
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

// Implements reports whether the service answers op.
func (s *Service) Implements(op wire.Op) bool { return handlers()[op] != nil }

// An operation is one of the service's, with its handler.
type operation struct {
	op wire.Op
	handler
}

var registered struct {
	once     sync.Once
	handlers [256]handler
}

// handlers returns the handlers of all operations of the service. They are made when they are first asked for, not when
// the package is initialized: a program that calls operations by their methods links only those.
func handlers() *[256]handler {
	registered.once.Do(func() {
		for _, o := range slices.Concat(operations(), ownOperations(), refusedOperations()) {
			registered.handlers[o.op] = o.handler
		}
	})
	return &registered.handlers
}

// ownOperations returns the operations whose handlers encode items where they are stored.
func ownOperations() []operation {
	return []operation{
		{wire.OpGetItem, (*Service).serveGetItem},
		{wire.OpQuery, page(func(in *wire.QueryInput) *string { return in.Select }, (*Service).Query)},
		{wire.OpScan, page(func(in *wire.ScanInput) *string { return in.Select }, (*Service).Scan)},
	}
}

// typed returns an operation that a method carries out. If it were inlined,
// the handler would be compiled anew for each operation.
//
//go:noinline
func typed[I wire.Input, O wire.Output](
	op wire.Op, method func(*Service, context.Context, I) (O, error),
) operation {
	return operation{op, func(s *Service, ctx context.Context, body, dst []byte) ([]byte, error) {
		in := op.NewInput().(I)
		if err := in.DecodeJSON(body); err != nil {
			return nil, err
		}
		out, err := call(ctx, s, op, in, method)
		if err != nil {
			return nil, err
		}
		if reservation := event.CallOf(ctx).Reservation; reservation != nil && reservation.Reserved() > cap(dst) {
			dst = slices.Grow(dst, reservation.Reserved())
		}
		return out.AppendJSON(dst), nil
	}}
}

// A Misuse is the error of a program that calls an operation where it must not, such as outside
// of the transaction that it is in. It is not an answer of the service's.

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

// newTask returns the task of a job.
func newTask(job life.Job) (task, error) {
	switch job.Kind {
	case exportJobs:
		x := new(exportTask)
		return x, decodeJob(job, &x.record)
	case importJobs:
		x := new(importTask)
		return x, decodeJob(job, &x.record)
	case bulkJobs:
		x := new(bulkTask)
		return x, decodeJob(job, &x.record)
	}
	return nil, fmt.Errorf("unknown kind of job %q", job.Kind)
}
