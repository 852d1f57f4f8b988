package sortkey

import (
	"context"
	"errors"
	"fmt"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/api"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/store"
)

// ErrNotFound is returned by [TableOf.Get] for a key that no item has.
var ErrNotFound = errors.New("sortkey: no item with this key")

// ErrConditionFailed matches, by [errors.Is], the error of a write whose condition does not hold. The [*Error] has the
// item as it is.
var ErrConditionFailed = errors.New("sortkey: the condition does not hold")

// ErrNoTable matches, by [errors.Is], the error of an operation on a table that does not exist.
var ErrNoTable = errors.New("sortkey: no such table")

// ErrTableExists matches, by [errors.Is], the error of [DB.CreateTable] for a table that exists, and of
// [DB.EnsureTable] for a table that differs in a part that cannot be changed.
var ErrTableExists = errors.New("sortkey: the table exists")

// ErrIndexExists matches, by [errors.Is], the error of [DB.AddIndex] for an index that the table has already, also if
// another program has added it meanwhile.
var ErrIndexExists = errors.New("sortkey: the index exists")

// ErrTrimmed matches, by [errors.Is], the error of [TableOf.Changes] if the stream has dropped changes before they were
// read. The error names the table.
var ErrTrimmed = errors.New("sortkey: changes were lost")

// ErrUsage matches, by [errors.Is], the error of a call that can never succeed: one with wrong arguments, one that the
// service refuses with a ValidationException, and one that uses the context of a transaction outside of it.
var ErrUsage = errors.New("sortkey: wrong use")

// ErrCursor matches, by [errors.Is], the error for a cursor that is damaged or of another table, index or query.
// [ErrUsage] matches that error too.
var ErrCursor = errors.New("sortkey: wrong cursor")

// An Error is an error of the service's: what DynamoDB answers to the same request. Programs test for
// [ErrConditionFailed] and its like with errors.Is, and look for an *Error when they need the exception or the item.
// Errors that the service does not have, such as [ErrUsage] for a call that makes no request, [store.ErrClosed], or the
// end of a context, are not of this type.
type Error struct {
	// Code is the name of the exception, such as ValidationException.
	Code string
	// Message is the service's text.
	Message string
	// Item is the item whose condition failed, or nil if there is no item with the key.
	Item attr.Item

	is     error // the sentinel that the code does not say, or nil
	status int   // of the service's answer
}

// Error returns the code and the message.
func (e *Error) Error() string {
	if e.Message == "" {
		return e.Code
	}
	return e.Code + ": " + e.Message
}

// Is reports whether the error is what [ErrConditionFailed], [ErrNoTable], [ErrTableExists], [ErrUsage] or [ErrCursor]
// stands for. It is for errors.Is.
func (e *Error) Is(target error) bool {
	if e == nil || target == nil {
		return false
	}
	switch target {
	case ErrConditionFailed:
		return e.Code == wire.CodeConditionFailed
	case ErrNoTable:
		return e.Code == codeNotFound
	case ErrUsage:
		return e.Code == wire.CodeValidation
	}
	return target == e.is
}

const (
	statusUsage = 400
	statusRetry = 503

	codeThrottled = "ProvisionedThroughputExceededException"
	codeNotFound  = "ResourceNotFoundException"
	codeInUse     = "ResourceInUseException"
)

// statuses are the statuses of the service's errors that have the status 400 on the wire,
// which does not say that another attempt can succeed.
var statuses = map[string]int{
	codeNotFound:                       404,
	codeInUse:                          409,
	wire.CodeConditionFailed:           412,
	"LimitExceededException":           409,
	"TransactionCanceledException":     409,
	"TransactionConflictException":     409,
	"TransactionInProgressException":   409,
	"ReplicatedWriteConflictException": 409,
	codeThrottled:                      statusRetry,
	"RequestLimitExceeded":             503,
	"ThrottlingException":              503,
}

// StatusOf returns the status with which an HTTP handler answers an error: from 400 if the caller
// is at fault, and from 500 if the store is, as a status of HTTP always says.
//
//	200  nil
//	400  ErrUsage, ErrCursor, and other requests that can never succeed
//	403  store.ErrReadOnly
//	404  ErrNotFound, ErrNoTable
//	409  ErrTableExists, ErrIndexExists, a table that is being changed, a conflict of transactions
//	410  ErrTrimmed
//	412  ErrConditionFailed
//	499  a context that was cancelled, as that of a request is when its client hangs up
//	500  any other, such as a *DecodeError, a failure of the store, or an error of the caller's own
//	501  errors.ErrUnsupported: the store cannot do this
//	503  store.ErrClosed, store.ErrUnavailable, a context whose deadline has passed, throttling
//
// A call that ended with 499 or 503 can be repeated later; it has changed nothing or, if its context
// ended, perhaps everything. The status 499 is not of the standard, but usual for it; [net/http] has no
// text for it.
func StatusOf(err error) int {
	is := func(targets ...error) bool {
		for _, target := range targets {
			if errors.Is(err, target) {
				return true
			}
		}
		return false
	}

	_, misfit := errors.AsType[*DecodeError](err)
	refusal, refused := errors.AsType[*Error](err)
	switch {
	case err == nil:
		return 200
	case is(context.DeadlineExceeded, store.ErrClosed, store.ErrUnavailable):
		return statusRetry
	case is(context.Canceled):
		return 499
	case misfit:
		return 500
	case is(errors.ErrUnsupported):
		return 501
	case is(store.ErrReadOnly):
		return 403
	case is(ErrNotFound):
		return 404
	case is(ErrTableExists, ErrIndexExists):
		return 409
	case is(ErrTrimmed):
		return 410
	case refused && statuses[refusal.Code] != 0:
		return statuses[refusal.Code]
	case refused && refusal.status != 0:
		return refusal.status
	case is(ErrUsage):
		return statusUsage
	}

	return 500
}

// A DecodeError is the error for an item that does not fit the Go type that it is read into. Look for it with errors.As
// to skip, repair or report such an item: loops go on behind it.
type DecodeError struct {
	Table string
	// Key is the primary key of the item.
	Key attr.Item
	// Err says which attribute does not fit, and why.
	Err error
}

// Error returns the table, the key as DynamoDB JSON, and the cause.
func (e *DecodeError) Error() string {
	return fmt.Sprintf("sortkey: item %s of table %s: %v", e.Key.AppendJSON(nil), e.Table, e.Err)
}

// Unwrap returns the cause, an [*attr.ConvertError].
func (e *DecodeError) Unwrap() error { return e.Err }

// failed returns the error of an operation in its public form. It leaves the errors of the
// caller's own functions as they are, whatever they wrap.
func failed(err error) error {
	switch e := err.(type) {
	case *wire.Error:
		if e.Err != nil { // no answer of the service
			return failure(e)
		}
		public := &Error{Code: e.Code, Message: e.Message, Item: e.Item, status: e.Status}
		if e.Start {
			public.is = ErrCursor
		}
		return public
	case api.Misuse:
		return &usageError{err: err}
	}
	return err
}

// failure returns the cause of an error that is not an answer of the service's.
func failure(e *wire.Error) error {
	switch {
	case errors.Is(e.Err, store.ErrClosed) && e.Message != e.Err.Error():
		return &explained{e.Message, e.Err} // the message says why it is closed
	}
	return failed(e.Err)
}

// An explained error has a text that says more.
type explained struct {
	text string
	err  error
}

func (e *explained) Error() string { return e.text }
func (e *explained) Unwrap() error { return e.err }

// interrupted returns the error of a context that has ended: its cause, in which the error of
// the context can be found too.
func interrupted(ctx context.Context) error {
	ended, cause := ctx.Err(), context.Cause(ctx)
	if errors.Is(cause, ended) {
		return cause
	}
	return &interruption{ended, cause}
}

// An interruption is the end of a context with a cause of the caller's.
type interruption struct{ ended, cause error }

func (e *interruption) Error() string   { return e.cause.Error() }
func (e *interruption) Unwrap() []error { return []error{e.ended, e.cause} }

// A usageError is an [ErrUsage], and perhaps another one.
type usageError struct{ err, also error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func (e *usageError) Is(target error) bool {
	return target != nil && (target == ErrUsage || target == e.also)
}

// misuse is an error of a caller whose arguments make no request.
func misuse(format string, args ...any) error {
	return &usageError{err: fmt.Errorf("sortkey: "+format, args...)}
}

// badCursor is the error of a caller whose cursor is not one.
func badCursor(format string, args ...any) error {
	return &usageError{fmt.Errorf("sortkey: "+format, args...), ErrCursor}
}

// unsupported is the error of a call that the store does not support, with the stores that do.
func unsupported(call, stores string) error {
	text := fmt.Sprintf("sortkey: store does not support %s (stores of %s do)", call, stores)
	return &explained{text, errors.ErrUnsupported}
}

// noTable is the error for a table that does not exist.
func noTable() error { return failed(wire.NewError(codeNotFound, "Requested resource not found")) }

// noContext is the error of a method that was called without a context.
func noContext(method string) error {
	return misuse("%s: the context is nil; pass context.Background() if there is no other", method)
}
