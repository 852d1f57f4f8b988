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
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/advice"
	"github.com/sortkey/sortkey/internal/design/awscli"
	report "github.com/sortkey/sortkey/internal/design/explain"
)

// maxInput bounds the size of a request in a file, in bytes: the service rejects
// longer bodies.
const maxInput = 16 << 20

// explainRequest returns the request in the arguments.
func (a *App) explainRequest(
	ctx context.Context, src *explainSource, args []string, f *explainFlags,
) (op string, request json.RawMessage, err error) {
	if f.pattern != "" {
		if len(args) > 0 {
			return "", nil, usage("explain", "give a request or --pattern, not both")
		}
		return src.pattern(f.pattern)
	}
	if len(args) == 0 {
		return "", nil, usage("explain", "explain needs a request")
	}
	if args[0] == "aws" {
		c, err := cliParser.ParseWords(args)
		return a.command(c, err)
	}
	if len(args) == 1 && len(f.pk) == 0 {
		text := strings.TrimSpace(args[0])
		if strings.HasPrefix(text, "{") || awscli.Is(text) || report.IsSelect(text) {
			return a.readRequest("the request", []byte(text))
		}
		data, err := readInput(args[0])
		if !errors.Is(err, fs.ErrNotExist) {
			if err != nil {
				return "", nil, advice.New("", "cannot read %s: %v", args[0], err)
			}
			return a.readRequest(args[0], data)
		}
	}
	return f.byFlags(ctx, src, args)
}

// readInput reads a file, or standard input for "-".
func readInput(name string) ([]byte, error) {
	in := io.Reader(os.Stdin)
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

var cliParser = &awscli.Parser{ReadFile: os.ReadFile}

// command returns the request in a line of the AWS CLI, and prints notes about
// ignored options.
func (a *App) command(c *awscli.Command, err error) (string, json.RawMessage, error) {
	if err != nil {
		return "", nil, usageError(cmp.Or(advice.Of(err), "see sortkey explain --help"), "%v", err)
	}
	for _, note := range c.Notes {
		fmt.Fprintf(a.Stderr, "sortkey: %s\n", note)
	}
	return c.Operation, c.Request, nil
}

// readRequest reads JSON, a line of the AWS CLI or a SELECT. The operation of JSON
// is in its member "operation", or is detected by the other members.
func (a *App) readRequest(name string, data []byte) (op string, request json.RawMessage, err error) {
	data = bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
	if report.IsSelect(string(data)) {
		request, err = json.Marshal(map[string]string{"Statement": string(data)})
		return "ExecuteStatement", request, err
	}
	if len(data) > 0 && data[0] != '{' {
		if !awscli.Is(string(data)) {
			return "", nil, usageError(
				`write {"TableName": …}, aws dynamodb query … or SELECT … FROM …`,
				"%s is not JSON, a line of the AWS CLI or a SELECT", name,
			)
		}
		c, err := cliParser.Parse(string(data))
		return a.command(c, err)
	}
	var m map[string]json.RawMessage
	if err := json.Unmarshal(data, &m); err != nil {
		return "", nil, usageError("", "%s is not valid JSON: %v%s", name, err, nearby(data, err))
	}
	for _, member := range []string{"operation", "Operation"} {
		if raw, ok := m[member]; ok && json.Unmarshal(raw, &op) == nil {
			delete(m, member)
			request, err = json.Marshal(m)
			return op, request, err
		}
	}
	has := func(names ...string) bool {
		return slices.ContainsFunc(names, func(name string) bool { _, ok := m[name]; return ok })
	}
	op = "Query"
	switch {
	case has("Statement"):
		op = "ExecuteStatement"
	case has("KeyConditionExpression", "KeyConditions", "ScanIndexForward"):
	case has("Key"):
		op = "GetItem"
	case has("Segment", "ScanFilter", "FilterExpression"):
		op = "Scan"
	}
	return op, data, nil
}

// nearby returns the place of a syntax error in words.
func nearby(data []byte, err error) string {
	syntax, ok := errors.AsType[*json.SyntaxError](err)
	if !ok {
		return ""
	}
	at := min(max(int(syntax.Offset)-1, 0), len(data))
	line := 1 + bytes.Count(data[:at], []byte("\n"))
	column := at - bytes.LastIndexByte(data[:at], '\n')
	return fmt.Sprintf(" (line %d, column %d)", line, column)
}
