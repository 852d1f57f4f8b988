package expr

import "strings"

// A Param is the request parameter of an expression or a legacy condition.
type Param string

// The request parameters that this package parses.
const (
	ConditionExpression    Param = "ConditionExpression"
	FilterExpression       Param = "FilterExpression"
	KeyConditionExpression Param = "KeyConditionExpression"
	ProjectionExpression   Param = "ProjectionExpression"
	UpdateExpression       Param = "UpdateExpression"

	ExpressionAttributeNames  Param = "ExpressionAttributeNames"
	ExpressionAttributeValues Param = "ExpressionAttributeValues"

	KeyConditions Param = "KeyConditions"
	QueryFilter   Param = "QueryFilter"
	ScanFilter    Param = "ScanFilter"
	ExpectedParam Param = "Expected"

	AttributeUpdates Param = "AttributeUpdates"
)

// isExpression reports whether the parameter is the text of an expression.
func (p Param) isExpression() bool { return strings.HasSuffix(string(p), "Expression") }

// An Error describes an expression or legacy condition that the service refuses
// with a ValidationException.
type Error struct {
	// Param is the parameter at fault. It is empty for errors that depend on
	// the item.
	Param Param
	// Msg is the service's message without the prefix that [Error.Error] adds,
	// such as "Invalid FilterExpression: ".
	Msg string
	// Pos is the byte offset of the fault in the expression.
	Pos int
	// Near is the text at Pos: the token and its neighbours for a syntax error,
	// otherwise the token.
	Near string
}

// Refusal marks the error as an answer to a request.
func (e *Error) Refusal() {}

// Error returns the text of the service's ValidationException.
func (e *Error) Error() string {
	if e.Param.isExpression() {
		return "Invalid " + string(e.Param) + ": " + e.Msg
	}
	return e.Msg
}
