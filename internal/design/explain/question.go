package explain

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/wire"
)

// A Question is a request to explain.
type Question struct {
	// Input is the request: the input of a Query, Scan, GetItem or ExecuteStatement.
	Input wire.Request
	// Text is the request as its author wrote it. The report shows Text. Default: the JSON of Input.
	Text json.RawMessage
	// Spelled means that the person wrote names and values in place of placeholders. An error of the service then
	// also has them in place of placeholders.
	Spelled bool
	// Note says where the request comes from, or is "". Run puts it first among the notes of the report.
	Note string
}

// The operations that can be explained.
const (
	opQuery   = "Query"
	opScan    = "Scan"
	opGetItem = "GetItem"
	opSelect  = "ExecuteStatement" // of a PartiQL SELECT
)

// An OperationError names an operation that cannot be explained.
type OperationError struct{ Operation string }

// Error lists the operations that can be explained.
func (e *OperationError) Error() string {
	return fmt.Sprintf(
		"cannot explain %s: only Query, Scan, GetItem and the SELECT of an ExecuteStatement", e.Operation,
	)
}

// operationOf returns the API's name of an operation for a spelling such as query or get-item. It returns false if
// the operation cannot be explained.
func operationOf(op string) (string, bool) {
	switch strings.ToLower(strings.ReplaceAll(op, "-", "")) {
	case "query":
		return opQuery, true
	case "scan":
		return opScan, true
	case "getitem", "get":
		return opGetItem, true
	case "executestatement", "select":
		return opSelect, true
	}
	return op, false
}

// Parse returns the question for a request that a person wrote as JSON. op is the operation in any spelling. If op is
// "", Parse takes the operation from the member "operation". Without that member, it infers the operation from the
// other members.
//
// If body does not have the form of its operation, Parse returns the [*ServiceError] with which the service would
// refuse the request. If the operation cannot be explained, the error is an [*OperationError]. If body is not JSON,
// the error wraps a [*json.SyntaxError].
func Parse(op string, body json.RawMessage) (Question, error) {
	q, err := parse(op, body)
	return q, advice.Bound(err)
}

func parse(op string, body json.RawMessage) (Question, error) {
	q := Question{Text: body}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil {
		return q, fmt.Errorf("the request is not a JSON object: %w", err)
	}
	if members == nil {
		return q, errors.New("the request is null instead of a JSON object")
	}
	if op == "" {
		var err error
		if op, q.Text, err = detect(members, body); err != nil {
			return q, err
		}
	}
	name, ok := operationOf(op)
	if !ok {
		return q, &OperationError{op}
	}
	var err error
	q.Input, err = wire.DecodeRequest(name, q.Text)
	if e, ok := errors.AsType[*wire.Error](err); ok {
		return q, refused(e)
	}
	return q, err
}

// detect returns the operation of a request, and the body without the member that names the operation. If no member
// names it, detect infers the operation from the other members.
func detect(members map[string]json.RawMessage, body json.RawMessage) (op string, _ json.RawMessage, err error) {
	for _, member := range []string{"operation", "Operation"} {
		if raw, ok := members[member]; ok {
			if json.Unmarshal(raw, &op) != nil || op == "" {
				return "", nil, advice.New(
					`write its name, such as "query"`, "the member %s is %s, not the name of an operation", member, raw,
				)
			}
			delete(members, member)
			body, err = json.Marshal(members)
			return op, body, err
		}
	}
	for _, e := range evidence {
		if _, ok := members[e.member]; ok {
			return e.op, body, nil
		}
	}
	return "", nil, advice.New(
		`write {"TableName": …}, or name the operation in a member "operation"`, "the request names no table",
	)
}

// evidence lists the members from which detect infers the operation of a request. The first member that the request
// has decides. Operations that cannot be explained are listed so that they are not taken for others.
var evidence = []struct{ member, op string }{
	{"Statement", opSelect},
	{"Statements", "BatchExecuteStatement"},
	{"TransactStatements", "ExecuteTransaction"},
	{"RequestItems", "BatchGetItem or BatchWriteItem"},
	{"TransactItems", "TransactGetItems or TransactWriteItems"},
	{"Item", "PutItem"},
	{"UpdateExpression", "UpdateItem"},
	{"AttributeUpdates", "UpdateItem"},
	{"ConditionExpression", "DeleteItem"},
	{"KeyConditionExpression", opQuery},
	{"KeyConditions", opQuery},
	{"ScanIndexForward", opQuery},
	{"Key", opGetItem},
	{"Segment", opScan},
	{"ScanFilter", opScan},
	{"FilterExpression", opScan},
	{"TableName", opQuery},
}

// JSON returns Text, or the JSON of Input if Text is nil.
func (q *Question) JSON() json.RawMessage {
	if q.Text == nil && q.Input != nil {
		return wire.AppendJSON(nil, q.Input)
	}
	return q.Text
}
