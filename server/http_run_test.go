package server_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/server"
)

// timeout limits how long tests wait for a response of a server on a busy machine.
const timeout = time.Minute

// start serves h on a free port until the test ends or stop is called. stop
// returns the result of Serve.
func start(t *testing.T, h server.Handler, opts server.Options) (addr string, stop func() error) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	result := make(chan error, 1)
	go func() { result <- server.Serve(ctx, ln, server.New(h, opts), opts) }()
	stop = sync.OnceValue(func() error {
		cancel()
		return <-result
	})
	t.Cleanup(func() { _ = stop() })
	return ln.Addr().String(), stop
}

func client(t *testing.T) *http.Client {
	tr := &http.Transport{}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

func sendBody(c *http.Client, addr, body string) (int, string, error) {
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "http://"+addr+"/",
		strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	r.Header.Set("X-Amz-Target", listTables)
	r.Header.Set("Content-Type", json10)
	res, err := c.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	out, err := io.ReadAll(res.Body)
	return res.StatusCode, string(out), err
}

func TestServe(t *testing.T) {
	addr, stop := start(t, echo{}, server.Options{MaxConnections: 2})
	c := client(t)
	for range 3 { // one connection, kept alive
		status, body, err := sendBody(c, addr, "{}")
		require.NoError(t, err)
		require.Equal(t, 200, status)
		require.Equal(t, listTables+"|{}", body)
	}
	require.NoError(t, stop())
	_, _, err := sendBody(c, addr, "{}")
	require.Error(t, err, "no longer listening")
}

func TestServeFinishesRequests(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	addr, stop := start(t, handlerFunc(func(ctx context.Context, _ string, _, dst []byte) ([]byte, int) {
		close(entered)
		<-leave
		if ctx.Err() != nil {
			return append(dst, "cancelled"...), 500
		}
		return append(dst, "finished"...), 200
	}), server.Options{})
	c, got := client(t), make(chan string, 1)
	go func() {
		_, body, err := sendBody(c, addr, "{}")
		got <- fmt.Sprint(body, err)
	}()
	<-entered
	stopped := make(chan error, 1)
	go func() { stopped <- stop() }()
	time.Sleep(10 * time.Millisecond) // let the shutdown begin
	close(leave)
	require.Equal(t, "finished<nil>", <-got)
	require.NoError(t, <-stopped)
}

func TestServeBreaksOffAtLast(t *testing.T) {
	entered := make(chan struct{})
	addr, stop := start(t, handlerFunc(func(ctx context.Context, _ string, _, dst []byte) ([]byte, int) {
		close(entered)
		<-ctx.Done()
		return dst, 200
	}), server.Options{ShutdownTimeout: time.Millisecond})
	c, got := client(t), make(chan error, 1)
	go func() {
		_, _, err := sendBody(c, addr, "{}")
		got <- err
	}()
	<-entered
	require.ErrorIs(t, stop(), context.DeadlineExceeded)
	require.Error(t, <-got)
}

// TestMaxConnections opens as many connections as allowed, first idle and then busy ones, and then one more.
func TestMaxConnections(t *testing.T) {
	const most = 3
	entered, leave := make(chan struct{}, most), make(chan struct{})
	var log bytes.Buffer
	addr, _ := start(t, handlerFunc(func(_ context.Context, _ string, body, dst []byte) ([]byte, int) {
		if string(body) == `"wait"` {
			entered <- struct{}{}
			<-leave
		}
		return append(dst, "{}"...), 200
	}), server.Options{MaxConnections: most, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	ask := func(request string) *bufio.Reader {
		c, r := dial(t, addr)
		_, err := io.WriteString(c, request)
		require.NoError(t, err)
		return r
	}
	health := func() int {
		res, _ := answer(t, ask("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"))
		return res.StatusCode
	}

	// The server closes idle connections for new ones. It takes a moment until it counts an answered connection as
	// idle.
	gone := make(chan error, most)
	for range most {
		r := ask(usual("{}"))
		answer(t, r)
		go func() {
			_, err := r.ReadByte()
			gone <- err
		}()
	}
	for len(gone) == 0 {
		require.Equal(t, 200, health())
	}
	require.ErrorIs(t, <-gone, io.EOF)

	// It does not close busy connections, but it answers /healthz, and asks other clients to retry.
	busy, answers := 0, make(chan int, most)
	for busy < most {
		r, status := ask(usual(`"wait"`)), make(chan int, 1)
		go func() {
			res, err := http.ReadResponse(r, nil)
			if err != nil {
				res = new(http.Response)
			}
			status <- res.StatusCode
		}()
		select {
		case <-entered:
			busy++
			go func() { answers <- <-status }()
		case got := <-status: // the server did not count the others as idle yet
			require.Equal(t, 503, got)
		}
	}
	require.Equal(t, 200, health())
	res, body := answer(t, ask(usual("{}")))
	require.Equal(t, 503, res.StatusCode)
	require.Equal(t, "1", res.Header.Get("Retry-After"))
	require.Contains(t, body, "ServiceUnavailableException")
	require.True(t, res.Close)

	close(leave)
	for range busy {
		require.Equal(t, 200, <-answers)
	}
	require.Equal(t, 1, strings.Count(log.String(), "all connections are taken"), log.String())
}

func TestReadHeaderTimeout(t *testing.T) {
	addr, _ := start(t, echo{}, server.Options{ReadHeaderTimeout: 20 * time.Millisecond})
	c, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	defer c.Close()
	_, err = io.WriteString(c, "POST / HTTP/1.1\r\n")
	require.NoError(t, err)
	_ = c.SetReadDeadline(time.Now().Add(timeout))
	_, err = io.ReadAll(c)
	require.NotErrorIs(t, err, os.ErrDeadlineExceeded, "closed by the server")
}

func TestReadTimeout(t *testing.T) {
	addr, _ := start(t, echo{}, server.Options{ReadTimeout: 50 * time.Millisecond})
	c, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	defer c.Close()
	_, err = io.WriteString(c,
		"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{")
	require.NoError(t, err)
	_ = c.SetReadDeadline(time.Now().Add(timeout))
	out, err := io.ReadAll(c)
	require.NotErrorIs(t, err, os.ErrDeadlineExceeded, "closed by the server")
	require.True(t, len(out) == 0 || bytes.Contains(out, []byte("SerializationException")), "%s", out)
}

// TestRawLimits sends requests that an HTTP client would not send, like
// Alternator's test_manual_requests.py. The client must be able to read the
// error response.
func TestRawLimits(t *testing.T) {
	addr, _ := start(t, echo{}, server.Options{})
	for name, tt := range map[string]struct {
		send func(w io.Writer)
		want string
	}{
		"headers": {func(w io.Writer) {
			fmt.Fprintf(w, "POST / HTTP/1.1\r\nHost: localhost\r\nX-Long: %s\r\n\r\n", strings.Repeat("x", 20_000))
		}, "400 Bad Request"},
		"request line": {func(w io.Writer) {
			fmt.Fprintf(w, "POST /%s HTTP/1.1\r\nHost: localhost\r\n\r\n", strings.Repeat("x", 20_000))
		}, "400 Bad Request"},
		"length": {func(w io.Writer) {
			fmt.Fprintf(w,
				"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n",
				17<<20)
			_, _ = w.Write(make([]byte, 17<<20))
		}, "413 Request Entity Too Large"},
		"chunked": {func(w io.Writer) {
			fmt.Fprintf(w, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: "+
				"application/json\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n", 17<<20)
			_, _ = w.Write(make([]byte, 17<<20))
			_, _ = io.WriteString(w, "\r\n0\r\n\r\n")
		}, "413 Request Entity Too Large"},
		"bad chunks": {func(w io.Writer) {
			_, _ = io.WriteString(w, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: "+
				"application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")
		}, "400 Bad Request"},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := net.Dial("tcp", addr)
			require.NoError(t, err)
			defer c.Close()
			tt.send(c)
			_ = c.SetReadDeadline(time.Now().Add(timeout))
			res, err := http.ReadResponse(bufio.NewReader(c), nil)
			require.NoError(t, err)
			require.NoError(t, res.Body.Close())
			require.Equal(t, tt.want, res.Status)
		})
	}
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func TestServeWarnsOfOpenAddress(t *testing.T) {
	for _, tt := range []struct {
		addr        string
		open, warns bool
	}{
		{"127.0.0.1:0", false, false},
		{"0.0.0.0:0", false, true},
		{"0.0.0.0:0", true, false},
	} {
		ln, err := net.Listen("tcp", tt.addr)
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		var log syncBuffer
		require.NoError(t, server.Serve(ctx, ln, server.New(echo{}, server.Options{}), server.Options{
			Open: tt.open, Logger: slog.New(slog.NewTextHandler(&log, nil)),
		}))
		require.Equal(t, tt.warns, strings.Contains(log.String(), "without credentials"), "%+v", tt)
	}
}

// brokenListener fails to accept connections.
type brokenListener struct {
	net.Listener
	closed bool
}

func (*brokenListener) Accept() (net.Conn, error) { return nil, errors.New("broken") }

func (l *brokenListener) Close() error {
	l.closed = true
	return l.Listener.Close()
}

func TestServeClosesABrokenListener(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ln := &brokenListener{Listener: inner}
	require.ErrorContains(t, server.Serve(t.Context(), ln, server.New(echo{}, server.Options{}), server.Options{}),
		"broken")
	require.True(t, ln.closed)
}
