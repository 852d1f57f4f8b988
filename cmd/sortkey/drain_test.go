package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/tests/cmdtest"
)

// eventually waits until a condition is true, and fails the test if it does not become true in time.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(cmdtest.Timeout); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("timeout: %s", what)
		}
	}
}

var metricsURL = regexp.MustCompile(`msg=metrics url=(\S+)`)

// metrics returns the URL of a server's metrics, which it reads in the server's log.
func (p *process) metrics(t testing.TB) (url string) {
	t.Helper()
	eventually(t, "the address of the metrics", func() bool {
		m := metricsURL.FindStringSubmatch(p.Stderr.String())
		if m != nil {
			url = m[1]
		}
		return m != nil
	})
	return url
}

// A slow is a request of which only a part has been sent.
type slow struct {
	conn net.Conn
	rest string
}

// begin sends the first part of a request that puts an item. It waits until the server has begun to handle the
// request.
func begin(t *testing.T, p *process, metrics string) *slow {
	t.Helper()
	addr := strings.TrimPrefix(p.URL, "http://")
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", addr)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	body := `{"TableName":"Bank","Item":{"PK":{"S":"slow"}}}`
	_, err = fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: %s\r\nX-Amz-Target: DynamoDB_20120810.PutItem\r\n"+
		"Content-Type: application/x-amz-json-1.0\r\nContent-Length: %d\r\n\r\n%s", addr, len(body), body[:10])
	require.NoError(t, err)
	eventually(t, "the request is under way", func() bool { return strings.Contains(get(t, metrics), "\nsortkey_requests_in_flight 1\n") })
	return &slow{conn, body[10:]}
}

// stop signals the process and waits until it accepts no more connections.
func stop(t *testing.T, p *process) {
	t.Helper()
	require.NoError(t, p.Cmd.Process.Signal(syscall.SIGTERM))
	eventually(t, "no connection is taken", func() bool {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(p.URL, "http://"))
		if err == nil {
			_ = conn.Close()
		}
		return err != nil
	})
}

func skipWithoutSignals(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("no SIGTERM")
	}
}

func TestDrain(t *testing.T) {
	skipWithoutSignals(t)
	dir := filepath.Join(t.TempDir(), "db")
	p := serve(t, "--data", dir, "--log", "text", "--metrics", "127.0.0.1:0", "--drain", "1h")
	create(t, p.client(t))
	require.Contains(t, get(t, p.URL+"/healthz"), "healthy")
	figures := p.metrics(t)
	under := begin(t, p, figures)
	stop(t, p)
	require.Contains(t, get(t, figures), "\nsortkey_requests_in_flight 1\n", "there are figures to the end")

	_, err := io.WriteString(under.conn, under.rest)
	require.NoError(t, err)
	res, err := http.ReadResponse(bufio.NewReader(under.conn), nil)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, 200, res.StatusCode)
	require.NoError(t, p.Wait(t), "exit code 0")
	require.Regexp(t, `msg=stopping cause="terminated signal received" drain=1h0m0s`, p.Stderr.String())
	require.Contains(t, p.Stderr.String(), "msg=stopped")

	// The write is in the database. The server has closed the store, so its next start does not count the items
	// again.
	p = serve(t, "--data", dir)
	out, err := p.client(t).GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String(bank), Key: item{"PK": str("slow")}})
	require.NoError(t, err)
	require.Equal(t, item{"PK": str("slow")}, out.Item)
}

func TestDrainEnds(t *testing.T) {
	skipWithoutSignals(t)
	p := serve(t, "--log", "text", "--metrics", "127.0.0.1:0", "--drain", "20ms")
	begin(t, p, p.metrics(t))
	require.NoError(t, p.Cmd.Process.Signal(syscall.SIGTERM))
	err, ok := errors.AsType[*exec.ExitError](p.Wait(t))
	require.True(t, ok)
	require.Equal(t, 1, err.ExitCode())
	require.Contains(t, p.Stderr.String(), "sortkey: canceled requests that had not finished after 20ms\nhint: give requests more time with --drain\n")
}

func TestSecondSignal(t *testing.T) {
	skipWithoutSignals(t)
	p := serve(t, "--log", "text", "--metrics", "127.0.0.1:0", "--drain", "1h")
	begin(t, p, p.metrics(t))
	stop(t, p)
	eventually(t, "the process ends", func() bool {
		_ = p.Cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-p.Done:
			return true
		default:
			return false
		}
	})
	require.Error(t, p.Wait(t), "it did not end by itself")
	require.NotContains(t, p.Stderr.String(), "msg=stopped")
}
