package ask

import (
	"cmp"
	"encoding/json"
	"errors"
	"strings"

	"github.com/sortkey/sortkey/internal/design/awscli"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/terminal"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
)

// MaxRequest is the number of bytes of the longest request that a page reads: values in it
// may be escaped, but a condition has at most 4 KB and a key 3 KB.
const MaxRequest = 64 << 10

// A RequestReader reads whole requests. The zero value reads what a page sends.
type RequestReader struct {
	// Name is what errors call the text. Default: the request.
	Name string
	// Operation is that of the request. Default: detected.
	Operation string
	// Open reads a file that a line of the AWS CLI names. If it is nil, files are refused.
	Open func(name string) ([]byte, error)
	// Note gets a sentence for each option of a line that is ignored. It may be nil.
	Note func(sentence string)
}

// Read returns the request in a text: a SELECT, a line of the AWS CLI, or JSON.
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
	case awscli.Is(line):
		return r.line((&awscli.Parser{ReadFile: r.Open}).Parse(line))
	}
	return q, UsageError(
		`write {"TableName": …}, aws dynamodb query … or SELECT … FROM …`,
		"%s is not JSON, a line of the AWS CLI or a SELECT", r.name(),
	)
}

// Words returns the request in the words of a line of the AWS CLI.
func (r *RequestReader) Words(words []string) (explain.Question, error) {
	return r.line((&awscli.Parser{ReadFile: r.Open}).ParseWords(words))
}

// As returns a request as one of r.Operation, if there is one.
func (r *RequestReader) As(q explain.Question, err error) (explain.Question, error) {
	if err != nil || r.Operation == "" {
		return q, err
	}
	return r.json(r.Operation, q.JSON())
}

func (r *RequestReader) name() string { return cmp.Or(r.Name, "the request") }

func (r *RequestReader) line(c *awscli.Command, err error) (explain.Question, error) {
	if err != nil {
		return explain.Question{}, usage(err)
	}
	for _, note := range c.Notes {
		if r.Note != nil {
			r.Note(note)
		}
	}
	return r.json(cmp.Or(r.Operation, c.Operation), c.Request)
}

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
