// Package killtest_test runs the command in a process of its own and stops or kills
// it.
package killtest_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli"
)

// commandEnv makes the test binary run the command.
const commandEnv = "SORTKEY_TEST_COMMAND"

// patience is the time in which a process must react.
const patience = 2 * time.Minute

func TestMain(m *testing.M) {
	if os.Getenv(commandEnv) != "" {
		os.Exit(cli.Main(os.Args[1:], cli.System()))
	}
	os.Exit(m.Run())
}

// A process runs the command.
type process struct {
	cmd    *exec.Cmd
	url    string // of a server; "" if it ended before it was ready
	stdout buffer // complete when it has ended
	stderr buffer
	done   chan struct{} // closed when it has ended
	err    error         // set before done is closed
}

type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// spawn starts a server and returns at once. First receives its first line of output,
// or "" if there is none.
func spawn(t testing.TB, args ...string) (p *process, first <-chan string) {
	t.Helper()
	return start(t, append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)...)
}

// start is spawn for any command.
func start(t testing.TB, args ...string) (p *process, first <-chan string) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	p = &process{cmd: exec.Command(self, args...), done: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), commandEnv+"=1")
	p.cmd.Stderr = &p.stderr
	out, err := p.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, p.cmd.Start())
	line := make(chan string, 1)
	go func() {
		defer close(p.done)
		r := bufio.NewReader(out)
		text, _ := r.ReadString('\n')
		line <- text
		_, _ = io.WriteString(&p.stdout, text)
		_, _ = io.Copy(&p.stdout, r)
		p.err = p.cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.done
	})
	return p, line
}

// serve starts a server and waits until it is ready.
func serve(t testing.TB, args ...string) *process {
	t.Helper()
	p, first := spawn(t, args...)
	select {
	case line := <-first:
		if p.url = endpoint(line); p.url == "" {
			<-p.done
			t.Fatalf("serve printed %q and ended with %v: %s", line, p.err, &p.stderr)
		}
	case <-time.After(patience):
		t.Fatal("serve is not ready")
	}
	return p
}

// endpoint returns the URL in the line that a server prints when it is ready, or "".
func endpoint(line string) string {
	_, after, _ := strings.Cut(line, "AWS_ENDPOINT_URL_DYNAMODB=")
	url, _, _ := strings.Cut(after, " ")
	return strings.TrimSpace(url)
}

// wait waits for the process and returns its error.
func (p *process) wait(t testing.TB) error {
	t.Helper()
	select {
	case <-p.done:
		return p.err
	case <-time.After(patience):
		t.Fatalf("the process does not stop: %s", &p.stderr)
		return nil
	}
}

// kill kills the process, which must not have reported errors.
func (p *process) kill(t testing.TB) {
	t.Helper()
	require.NoError(t, p.cmd.Process.Kill())
	_ = p.wait(t)
	if log := p.stderr.String(); strings.Contains(log, "level=ERROR") || strings.Contains(log, "panic") {
		t.Fatalf("the server reported: %s", log)
	}
}

// run runs a command, which must succeed, and returns its output.
func run(t testing.TB, args ...string) string {
	t.Helper()
	p, _ := start(t, args...)
	require.NoError(t, p.wait(t), "sortkey %s: %s", strings.Join(args, " "), &p.stderr)
	return p.stdout.String()
}

// killAfter kills the process after a time. It reports false if it ended before that.
func (p *process) killAfter(t testing.TB, delay time.Duration) bool {
	t.Helper()
	select {
	case <-p.done:
	case <-time.After(delay):
		_ = p.cmd.Process.Kill()
	}
	_ = p.wait(t)
	return !p.cmd.ProcessState.Exited()
}

// client returns a client of the process with its own connections.
func (p *process) client(t testing.TB, optFns ...func(*dynamodb.Options)) *dynamodb.Client {
	tr := &http.Transport{}
	t.Cleanup(tr.CloseIdleConnections)
	return dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(p.url), HTTPClient: cli.HTTPClient{Next: &http.Client{Transport: tr}},
		Credentials: credentials.NewStaticCredentialsProvider("AKID", "secret", ""),
	}, optFns...)
}

// once makes a client send each request only once.
func once(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} }

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
