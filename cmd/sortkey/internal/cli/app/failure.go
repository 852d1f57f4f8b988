package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"strings"
	"syscall"

	"github.com/aws/smithy-go"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/ask"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/models"
	"github.com/sortkey/sortkey/design/examples"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

// The exit codes.
const (
	exitOK     = 0
	exitFailed = 1 // the command failed, or found a wrong answer
	exitUsage  = 2 // the command line is wrong
)

// Report prints the error of a command, which may be nil, and returns the exit code.
func (e *Env) Report(err error) int {
	if err == nil {
		return exitOK
	}

	explained := Explain(err) // the error may quote files and servers
	if !errors.Is(err, ErrWrongAnswers) {
		fmt.Fprintf(e.Stderr, "sortkey: %s\n", text.VisibleLines(explained.Msg))
	}
	if explained.Advice != "" {
		fmt.Fprintf(e.Stderr, "hint: %s\n", text.VisibleLines(explained.Advice))
	}
	if errors.Is(err, ask.ErrUsage) {
		return exitUsage
	}
	return exitFailed
}

// ErrWrongAnswers is the error of a command that has already printed which answers are wrong.
var ErrWrongAnswers = errors.New("wrong answers")

// Usage returns a usage error. Its advice is to read the help of the command.
func Usage(command, format string, args ...any) error {
	help := "see sortkey --help"
	if command != "" {
		help = "see sortkey " + command + " --help"
	}
	return UsageError(help, format, args...)
}

// UsageError returns an error about a wrong command line. Its advice is help.
func UsageError(help, format string, args ...any) error {
	return ask.UsageError(help, format, args...)
}

// maxMessage bounds the text of an error that a command prints, in bytes. [advice.MaxText] bounds each line of the
// text.
const maxMessage = 64 << 10

// Explain adds advice to an error of any kind. It also bounds the length of the error's text, which may quote files,
// command lines and servers.
func Explain(err error) *advice.Error {
	e := explained(err)
	for _, s := range []*string{&e.Msg, &e.Advice} {
		lines := strings.Split(text.Clip(*s, maxMessage), "\n")
		for i, line := range lines {
			lines[i] = text.Clip(line, advice.MaxText)
		}
		*s = strings.Join(lines, "\n")
	}
	return e
}

func explained(err error) *advice.Error {
	if _, ok := errors.AsType[*advice.Error](err); ok {
		// Use the text of err, which also says where the error happened. The text of the advice.Error in the chain
		// does not.
		return &advice.Error{Msg: err.Error(), Advice: advice.Of(err), Err: err}
	}
	if list, ok := errors.AsType[model.Errors](err); ok && len(list) > 0 {
		return explained(ModelErrors(list[0].Pos.File, list))
	}
	if errors.Is(err, models.ErrNotFound) {
		return advice.New("the examples are: "+strings.Join(examples.Names(), ", "), "%v", err)
	}
	if api, ok := errors.AsType[explain.APIError](err); ok {
		return ExplainAPI(err, api)
	}
	if errors.Is(err, context.Canceled) {
		return advice.New("", "interrupted")
	}

	if u, ok := errors.AsType[*url.Error](err); ok {
		at := strings.TrimSuffix(u.URL, "/")
		if errors.Is(err, syscall.ECONNREFUSED) {
			return advice.New(
				"start a server with: sortkey serve — or name another with --endpoint, or read a model with --model",
				"no server is listening at %s", at,
			)
		}
		return advice.New(
			"check --endpoint; its default is AWS_ENDPOINT_URL_DYNAMODB or AWS_ENDPOINT_URL", "cannot reach %s: %v", at,
			RootCause(u.Err),
		)
	}

	if _, ok := errors.AsType[*smithy.DeserializationError](err); ok {
		return advice.New(
			"check --endpoint: it may be a server of another kind", "not a DynamoDB response: %v", RootCause(err),
		)
	}

	help := ""
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EFBIG), errors.Is(err, syscall.EDQUOT):
		help = "free disk space, or name a path on another disk"
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		help = "name a path that you can read and write"
	}
	return &advice.Error{Msg: err.Error(), Advice: help, Err: err}
}

// ModelErrors returns all errors of a model as a single error.
func ModelErrors(path string, list model.Errors) error {
	if len(list) == 1 {
		return &advice.Error{Msg: list[0].Error(), Advice: list[0].Hint, Err: list}
	}
	all := strings.ReplaceAll(list.Error(), "\n", "\n  ")
	return &advice.Error{Msg: fmt.Sprintf("%s has %d errors:\n  %s", path, len(list), all), Err: list}
}

// ExplainAPI returns an error with the code and message of the service's error api, and with advice. If err wraps
// api, ExplainAPI keeps the words of err that say where the error happened, and drops the words of the SDK.
func ExplainAPI(err error, api explain.APIError) *advice.Error {
	sent := error(api)
	if op, ok := errors.AsType[*smithy.OperationError](err); ok {
		sent = op
	}
	where, ok := strings.CutSuffix(err.Error(), sent.Error())
	if !ok {
		where = ""
	}
	h := advice.New("", "%s%s: %s", where, api.ErrorCode(), api.ErrorMessage())
	switch api.ErrorCode() {
	case "UnrecognizedClientException", "InvalidSignatureException", "MissingAuthenticationTokenException",
		"IncompleteSignatureException", "SignatureDoesNotMatch", "AccessDeniedException":
		h.Advice = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY to credentials that the server accepts"
	case "ResourceInUseException":
		h.Advice = "a table with that name already exists"
	}
	if api.ErrorMessage() == "" {
		h.Msg = strings.TrimSuffix(h.Msg, ": ")
	}
	return h
}

// RootCause returns the cause of a network error. For another error it returns the innermost error that err wraps,
// because the errors around that only name layers of the client.
func RootCause(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Err
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return dns
	}
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}
