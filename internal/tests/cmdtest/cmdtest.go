// Package cmdtest runs the sortkey command in separate processes, for tests that stop or
// kill them.
package cmdtest

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"
)

// Timeout is how long a test waits for a process to react before it fails.
const Timeout = 2 * time.Minute

// Build compiles the command and returns the path of the binary, which is removed at the end of the test.
func Build(t testing.TB) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "sortkey")
	build := exec.Command("go", "build", "-o", program, "github.com/sortkey/sortkey/cmd/sortkey")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return program
}

// A Process is a running sortkey command. If it still runs at the end of the test, it is killed.
type Process struct {
	Cmd    *exec.Cmd
	URL    string        // of a server, set by Ready
	Stdout Buffer        // complete when Done is closed
	Stderr Buffer        // may be read at any time
	Done   chan struct{} // closed when it has ended
	Err    error         // set before Done is closed

	first chan string // gets the first line of output, or "" if there is none
}

// A Buffer collects the output of a process. It is safe for concurrent use.
type Buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write implements [io.Writer].
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// Start starts cmd, which runs the sortkey command, and returns at once.
func Start(t testing.TB, cmd *exec.Cmd) *Process {
	t.Helper()
	p := &Process{Cmd: cmd, Done: make(chan struct{}), first: make(chan string, 1)}
	cmd.Stderr = &p.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	require.NoError(t, err)
	go func() {
		defer close(p.Done)
		r := bufio.NewReader(out)
		text, _ := r.ReadString('\n')
		_, _ = io.WriteString(&p.Stdout, text)
		p.first <- text
		_, _ = io.Copy(&p.Stdout, r)
		p.Err = cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-p.Done
	})
	return p
}

// Serve starts cmd, which must run sortkey serve, and waits until the server is ready.
func Serve(t testing.TB, cmd *exec.Cmd) *Process {
	t.Helper()
	p := Start(t, cmd)
	if !p.Ready() {
		_ = cmd.Process.Kill()
		<-p.Done
		t.Fatalf("serve printed %q and ended with %v: %s", &p.Stdout, p.Err, &p.Stderr)
	}
	return p
}

// Ready waits until the server has printed its address, and sets URL. It returns false if the server exits first, or
// if Timeout passes. Call it only once.
func (p *Process) Ready() bool {
	select {
	case line := <-p.first:
		_, after, _ := strings.Cut(line, "AWS_ENDPOINT_URL_DYNAMODB=")
		url, _, _ := strings.Cut(after, " ")
		p.URL = strings.TrimSpace(url)
	case <-time.After(Timeout):
	}
	return p.URL != ""
}

// Wait waits until the process has ended, and returns its error.
func (p *Process) Wait(t testing.TB) error {
	t.Helper()
	select {
	case <-p.Done:
		return p.Err
	case <-time.After(Timeout):
		t.Fatalf("the process does not stop: %s", &p.Stderr)
		return nil
	}
}

// Kill kills the process. The test fails if the process has logged errors.
func (p *Process) Kill(t testing.TB) {
	t.Helper()
	require.NoError(t, p.Cmd.Process.Kill())
	_ = p.Wait(t)
	if log := p.Stderr.String(); strings.Contains(log, "level=ERROR") || strings.Contains(log, "panic") {
		t.Fatalf("the server reported: %s", log)
	}
}

// KillAfter kills the process after a delay. It returns false if the process exited by itself before that.
func (p *Process) KillAfter(t testing.TB, delay time.Duration) bool {
	t.Helper()
	select {
	case <-p.Done:
	case <-time.After(delay):
		_ = p.Cmd.Process.Kill()
	}
	_ = p.Wait(t)
	return !p.Cmd.ProcessState.Exited()
}

// Client returns an SDK client of the server that has its own connections.
func (p *Process) Client(t testing.TB, optFns ...func(*dynamodb.Options)) *dynamodb.Client {
	tr := &http.Transport{}
	t.Cleanup(tr.CloseIdleConnections)
	return dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(p.URL), HTTPClient: &http.Client{Transport: tr},
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "AKID", SecretAccessKey: "secret"}, nil
		}),
	}, optFns...)
}

// Once is a client option that turns off retries.
func Once(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} }
