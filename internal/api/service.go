package api

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sortkey/sortkey/internal/event"
	"github.com/sortkey/sortkey/internal/fault"
	"github.com/sortkey/sortkey/internal/wire"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/expr"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/throughput"
	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/store"
)

// Options configure [New]. The zero value is ready to use.
type Options struct {
	// Clock returns the time. Default: time.Now.
	Clock func() time.Time
	// Rand is the source of table ids. Default: crypto/rand.Reader.
	Rand io.Reader
	// Logger receives failures that no request caused. Default: discard.
	Logger *slog.Logger
	// Observer is called at the beginning and the end of every operation.
	// Default: none.
	Observer event.Observer
	// StreamShards is the number of shards that a new stream has at a time.
	// Default: 1.
	StreamShards int
	// S3Root is the folder whose folders are the buckets of exports and imports.
	// Default: none, so no bucket exists.
	S3Root string
	// EnforceThroughput throttles requests that take more than the throughput of
	// their tables, indexes and partitions.
	EnforceThroughput bool
	// TransactionDelay is how long a transaction holds the items that it writes
	// before it is applied. Default: 0, so transactions never conflict.
	TransactionDelay time.Duration
	// Kinesis gets the changes of tables with Kinesis destinations. Default: none.
	Kinesis func(streamARN string, record []byte)
	// Wording is the wording of messages. Default: [wire.WordingOctober].
	Wording wire.Wording
	// Region and Account are those of ARNs. Default: [DefaultRegion] and
	// [DefaultAccount].
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
	return o
}

// A Service answers operations on a database. It is safe for concurrent use.
//
// Each operation is a method that takes the typed input and returns the typed
// output or a [*wire.Error]. [Service.Serve] takes and returns JSON.
type Service struct {
	db      *table.DB
	opts    Options
	arns    ARNs
	faults  fault.Set
	meter   *throughput.Meter // nil unless throughput is enforced
	ongoing *ongoing          // nil unless transactions take time
	jobs    *runner
	extra   atomic.Pointer[[]event.Observer] // besides that of the options; nil for none
	closed  atomic.Pointer[func() string]    // explains why the database is closed; nil for nothing more
}

// New returns a service over db.
func New(db *table.DB, opts Options) *Service {
	opts = opts.withDefaults()
	s := &Service{db: db, opts: opts, arns: ARNs{Region: opts.Region, Account: opts.Account}, jobs: newRunner()}
	if opts.EnforceThroughput {
		s.meter = new(throughput.Meter)
	}
	if opts.TransactionDelay > 0 {
		s.ongoing = &ongoing{items: itemSet{}, tokens: map[string]bool{}}
	}
	if opts.Kinesis != nil {
		db.Deliver = s.deliver
	}
	return s
}

// Observe adds an observer of the operations that begin from now on, until stop
// is called.
func (s *Service) Observe(o event.Observer) (stop func()) {
	change := func(edit func([]event.Observer) []event.Observer) {
		for {
			old := s.extra.Load()
			var list []event.Observer
			if old != nil {
				list = slices.Clone(*old)
			}
			next := &list
			if list = edit(list); len(list) == 0 {
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

// ExplainClosed sets a function whose result follows the message of operations on the
// database once it is closed, unless it is empty.
func (s *Service) ExplainClosed(explain func() string) { s.closed.Store(&explain) }

// Serve runs the operation that target names, such as
// "DynamoDB_20120810.PutItem", on a request body. It appends the response body
// to dst and returns it with the HTTP status. Errors are responses too. The status
// is -1 if the connection is to be reset instead ([ErrReset]).
func (s *Service) Serve(ctx context.Context, target string, body, dst []byte) (out []byte, status int) {
	op, _ := wire.Lookup(target)
	h := handlers[op]
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
	return out, http.StatusOK
}

// Implements reports whether the service answers op.
func (s *Service) Implements(op wire.Op) bool { return handlers[op] != nil }

// handler answers a request body with a response body appended to dst.
type handler func(s *Service, ctx context.Context, body, dst []byte) ([]byte, error)

// handlers are the operations, all of the service's.
var handlers = [256]handler{
	wire.OpBatchExecuteStatement:               typed((*Service).BatchExecuteStatement),
	wire.OpExecuteStatement:                    typed((*Service).ExecuteStatement),
	wire.OpExecuteTransaction:                  typed((*Service).ExecuteTransaction),
	wire.OpBatchGetItem:                        typed((*Service).BatchGetItem),
	wire.OpBatchWriteItem:                      typed((*Service).BatchWriteItem),
	wire.OpCancelBulkOperation:                 typed((*Service).CancelBulkOperation),
	wire.OpCreateBackup:                        typed((*Service).CreateBackup),
	wire.OpCreateGlobalTable:                   typed((*Service).CreateGlobalTable),
	wire.OpCreateTable:                         typed((*Service).CreateTable),
	wire.OpDeleteBackup:                        typed((*Service).DeleteBackup),
	wire.OpDeleteItem:                          typed((*Service).DeleteItem),
	wire.OpDeleteResourcePolicy:                typed((*Service).DeleteResourcePolicy),
	wire.OpDeleteTable:                         typed((*Service).DeleteTable),
	wire.OpDescribeBulkOperation:               typed((*Service).DescribeBulkOperation),
	wire.OpDescribeBackup:                      typed((*Service).DescribeBackup),
	wire.OpDescribeContinuousBackups:           typed((*Service).DescribeContinuousBackups),
	wire.OpDescribeContributorInsights:         typed((*Service).DescribeContributorInsights),
	wire.OpDescribeEndpoints:                   typed((*Service).DescribeEndpoints),
	wire.OpDescribeExport:                      typed((*Service).DescribeExport),
	wire.OpDescribeGlobalTable:                 typed((*Service).DescribeGlobalTable),
	wire.OpDescribeGlobalTableSettings:         typed((*Service).DescribeGlobalTableSettings),
	wire.OpDescribeImport:                      typed((*Service).DescribeImport),
	wire.OpDescribeKinesisStreamingDestination: typed((*Service).DescribeKinesisStreamingDestination),
	wire.OpDescribeLimits:                      typed((*Service).DescribeLimits),
	wire.OpDescribeStream:                      typed((*Service).DescribeStream),
	wire.OpDescribeTable:                       typed((*Service).DescribeTable),
	wire.OpDescribeTableReplicaAutoScaling:     typed((*Service).DescribeTableReplicaAutoScaling),
	wire.OpDescribeTimeToLive:                  typed((*Service).DescribeTimeToLive),
	wire.OpDisableKinesisStreamingDestination:  typed((*Service).DisableKinesisStreamingDestination),
	wire.OpEnableKinesisStreamingDestination:   typed((*Service).EnableKinesisStreamingDestination),
	wire.OpExportTableToPointInTime:            typed((*Service).ExportTableToPointInTime),
	wire.OpGetItem:                             (*Service).serveGetItem,
	wire.OpGetRecords:                          typed((*Service).GetRecords),
	wire.OpGetResourcePolicy:                   typed((*Service).GetResourcePolicy),
	wire.OpGetShardIterator:                    typed((*Service).GetShardIterator),
	wire.OpImportTable:                         typed((*Service).ImportTable),
	wire.OpListBulkOperations:                  typed((*Service).ListBulkOperations),
	wire.OpListBackups:                         typed((*Service).ListBackups),
	wire.OpListContributorInsights:             typed((*Service).ListContributorInsights),
	wire.OpListExports:                         typed((*Service).ListExports),
	wire.OpListGlobalTables:                    typed((*Service).ListGlobalTables),
	wire.OpListImports:                         typed((*Service).ListImports),
	wire.OpListStreams:                         typed((*Service).ListStreams),
	wire.OpListTables:                          typed((*Service).ListTables),
	wire.OpListTagsOfResource:                  typed((*Service).ListTagsOfResource),
	wire.OpPutItem:                             typed((*Service).PutItem),
	wire.OpPutResourcePolicy:                   typed((*Service).PutResourcePolicy),
	wire.OpQuery:                               page(func(in *wire.QueryInput) *string { return in.Select }, (*Service).Query),
	wire.OpRestoreTableFromBackup:              typed((*Service).RestoreTableFromBackup),
	wire.OpRestoreTableToPointInTime:           typed((*Service).RestoreTableToPointInTime),
	wire.OpScan:                                page(func(in *wire.ScanInput) *string { return in.Select }, (*Service).Scan),
	wire.OpSearchVectors:                       typed((*Service).SearchVectors),
	wire.OpStartBulkPutItems:                   typed((*Service).StartBulkPutItems),
	wire.OpTagResource:                         typed((*Service).TagResource),
	wire.OpTransactGetItems:                    typed((*Service).TransactGetItems),
	wire.OpTransactWriteItems:                  typed((*Service).TransactWriteItems),
	wire.OpUntagResource:                       typed((*Service).UntagResource),
	wire.OpUpdateContinuousBackups:             typed((*Service).UpdateContinuousBackups),
	wire.OpUpdateContributorInsights:           typed((*Service).UpdateContributorInsights),
	wire.OpUpdateGlobalTable:                   typed((*Service).UpdateGlobalTable),
	wire.OpUpdateGlobalTableSettings:           typed((*Service).UpdateGlobalTableSettings),
	wire.OpUpdateItem:                          typed((*Service).UpdateItem),
	wire.OpUpdateKinesisStreamingDestination:   typed((*Service).UpdateKinesisStreamingDestination),
	wire.OpUpdateTable:                         typed((*Service).UpdateTable),
	wire.OpUpdateTableReplicaAutoScaling:       typed((*Service).UpdateTableReplicaAutoScaling),
	wire.OpUpdateTimeToLive:                    typed((*Service).UpdateTimeToLive),
}

// decodable is the input type I with the methods of a [wire.Input].
type decodable[I any] interface {
	*I
	wire.Input
}

// appender is an output.
type appender interface{ AppendJSON(dst []byte) []byte }

// typed returns the handler that calls an operation's method.
func typed[I any, P decodable[I], O appender](method func(*Service, context.Context, P) (O, error)) handler {
	return func(s *Service, ctx context.Context, body, dst []byte) ([]byte, error) {
		in := P(new(I))
		if err := in.DecodeJSON(body); err != nil {
			return nil, err
		}
		out, err := method(s, ctx, in)
		if err != nil {
			return nil, err
		}
		if room := event.RoomOf(ctx); room != nil && room.Reserved() > cap(dst) {
			dst = slices.Grow(dst, room.Reserved())
		}
		return out.AppendJSON(dst), nil
	}
}

// wireError returns the form on the wire of an error from any package.
func (s *Service) wireError(err error) *wire.Error {
	if e, ok := errors.AsType[*wire.Error](err); ok {
		return e.In(s.opts.Wording)
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
			return wire.Validation(e.Msg)
		}
	}
	if e, ok := errors.AsType[*expr.Error](err); ok {
		return wire.Validation(e.Error())
	}
	if e, ok := errors.AsType[*keycond.Error](err); ok {
		return wire.Validation(e.Msg)
	}
	if errors.Is(err, store.ErrUnavailable) { // the error says where the database is
		s.opts.Logger.Warn("the store is not available", "error", err)
		e := wire.ServiceUnavailable("The store is not available. Try again later.")
		e.Err = err
		return e
	}
	if errors.Is(err, store.ErrClosed) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		text := err.Error()
		if explain := s.closed.Load(); explain != nil && errors.Is(err, store.ErrClosed) {
			if why := (*explain)(); why != "" {
				text += ": " + why
			}
		}
		e := wire.ServiceUnavailable(text)
		e.Err = err
		return e
	}
	s.opts.Logger.Error("internal error", "error", err)
	e := wire.NewError("InternalServerError", "Internal server error")
	e.Err = err
	return e
}

func isNotFound(err error) bool { return isKind(err, table.NotFound) }

func isKind(err error, kind table.Kind) bool {
	e, ok := errors.AsType[*table.Error](err)
	return ok && e.Kind == kind
}

// region returns the region of the service.
func (s *Service) region() string { return cmp.Or(s.opts.Region, DefaultRegion) }

// value returns what p points to, or the zero value.
func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// lookup finds the table that a request names.
func (s *Service) lookup(find func(string) (*table.Table, error), name *string) (*table.Table, error) {
	n, err := s.tableName(value(name))
	if err != nil {
		return nil, err
	}
	return find(n)
}

// tableName returns the name of the table that a name or an ARN refers to.
func (s *Service) tableName(name string) (string, error) {
	ref, err := ParseTable(name)
	if err != nil {
		return "", err
	}
	if !s.arns.Local(ref) {
		return "", table.NoSuchTable()
	}
	return ref.Name, nil
}

// Changes calls visit with each item of a table that differs between before, which may be
// nil, and s: see [table.DB.Changes].
func (s *Service) Changes(
	ctx context.Context, before *Service, name string, visit func(was, is attr.Item) error,
) error {
	var old *table.DB
	if before != nil {
		old = before.db
	}
	return s.db.Changes(ctx, old, name, visit)
}
