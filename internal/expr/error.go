package expr

import (
	"fmt"
	"strings"
)

// A Param is the name of a request parameter, such as "FilterExpression", in an [Error].
type Param = string

// The parameters of requests that contain expressions, names or values.
const (
	ConditionExpression    Param = "ConditionExpression"
	FilterExpression       Param = "FilterExpression"
	KeyConditionExpression Param = "KeyConditionExpression"
	ProjectionExpression   Param = "ProjectionExpression"
	UpdateExpression       Param = "UpdateExpression"

	ExpressionAttributeNames  Param = "ExpressionAttributeNames"
	ExpressionAttributeValues Param = "ExpressionAttributeValues"
)

// isExpression reports whether the parameter is the text of an expression.
func isExpression(p Param) bool { return strings.HasSuffix(p, "Expression") }

// An Error says why the service refuses an expression, with a ValidationException. Its fields say where in the
// expression the fault lies.
type Error struct {
	// Param is the parameter of the request that contains the fault, such as "UpdateExpression" or
	// "ExpressionAttributeNames". It is empty for errors that depend on the item.
	Param Param
	// Message is the service's message without the prefix that [Error.Error] adds,
	// such as "Invalid FilterExpression: ".
	Message string
	// Offset is the byte offset of the fault in the expression.
	Offset int
	// Near is the text at Offset: the token and its neighbours for a syntax error,
	// otherwise the token.
	Near string
}

// Error returns the text of the service's ValidationException.
func (e *Error) Error() string {
	if isExpression(e.Param) {
		return "Invalid " + e.Param + ": " + e.Message
	}
	return e.Message
}

// refuse returns an error that has no place in the expression.
func refuse(p Param, format string, args ...any) error {
	return &Error{Param: p, Message: fmt.Sprintf(format, args...)}
}

// quote adds quotation marks without escaping, as the service's messages do.
func quote(s string) string { return `"` + s + `"` }
