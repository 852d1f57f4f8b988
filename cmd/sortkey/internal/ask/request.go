package ask

import (
	"cmp"
	"encoding/json"
	"errors"
	"strings"

	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/terminal"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
)

// MaxRequest bounds the request that a page of the console reads, in bytes. A condition has at most 4 KB and a key 3
// KB, but escapes can make them longer.
const MaxRequest = 64 << 10

// A RequestReader parses whole requests. The zero value suits the requests that pages of the console send.
type RequestReader struct {
	// Name is what error messages call the request. Default: "the request".
	Name string
	// Operation is the operation of the request, such as "query". Default: Read finds it in the request.
	Operation string
}

// Read parses a request, which is a SELECT statement or JSON.
func (r *RequestReader) Read(line string) (q explain.Question, err error) {
	line = strings.TrimSpace(strings.TrimPrefix(line, "\ufeff"))
	switch {
	case explain.IsSelect(line):
		q.Input = &wire.ExecuteStatementInput{Statement: &line}
		if q.Text, err = text.JSON(map[string]string{"Statement": line}); err != nil || r.Operation == "" {
			return q, err
		}
		return r.json(r.Operation, q.Text)
	case line == "", line[0] == '{':
		return r.json(r.Operation, []byte(line))
	}
	return q, UsageError(
		`write {"TableName": …} or SELECT … FROM …`, "%s is neither JSON nor a SELECT", r.name(),
	)
}

// As parses q again as a request of r.Operation, if r.Operation is set. If err is not nil, As returns q and err
// unchanged, so a caller can pass it the results of another function.
func (r *RequestReader) As(q explain.Question, err error) (explain.Question, error) {
	if err != nil || r.Operation == "" {
		return q, err
	}
	return r.json(r.Operation, q.JSON())
}

func (r *RequestReader) name() string { return cmp.Or(r.Name, "the request") }

func (r *RequestReader) json(operation string, body []byte) (explain.Question, error) {
	q, err := explain.Parse(operation, body)
	if e, ok := errors.AsType[*explain.OperationError](err); ok {
		return q, UsageError("explain a Query, Scan, GetItem or SELECT", "cannot explain %s", e.Operation)
	}
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		place := terminal.Place(string(body), int(e.Offset)-1)
		return q, UsageError("correct the JSON there", "%s is not valid JSON: %v (%s)", r.name(), e, place)
	}
	return q, err
}
