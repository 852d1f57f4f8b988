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

// [TableOf.Get] returns ErrNotFound if no item has the key.
var ErrNotFound = errors.New("sortkey: no item with this key")

// ErrConditionFailed matches, by [errors.Is], the error of a write whose condition does not hold. That error is an
// [*Error] that has the current item.
var ErrConditionFailed = errors.New("sortkey: the condition does not hold")

// ErrNoTable matches, by [errors.Is], the error of an operation on a table that does not exist.
var ErrNoTable = errors.New("sortkey: no such table")

// ErrTableExists matches, by [errors.Is], the error of [DB.CreateTable] if the table exists. It also matches the
// error of [DB.EnsureTable] if the table differs in a part that cannot be changed.
var ErrTableExists = errors.New("sortkey: the table exists")

// ErrIndexExists matches, by [errors.Is], the error of [DB.AddIndex] if the table already has an index of this name,
// perhaps because another program has just added it.
var ErrIndexExists = errors.New("sortkey: the index exists")

// ErrTrimmed matches, by [errors.Is], the error of [TableOf.Changes] if the stream has dropped changes that the loop
// had not read. The error names the table.
var ErrTrimmed = errors.New("sortkey: changes were lost")

// ErrUsage matches, by [errors.Is], the error of a call that can never succeed. Its arguments are wrong, the service
// would refuse its request with a ValidationException, or it uses the context of a transaction outside that
// transaction.
var ErrUsage = errors.New("sortkey: wrong use")

// ErrCursor matches, by [errors.Is], the error for a cursor that is damaged or that belongs to another table, index
// or query. [ErrUsage] matches that error too.
var ErrCursor = errors.New("sortkey: wrong cursor")

// An Error is an error that DynamoDB would return for the same request. Use [errors.Is] to test for
// [ErrConditionFailed] and the other sentinels. Look for an *Error if you need the exception or the item. Errors that
// DynamoDB does not have are of other types: for example [ErrUsage] for a call that makes no request,
// [store.ErrClosed], or the end of a context.
type Error struct {
	// Code is the name of the exception, such as ValidationException.
	Code string
	// Message is DynamoDB's text.
	Message string
	// Item is the item for which the condition failed, or nil if there is no item with the key.
	Item attr.Item

	is     error // the sentinel that this error matches although its Code does not say so, or nil
	status int   // HTTP status of DynamoDB's answer
}

// Error returns the code and the message.
func (e *Error) Error() string {
	if e.Message == "" {
		return e.Code
	}
	return e.Code + ": " + e.Message
}

// Is makes [errors.Is] match e with [ErrConditionFailed], [ErrNoTable], [ErrTableExists], [ErrUsage] or [ErrCursor].
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

// statuses has the HTTP statuses that [StatusOf] returns for errors that DynamoDB sends with status 400. From 400
// alone, a client could not tell whether another attempt can succeed.
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

// StatusOf returns the HTTP status with which a handler should answer an error. As always in HTTP, a status from 400
// means that the client is at fault, and one from 500 that the server is.
//
//	200  nil
//	400  ErrUsage, ErrCursor, and other requests that can never succeed
//	403  store.ErrReadOnly
//	404  ErrNotFound, ErrNoTable
//	409  ErrTableExists, ErrIndexExists, a table that is being changed, a conflict of transactions
//	410  ErrTrimmed
//	412  ErrConditionFailed
//	499  a cancelled context, such as that of a request whose client has hung up
//	500  any other, such as a *DecodeError, a failure of the store, or an error of the caller's own
//	501  errors.ErrUnsupported: the store cannot do this
//	503  store.ErrClosed, store.ErrUnavailable, a context whose deadline has passed, throttling
//
// A call that ended with 499 or 503 can be repeated later. It has changed nothing, unless its context ended: then its
// writes may have been applied. The status 499 is common but not standard, so [net/http] has no text for it.
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

// A DecodeError is the error for an item that does not fit the Go type T of its table. Loops continue after such an
// item, so find the error with [errors.As] to skip, repair or report the item.
type DecodeError struct {
	Table string
	// Key is the primary key of the item.
	Key attr.Item
	// Err names the attribute that does not fit, and says why.
	Err error
}

// Error returns the table, the key as DynamoDB JSON, and the cause.
func (e *DecodeError) Error() string {
	return fmt.Sprintf("sortkey: item %s of table %s: %v", e.Key.AppendJSON(nil), e.Table, e.Err)
}

// Unwrap returns the cause, an [*attr.ConvertError].
func (e *DecodeError) Unwrap() error { return e.Err }

// failed converts the error of an operation into the error that callers see. It does not change an error of the
// caller's own functions, even if that error wraps an error of this package.
func failed(err error) error {
	switch e := err.(type) {
	case *wire.Error:
		if e.Err != nil { // not an answer of the service
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

// failure returns the cause of an error that the service does not have: an error of the store, of a context, or of a
// function of the caller.
func failure(e *wire.Error) error {
	if errors.Is(e.Err, store.ErrClosed) && e.Message != e.Err.Error() {
		return &explained{e.Message, e.Err} // the message says why the store is closed
	}
	return failed(e.Err)
}

// An explained error is another error with a text of its own.
type explained struct {
	text string
	err  error
}

func (e *explained) Error() string { return e.text }
func (e *explained) Unwrap() error { return e.err }

// interrupted returns the error for a context that has ended. It is the cause of the context. [errors.Is] also
// matches it with the context's own error, such as context.Canceled.
func interrupted(ctx context.Context) error {
	ended, cause := ctx.Err(), context.Cause(ctx)
	if errors.Is(cause, ended) {
		return cause
	}
	return &interruption{ended, cause}
}

// An interruption wraps the error of an ended context and the cause that the caller gave it.
type interruption struct{ ended, cause error }

func (e *interruption) Error() string   { return e.cause.Error() }
func (e *interruption) Unwrap() []error { return []error{e.ended, e.cause} }

// A usageError matches [ErrUsage]. If also is set, it matches that sentinel too.
type usageError struct{ err, also error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func (e *usageError) Is(target error) bool {
	return target != nil && (target == ErrUsage || target == e.also)
}

// misuse returns an [ErrUsage] for a call whose arguments make no valid request.
func misuse(format string, args ...any) error {
	return &usageError{err: fmt.Errorf("sortkey: "+format, args...)}
}

// badCursor returns an [ErrCursor] for a text that is not a valid cursor.
func badCursor(format string, args ...any) error {
	return &usageError{fmt.Errorf("sortkey: "+format, args...), ErrCursor}
}

// unsupported returns an [errors.ErrUnsupported] whose text names the call and the stores that support it.
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
