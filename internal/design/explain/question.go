package explain

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/wire"
)

// A Question is a request to explain.
type Question struct {
	// Input is the request: the input of a Query, Scan, GetItem or ExecuteStatement.
	Input wire.Request
	// Text is the request as its author wrote it, for the report. Default: its JSON.
	Text json.RawMessage
	// Note says how the request came about, for the notes of the report. It may be "".
	Note string

	// If the service refuses Text because it does not have the shape of its operation,
	// Input is what the text stands for, or a part of it, or nil.
	operation string
	refused   *ServiceError
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

// Error says which operations can be explained.
func (e *OperationError) Error() string {
	return fmt.Sprintf(
		"cannot explain %q: only Query, Scan, GetItem and the SELECT of an ExecuteStatement", e.Operation,
	)
}

// operationOf returns the name of an operation from a spelling such as query or
// get-item, and whether it can be explained.
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

// Parse returns the question in a request that a person wrote as JSON. Op is its
// operation, in any spelling; if it is empty, the member "operation" has it, or else the
// other members tell. A text that the service refuses because it does not have the shape
// of the operation is a question too. The error is a [*OperationError], or wraps the
// [*json.SyntaxError] of a text that is not JSON.
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
	var ok bool
	if q.operation, ok = operationOf(op); !ok {
		return q, &OperationError{op}
	}

	in, err := wire.DecodeRequest(q.operation, q.Text)
	if e, ok := errors.AsType[*wire.Error](err); ok {
		q.refused = refused(e)
		q.Input = placeOf(q.Text)
		return q, nil
	}
	q.Input = in
	return q, err
}

// placeOf returns a request of the table and the index that a text names, if they can be read.
func placeOf(body []byte) wire.Request {
	var place struct{ TableName, IndexName *string }
	_ = json.Unmarshal(body, &place) // what can be read
	return &wire.QueryInput{TableName: place.TableName, IndexName: place.IndexName}
}

// detect returns the operation of a request with these members, and its body without
// the member that names it.
func detect(members map[string]json.RawMessage, body json.RawMessage) (op string, _ json.RawMessage, err error) {
	for _, member := range []string{"operation", "Operation"} {
		if raw, ok := members[member]; ok && json.Unmarshal(raw, &op) == nil {
			delete(members, member)
			body, err = json.Marshal(members)
			return op, body, err
		}
	}
	has := func(names ...string) bool {
		return slices.ContainsFunc(names, func(name string) bool { _, ok := members[name]; return ok })
	}
	switch {
	case has("Statement"):
		return opSelect, body, nil
	case has("KeyConditionExpression", "KeyConditions", "ScanIndexForward"):
		return opQuery, body, nil
	case has("Key"):
		return opGetItem, body, nil
	case has("Segment", "ScanFilter", "FilterExpression"):
		return opScan, body, nil
	}
	return opQuery, body, nil
}

// JSON returns the request as its author wrote it, or else its JSON.
func (q *Question) JSON() json.RawMessage {
	if q.Text == nil && q.Input != nil {
		return q.Input.AppendJSON(nil)
	}
	return q.Text
}
