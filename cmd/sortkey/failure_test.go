package main

import (
	"bytes"
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/model"
)

// TestReport tests that text of a file or a server in an error cannot control the terminal.
func TestReport(t *testing.T) {
	var b bytes.Buffer
	env := &app.Env{Stderr: &b}
	require.Equal(t, 1, env.Report(advice.New("write \x1b]0;x\a", "bad \x1b[31m\nline 2")))
	require.Equal(t, "sortkey: bad \\u{001B}[31m\nline 2\nhint: write \\u{001B}]0;x\\u{0007}\n", b.String())

	b.Reset()
	require.Equal(t, 0, env.Report(nil))
	require.Equal(t, 1, env.Report(errors.New("plain")))
	require.Equal(t, "sortkey: plain\n", b.String())
}

// TestExplainBounds tests that an error is bounded, although it repeats very long texts or very many of them.
func TestExplainBounds(t *testing.T) {
	long := strings.Repeat("(", 200_000)
	many := make(model.Errors, 10_000)
	for i := range many {
		many[i] = &model.ParseError{Msg: long[:5000]}
	}
	for _, err := range []error{
		errors.New(long), advice.New(long, "%s", long), app.UsageError(long, "%s", long), many,
		&url.Error{URL: long, Err: errors.New(long)},
		&smithy.GenericAPIError{Code: "ValidationException", Message: long},
	} {
		e := app.Explain(err)
		if len(e.Msg) > 80_000 || len(e.Advice) > 80_000 {
			t.Errorf("%T: a message of %d bytes, advice of %d", err, len(e.Msg), len(e.Advice))
		}
		for line := range strings.Lines(e.Msg + "\n" + e.Advice) {
			if len(line) > advice.MaxText+4 {
				t.Errorf("%T: a line of %d bytes: %s", err, len(line), line[:200])
			}
		}
	}
}
