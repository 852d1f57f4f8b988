package ask

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/awscli"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
)

// MaxRequest is the number of bytes of the longest request that a page reads: values in it
// may be escaped, but a condition has at most 4 KB and a key 3 KB.
const MaxRequest = 64 << 10

// Request returns the request in a text: a SELECT, a line of the AWS CLI, or JSON. Open reads
// a file that a line of the AWS CLI names; if it is nil, files are refused.
func Request(line string, open func(name string) ([]byte, error)) (q explain.Question, err error) {
	line = strings.TrimSpace(line)
	operation, body := "", []byte(line)
	switch {
	case explain.IsSelect(line):
		q.Input = &wire.ExecuteStatementInput{Statement: &line}
		q.Text, err = text.JSON(map[string]string{"Statement": line})
		return q, err
	case awscli.Is(line):
		c, err := (&awscli.Parser{ReadFile: open}).Parse(line)
		if err != nil {
			return q, err
		}
		operation, body = c.Operation, c.Request
	case !strings.HasPrefix(line, "{"):
		return q, advice.New(
			`write {"TableName": …}, aws dynamodb query … or SELECT … FROM …`,
			"the request is not JSON, a line of the AWS CLI or a SELECT",
		)
	}
	q, err = explain.Parse(operation, body)
	if e, ok := errors.AsType[*explain.OperationError](err); ok {
		return q, advice.New("explain a Query, Scan, GetItem or SELECT", "cannot explain %s", e.Operation)
	}
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		return q, advice.New("correct the JSON there", "the request is not JSON: %v at byte %d", e, e.Offset)
	}
	return q, err
}
