package expr

import "strings"

// A Param is the request parameter that an expression or a legacy condition
// came in.
type Param string

// The parameters of requests that this package reads.
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

// An Error is an expression, or a legacy condition, that the service refuses
// with a ValidationException.
type Error struct {
	// Param is the parameter at fault. It is empty for what only an item can
	// show to be wrong.
	Param Param
	// Msg says what is wrong, in the service's words and without the
	// "Invalid FilterExpression: " that [Error.Error] puts before it.
	Msg string
	// Pos is the place of the fault, a byte offset into the expression.
	Pos int
	// Near is the text at Pos: for a syntax error the token and its
	// neighbours, otherwise the token.
	Near string
}

// Error returns the text of the service's ValidationException.
func (e *Error) Error() string {
	if strings.HasSuffix(string(e.Param), "Expression") {
		return "Invalid " + string(e.Param) + ": " + e.Msg
	}
	return e.Msg
}
