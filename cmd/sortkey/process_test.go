package main

import (
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/internal/tests/cmdtest"
)

// commandEnv is the environment variable that makes the test binary run as the command.
const commandEnv = "SORTKEY_TEST_COMMAND"

// A process runs the command.
type process struct{ *cmdtest.Process }

// command returns the command with arguments.
func command(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), commandEnv+"=1")
	return cmd
}

// start starts a command and returns at once.
func start(t testing.TB, args ...string) *process {
	t.Helper()
	return &process{cmdtest.Start(t, command(t, args...))}
}

// serveCommand returns the command that starts a server on a free port.
func serveCommand(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	return command(t, append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)...)
}

// serve starts a server and waits until it is ready.
func serve(t testing.TB, args ...string) *process {
	t.Helper()
	return &process{cmdtest.Serve(t, serveCommand(t, args...))}
}

// run runs a command, which must succeed, and returns its standard output.
func run(t testing.TB, args ...string) string {
	t.Helper()
	p := start(t, args...)
	require.NoError(t, p.Wait(t), "sortkey %s: %s", strings.Join(args, " "), &p.Stderr)
	return p.Stdout.String()
}

// client returns a client of the process with its own connections.
func (p *process) client(t testing.TB, optFns ...func(*dynamodb.Options)) *dynamodb.Client {
	own := func(o *dynamodb.Options) { o.HTTPClient = app.HTTPClient{Next: o.HTTPClient} }
	return p.Client(t, append([]func(*dynamodb.Options){own}, optFns...)...)
}

// get returns the body at a URL.
func get(t testing.TB, url string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, url, nil)
	require.NoError(t, err)
	res, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Equal(t, 200, res.StatusCode, "%s: %s", url, body)
	return string(body)
}
