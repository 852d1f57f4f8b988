package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/operation"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/awscli"
	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/terminal"
	"github.com/sortkey/sortkey/internal/wire"
)

// explainFlags are the flags of explain.
type explainFlags struct {
	app.SourceFlags
	values operation.Values
	asJSON bool
}

// question returns the request in the arguments.
func (f *explainFlags) question(
	ctx context.Context, env *app.Env, src *app.Source, args []string,
) (explain.Question, error) {
	switch {
	case f.values.Pattern != "" && len(args) > 0:
		return explain.Question{}, app.Usage("explain", "give a request or --pattern, not both")
	case f.values.Pattern != "":
		return f.as(patternRequest(src.Model, f.values.Pattern))
	case len(args) == 0:
		return explain.Question{}, app.Usage("explain", "explain needs a request")
	case args[0] == "aws":
		c, err := cliParser.ParseWords(args)
		return f.fromCommandLine(env, c, err)
	case len(args) == 1 && len(f.values.Partition) == 0:
		arg := strings.TrimSpace(args[0])
		if strings.HasPrefix(arg, "{") || awscli.Is(arg) || explain.IsSelect(arg) {
			return f.fromText(env, "the request", []byte(arg))
		}
		data, err := readInput(env, args[0])
		if err == nil {
			return f.fromText(env, args[0], data)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return explain.Question{}, advice.New("", "cannot read %s: %v", args[0], err)
		}
	}
	return f.as(f.byFlags(ctx, env, src, args))
}

// as returns a question with the operation of --operation, if there is one.
func (f *explainFlags) as(q explain.Question, err error) (explain.Question, error) {
	if err != nil || f.values.Operation == "" {
		return q, err
	}
	return parseRequest("the request", f.values.Operation, q.JSON())
}

// patternRequest returns the request of an access pattern of the model.
func patternRequest(m *model.Model, name string) (q explain.Question, err error) {
	if m == nil {
		return q, app.Usage("explain", "--pattern needs --model")
	}
	p, err := app.Pattern(m, name)
	if err != nil {
		return q, err
	}
	if p.Request != nil {
		return explain.Parse(p.Operation, p.Request)
	}
	if q.Input, err = compile.Pattern(m, p); err != nil {
		return q, app.NotOneRequest(p, err)
	}
	q.Text = compile.JSON(q.Input)
	return q, nil
}

// byFlags returns the request that TABLE, PARTITION, SORT-CONDITION and the flags
// describe.
func (f *explainFlags) byFlags(
	ctx context.Context, env *app.Env, src *app.Source, args []string,
) (q explain.Question, err error) {
	if len(args) == 1 && len(f.values.Partition) == 0 {
		return q, app.Usage("explain", "explain needs a request, or a partition of %s", args[0])
	}
	v := &f.values
	if err := operation.Explain.Place(v, args); err != nil {
		return q, err
	}
	if err := operation.Explain.Parse(v); err != nil {
		return q, err
	}
	t, err := describe(ctx, src, v.Table)
	if err != nil {
		return q, err
	}
	in, err := v.Input(t)
	if err != nil {
		return q, operation.Explain.Instead(ctx, src.Target, remedies(ctx, env, src, &f.SourceFlags), v, t, err)
	}
	return explain.Question{Input: in}, nil
}

// maxInput bounds the size of a request in a file, in bytes: the service rejects
// longer bodies.
const maxInput = 16 << 20

// readInput reads a file, or standard input for "-".
func readInput(env *app.Env, name string) ([]byte, error) {
	in := env.Stdin
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		in = file
	}
	data, err := io.ReadAll(io.LimitReader(in, maxInput+1))
	if err == nil && len(data) > maxInput {
		err = fmt.Errorf("longer than %d MB", maxInput>>20)
	}
	return data, err
}

// fromText returns the request in a text: JSON, a line of the AWS CLI or a SELECT.
func (f *explainFlags) fromText(env *app.Env, name string, data []byte) (q explain.Question, err error) {
	data = bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
	line := string(data)
	switch {
	case explain.IsSelect(line):
		q.Input = &wire.ExecuteStatementInput{Statement: &line}
		q.Text, err = json.Marshal(map[string]string{"Statement": line})
		return f.as(q, err)
	case line == "" || data[0] == '{':
		return parseRequest(name, f.values.Operation, data)
	case awscli.Is(line):
		c, err := cliParser.Parse(line)
		return f.fromCommandLine(env, c, err)
	}
	return q, app.UsageError(
		`write {"TableName": …}, aws dynamodb query … or SELECT … FROM …`,
		"%s is not JSON, a line of the AWS CLI or a SELECT", name,
	)
}

var cliParser = &awscli.Parser{ReadFile: os.ReadFile}

// fromCommandLine returns the request in a line of the AWS CLI, and prints notes about
// ignored options.
func (f *explainFlags) fromCommandLine(env *app.Env, c *awscli.Command, err error) (explain.Question, error) {
	if err != nil {
		return explain.Question{}, app.UsageError(cmp.Or(advice.Of(err), "see sortkey explain --help"), "%v", err)
	}
	for _, note := range c.Notes {
		fmt.Fprintf(env.Stderr, "sortkey: %s\n", note)
	}
	return parseRequest("the request", cmp.Or(f.values.Operation, c.Operation), c.Request)
}

// parseRequest returns the request in a text that is JSON. Name is that of the text.
func parseRequest(name, op string, data []byte) (explain.Question, error) {
	q, err := explain.Parse(op, data)
	if e, ok := errors.AsType[*explain.OperationError](err); ok {
		return q, app.Usage(
			"explain", "cannot explain %s, only query, scan, get-item and the SELECT of execute-statement", e.Operation,
		)
	}
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		place := terminal.Place(string(data), int(e.Offset)-1)
		return q, app.UsageError("", "%s is not valid JSON: %v (%s)", name, e, place)
	}
	return q, err
}
