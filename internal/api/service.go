package api

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sortkey/sortkey/internal/api/event"
	"github.com/sortkey/sortkey/internal/api/fault"
	"github.com/sortkey/sortkey/internal/wire"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/api/throughput"
	"github.com/sortkey/sortkey/internal/capability"
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/table/life"
	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/store"
)

// Options configure [New]. The zero value is ready to use.
type Options struct {
	// Clock returns the time. Default: time.Now.
	Clock func() time.Time
	// Rand is the source of random bytes for ids. Default: crypto/rand.Reader.
	Rand io.Reader
	// Logger receives errors that no request caused. Default: discard.
	Logger *slog.Logger
	// Observer is called when an operation begins and when it ends. Default: none.
	Observer event.Observer
	// StreamShards is the number of open shards of a new stream, at most [table.MaxShards]. Default: 1.
	StreamShards int
	// S3Root is the directory for exports and imports. Each directory in it is a bucket. Default: "", so there are no
	// buckets.
	S3Root string
	// EnforceThroughput throttles requests that exceed the throughput of their tables, indexes and partitions.
	EnforceThroughput bool
	// TransactionDelay is how long a write transaction keeps its items busy before it writes them. Meanwhile other
	// writes of these items conflict. Default: 0, so transactions never conflict.
	TransactionDelay time.Duration
	// Region and Account appear in ARNs. Default: [DefaultRegion] and [DefaultAccount].
	Region, Account string
}

func (o Options) withDefaults() Options {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	o.StreamShards = min(max(o.StreamShards, 1), table.MaxShards)
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Region, o.Account = cmp.Or(o.Region, DefaultRegion), cmp.Or(o.Account, DefaultAccount)
	return o
}

// A Service runs operations on a database. It is safe for concurrent use.
//
// Each operation is a method that takes the typed input and returns the typed output or a [*wire.Error].
// [Service.Serve] takes and returns JSON.
type Service struct {
	db      *life.DB
	opts    Options
	arns    ARNs
	faults  fault.Set
	meter   *throughput.Meter // nil unless [Options.EnforceThroughput] is set
	ongoing *ongoing          // nil unless [Options.TransactionDelay] is set
	jobs    *runner
	extra   atomic.Pointer[[]event.Observer] // observers in addition to opts.Observer; nil if there are none
	closed  atomic.Pointer[func() string]    // set by ExplainClosed; nil until then
}

// Observe adds an observer for operations that begin before stop is called.
func (s *Service) Observe(o event.Observer) (stop func()) {
	change := func(edit func([]event.Observer) []event.Observer) {
		for {
			old := s.extra.Load()
			list := edit(slices.Clone(value(old)))
			next := &list
			if len(list) == 0 {
				next = nil
			}
			if s.extra.CompareAndSwap(old, next) {
				return
			}
		}
	}
	change(func(list []event.Observer) []event.Observer { return append(list, o) })
	return sync.OnceFunc(func() {
		change(func(list []event.Observer) []event.Observer {
			i := slices.Index(list, o)
			return slices.Delete(list, i, i+1)
		})
	})
}

// ExplainClosed sets a function that explains why the database is closed. Errors of operations on the closed database
// contain its result, if it is not "".
func (s *Service) ExplainClosed(explain func() string) { s.closed.Store(&explain) }

// A Misuse is the error of a program that calls an operation where it must not, such as with the context of a
// transaction that has ended. DynamoDB has no such error, so clients get a ValidationException.
type Misuse interface {
	error
	Misuse()
}

// wireError converts an error from any package to the error that clients get.
func (s *Service) wireError(err error) *wire.Error {
	if e, ok := errors.AsType[*wire.Error](err); ok {
		return e
	}
	if e, ok := errors.AsType[*table.Error](err); ok {
		switch e.Kind {
		case table.NotFound:
			return wire.NewError("ResourceNotFoundException", e.Msg)
		case table.InUse:
			return wire.NewError("ResourceInUseException", e.Msg)
		case table.LimitExceeded:
			return wire.NewError("LimitExceededException", e.Msg)
		case table.ConditionFailed:
			return wire.ConditionalCheckFailed(nil)
		default:
			w := wire.Validation(e.Msg)
			w.Start = e.Start
			return w
		}
	}

	if e, ok := errors.AsType[*expr.Error](err); ok {
		return wire.Validation(e.Error())
	}
	if e, ok := errors.AsType[*keycond.Error](err); ok {
		return wire.Validation(e.Message)
	}

	var e *wire.Error
	misuse, misused := errors.AsType[Misuse](err)
	switch {
	case errors.Is(err, store.ErrUnavailable): // do not send the text of err, as it shows where the database is
		s.opts.Logger.Warn("the store is not available", "error", err)
		e = wire.ServiceUnavailable("The store is not available. Try again later.")
	case errors.Is(err, store.ErrClosed), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		text := err.Error()
		if explain := s.closed.Load(); explain != nil && errors.Is(err, store.ErrClosed) {
			if why := (*explain)(); why != "" {
				text += ": " + why
			}
		}
		e = wire.ServiceUnavailable(text)
	case errors.Is(err, store.ErrReadOnly):
		e = wire.AccessDenied("The store is open for reading only.")
	case errors.Is(err, capability.ErrChanged): // an enclosing transaction looks for err to retry
		e = wire.NewError("InternalServerError", "Another server has changed a table. Try again.")
	case misused:
		e = wire.Validation(misuse.Error())
	default:
		s.opts.Logger.Error("internal error", "error", err)
		e = wire.NewError("InternalServerError", "Internal server error")
	}
	e.Err = err
	return e
}

func isNotFound(err error) bool { return isKind(err, table.NotFound) }

func isKind(err error, kind table.Kind) bool {
	e, ok := errors.AsType[*table.Error](err)
	return ok && e.Kind == kind
}

// value returns *p, or the zero value if p is nil.
func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// defined returns a function for [Service.lookup] that finds tables in any status.
func (s *Service) defined(ctx context.Context) func(string) (*table.Table, error) {
	return func(name string) (*table.Table, error) { return s.db.Describe(ctx, name) }
}

// lookup calls find with the name of a table. name is the name in a request, which may be an ARN.
func (s *Service) lookup(find func(string) (*table.Table, error), name *string) (*table.Table, error) {
	n, err := s.tableName(name)
	if err != nil {
		return nil, err
	}
	return find(n)
}

// tableName returns the name of a table, given its name or ARN. It returns "" for nil.
func (s *Service) tableName(name *string) (string, error) {
	ref, err := ParseTable(value(name))
	if err == nil && ref.Region == "" {
		return ref.Name, nil
	}
	if wrong := s.foreignARN(*name, ref); wrong != nil {
		return "", wrong
	}
	return ref.Name, err
}

// foreignARN returns an error if arn is a DynamoDB ARN that is not of a table of this region and account. ref is the
// parsed ARN, or the zero TableRef if parsing failed. Source: ack-api-quirks, DDB-TABLE-011 and 442, us-west-2,
// 2026-10-08 and 09.
func (s *Service) foreignARN(arn string, ref TableRef) error {
	parts := strings.SplitN(arn, ":", 6)
	if len(parts) != 6 || parts[2] != "dynamodb" {
		return nil
	}
	name, isTable := strings.CutPrefix(parts[5], "table/")
	what := ""
	switch {
	case parts[1] != "aws":
		what = "AWS partition"
	case parts[3] != s.opts.Region:
		what = "AWS region"
	case !isTable || strings.Contains(name, "/"):
		what = "resource type"
	case ref.Name != "" && !s.arns.Local(ref):
		return wire.NewError(wire.CodeAccessDenied, "Access is denied")
	default:
		return nil
	}
	return wire.Validation("1 validation error detected: Invalid " + what + " in '" + arn + "'")
}

// Changes calls visit with each item of a table that differs between the databases of before and s. before may be
// nil; see [life.DB.Changes].
func (s *Service) Changes(
	ctx context.Context, before *Service, name string, visit func(was, is attr.Item) error,
) error {
	var old *life.DB
	if before != nil {
		old = before.db
	}
	return s.db.Changes(ctx, old, name, visit)
}

func (s *Service) now() time.Time { return s.opts.Clock().UTC().Truncate(time.Millisecond) }
