package app_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/internal/design/advice"
)

// TestReport holds that an error with text of a file or a server does not control the terminal.
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
