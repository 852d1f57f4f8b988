package wire

import (
	"strings"

	"github.com/sortkey/sortkey/attr"
)

// An Error is the error of an operation as the client sees it.
type Error struct {
	// Code is the name of the exception, such as ResourceNotFoundException.
	Code string
	// Status is the HTTP status.
	Status int
	// Message is the text that the client gets.
	Message string
	// Item is the item that failed a condition, if the request asked for it.
	Item attr.Item
	// Reasons has one entry for each action of a cancelled transaction.
	Reasons []CancellationReason
	// Throttling says which limits were exceeded.
	Throttling []ThrottlingReason
	// Start is true if the start key of a page is wrong.
	Start bool
	// Err is the cause of an error that is not the service's answer to the request, such as an error of the store.
	// Err is never sent to the client.
	Err error

	lowerCase bool // use the JSON name message for the text, even if errors with this code usually have Message
}

// lower makes the JSON name of the text message instead of Message, and returns the error.
func (e *Error) lower() *Error {
	e.lowerCase = true
	return e
}

func (e *Error) Error() string {
	if e.Message == "" {
		return e.Code
	}
	return e.Code + ": " + e.Message
}

// Refusal marks the error as an answer to a request, rather than a failure of the store.
func (e *Error) Refusal() {}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Names of exceptions that are not in the service model.
const (
	CodeValidation       = "ValidationException"
	CodeSerialization    = "SerializationException"
	CodeUnknownOperation = "UnknownOperationException"
	CodeAccessDenied     = "AccessDeniedException"
	CodeUnavailable      = "ServiceUnavailable"
)

// CodeConditionFailed is the code of the exception for a failed condition.
const CodeConditionFailed = "ConditionalCheckFailedException"

// NewError returns the exception with the given code and the HTTP status that
// the service model defines for it. It is not inlined because it is called in
// hundreds of places.
//
//go:noinline
func NewError(code, message string) *Error {
	e := &Error{Code: code, Status: 400, Message: message}
	if code == "InternalServerError" {
		e.Status = 500
	}
	return e
}

// Validation returns a ValidationException with the given message. Use
// [Op.Invalid] for errors found before the table is looked up.
func Validation(message string) *Error { return NewError(CodeValidation, message) }

// Serialization returns a SerializationException. The service returns it for a body that does not have the
// operation's shape.
func Serialization(message string) *Error { return NewError(CodeSerialization, message) }

// UnknownOperation returns an UnknownOperationException, which has no message.
func UnknownOperation() *Error { return NewError(CodeUnknownOperation, "") }

// AccessDenied returns an AccessDeniedException.
func AccessDenied(message string) *Error { return NewError(CodeAccessDenied, message) }

// ServiceUnavailable returns the error for a server that cannot answer now: it is shutting down, too busy, or cannot
// reach its database.
func ServiceUnavailable(message string) *Error {
	return &Error{Code: CodeUnavailable, Status: 503, Message: message}
}

// ConditionalCheckFailed returns a ConditionalCheckFailedException. Item is nil unless the request asked for it.
func ConditionalCheckFailed(item attr.Item) *Error {
	e := NewError(CodeConditionFailed, "The conditional request failed")
	e.Item = item
	return e
}

// TransactionCanceled returns a TransactionCanceledException. Reasons has one reason for each action. If an action
// would have succeeded, its reason has the code None. The message lists the codes. Source: semantics of
// TransactWriteItems, conformance error-messages/transactWriteItems.
func TransactionCanceled(reasons []CancellationReason) *Error {
	codes := make([]string, len(reasons))
	for i, r := range reasons {
		if codes[i] = "None"; r.Code != nil {
			codes[i] = *r.Code
		}
	}
	e := NewError(
		"TransactionCanceledException",
		"Transaction cancelled, please refer cancellation reasons for specific reasons ["+strings.Join(codes, ", ")+"]",
	)
	e.Reasons = reasons
	return e
}

// Prefixes of exception names on the wire. Source: dynalite test/helpers.js.
const (
	prefixService  = "com.amazonaws.dynamodb.v20120810#"
	prefixCoral    = "com.amazon.coral.service#"
	prefixValidate = "com.amazon.coral.validate#"
	prefixThrottle = "com.amazon.coral.availability#"
)

// Type returns the full name of the exception, as sent on the wire.
func (e *Error) Type() string {
	switch e.Code {
	case CodeValidation:
		return prefixValidate + e.Code
	case CodeSerialization, CodeUnknownOperation, CodeAccessDenied, CodeUnavailable,
		"MissingAuthenticationTokenException", "InvalidSignatureException", "IncompleteSignatureException",
		"UnrecognizedClientException", "RequestExpired", "InternalFailure":
		return prefixCoral + e.Code
	case "ThrottlingException":
		return prefixThrottle + e.Code
	}
	return prefixService + e.Code
}

// capital reports whether the JSON name of the text is Message rather than message. An error for a failed condition
// has message; source: a capture of August 2026.
func (e *Error) capital() bool {
	switch e.Code {
	case CodeSerialization, CodeAccessDenied,
		"IdempotentParameterMismatchException", "TransactionCanceledException", "TransactionInProgressException":
		return !e.lowerCase
	}
	return false
}

// AppendJSON appends the error as a response body.
func (e *Error) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"__type":`...)
	dst = appendString(dst, e.Type())
	if e.Message != "" {
		name := `"message":`
		if e.capital() {
			name = `"Message":`
		}
		dst = appendString(appendName(dst, name), e.Message)
	}

	if e.Item != nil {
		dst = e.Item.AppendJSON(appendName(dst, `"Item":`))
	}
	if e.Reasons != nil {
		dst = AppendJSON(appendName(dst, `"CancellationReasons":`), e.Reasons)
	}
	if e.Throttling != nil {
		name := `"ThrottlingReasons":`
		if e.Code == "ThrottlingException" {
			name = `"throttlingReasons":`
		}
		dst = AppendJSON(appendName(dst, name), e.Throttling)
	}
	return append(dst, '}')
}
