package ask

import (
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

// ReadRequest parses line, which is a whole request: a SELECT statement or JSON. Error messages call the request by
// name.
func ReadRequest(name, line string) (q explain.Question, err error) {
	line = strings.TrimSpace(strings.TrimPrefix(line, "\ufeff"))
	switch {
	case explain.IsSelect(line):
		q.Input = &wire.ExecuteStatementInput{Statement: &line}
		q.Text, err = text.JSON(map[string]string{"Statement": line})
		return q, err
	case line != "" && line[0] != '{':
		return q, UsageError(`write {"TableName": …} or SELECT … FROM …`, "%s is neither JSON nor a SELECT", name)
	}

	q, err = explain.Parse("", []byte(line))
	if e, ok := errors.AsType[*explain.OperationError](err); ok {
		return q, UsageError("explain a Query, Scan, GetItem or SELECT", "cannot explain %s", e.Operation)
	}
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		place := terminal.Place(line, int(e.Offset)-1)
		return q, UsageError("correct the JSON there", "%s is not valid JSON: %v (%s)", name, e, place)
	}
	return q, err
}
