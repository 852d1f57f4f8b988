package server_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/server"
)

func usual(body string) string {
	return fmt.Sprintf("POST / HTTP/1.1\r\nHost: localhost\r\nX-Amz-Target: %s\r\nContent-Type: "+
		"%s\r\nContent-Length: %d\r\n\r\n%s", listTables, json10, len(body), body)
}

func chunked(body string) string {
	return fmt.Sprintf("POST / HTTP/1.1\r\nHost: localhost\r\nX-Amz-Target: %s\r\nContent-Type: "+
		"%s\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", listTables, json10, len(body), body)
}

func dial(t *testing.T, addr string) (net.Conn, *bufio.Reader) {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	require.NoError(t, c.SetDeadline(time.Now().Add(patience)))
	return c, bufio.NewReader(c)
}

func answer(t *testing.T, r *bufio.Reader) (*http.Response, string) {
	t.Helper()
	res, err := http.ReadResponse(r, nil)
	require.NoError(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res, string(body)
}

// TestConnAnswersInOrder sends several requests on one connection, with a
// length and in chunks, all at once and byte by byte, with bodies from zero
// bytes to megabytes.
func TestConnAnswersInOrder(t *testing.T) {
	addr, _ := start(t, echo{}, server.Options{})
	large := strings.Repeat("x", 100_000)
	for name, requests := range map[string][]string{
		"length": {usual("{}"), usual(`{"a":1}`), usual("")},
		"large":  {usual("{}"), usual(large), usual("{}")},
		"mixed":  {usual("{}"), chunked("{}"), usual(`{"a":1}`), chunked(large)},
		"chunks": {chunked("{}"), usual("{}")},
		"health": {usual("{}"), "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", usual("{}")},
	} {
		for _, step := range []int{1 << 30, 7, 1} {
			if step == 1 && strings.Contains(strings.Join(requests, ""), large) {
				continue
			}
			t.Run(fmt.Sprint(name, "/", step), func(t *testing.T) {
				c, r := dial(t, addr)
				all := strings.Join(requests, "")
				sent := make(chan error, 1)
				go func() {
					for len(all) > 0 {
						n := min(step, len(all))
						if _, err := io.WriteString(c, all[:n]); err != nil {
							sent <- err
							return
						}
						all = all[n:]
					}
					sent <- nil
				}()
				for _, request := range requests {
					res, body := answer(t, r)
					if strings.HasPrefix(request, "GET") {
						require.Contains(t, body, "healthy")
						continue
					}
					require.NotEmpty(t, res.Header.Get("Date"))
					require.NotEmpty(t, res.Header.Get("X-Amzn-Requestid"))
					require.Equal(t, int64(len(body)), res.ContentLength)
					want := ""
					for _, text := range []string{large, `{"a":1}`, "{}"} {
						if strings.Contains(request, "\r\n"+text) {
							want = text
							break
						}
					}
					require.Equal(t, listTables+"|"+want, body)
				}
				require.NoError(t, <-sent)
			})
		}
	}
}

// TestConnLargeAnswers checks that a connection remains usable after responses
// of all sizes.
func TestConnLargeAnswers(t *testing.T) {
	for _, size := range []int{0, 1000, 64 << 10, 64<<10 + 1, 3 << 20} {
		text := bytes.Repeat([]byte("y"), size)
		addr, _ := start(t,
			handlerFunc(func(_ context.Context, _ string, _, dst []byte) ([]byte, int) {
				return append(dst, text...), 200
			}), server.Options{MaxConnections: 3})
		c, r := dial(t, addr)
		for range 3 {
			_, err := io.WriteString(c, usual("{}"))
			require.NoError(t, err)
			_, body := answer(t, r)
			require.Equal(t, size, len(body))
		}
	}
}

// TestConnShutdown checks that idle connections end at once.
func TestConnShutdown(t *testing.T) {
	addr, stop := start(t, echo{}, server.Options{ShutdownTimeout: 10 * time.Second})
	var readers []*bufio.Reader
	for _, request := range []string{"", usual("{}"), chunked("{}")} {
		c, r := dial(t, addr)
		if request != "" {
			_, err := io.WriteString(c, request)
			require.NoError(t, err)
			answer(t, r)
		} else {
			_, err := io.WriteString(c, usual("{}")) // so that the connection has been accepted
			require.NoError(t, err)
			answer(t, r)
		}
		readers = append(readers, r)
	}
	require.NoError(t, stop())
	for _, r := range readers {
		_, err := r.ReadByte()
		require.Error(t, err)
	}
}

func TestConnIdleTimeout(t *testing.T) {
	addr, _ := start(t, echo{}, server.Options{IdleTimeout: 30 * time.Millisecond})
	c, r := dial(t, addr)
	_, err := io.WriteString(c, usual("{}"))
	require.NoError(t, err)
	answer(t, r)
	_, err = r.ReadByte()
	require.ErrorIs(t, err, io.EOF)
}

// TestConnSilence checks that a silent new connection ends after the time-out
// for headers.
func TestConnSilence(t *testing.T) {
	addr, _ := start(t, echo{}, server.Options{ReadHeaderTimeout: 30 * time.Millisecond})
	_, r := dial(t, addr)
	_, err := r.ReadByte()
	require.ErrorIs(t, err, io.EOF)
}

// TestConnHalfRequests checks the response to a client that closes its side in
// the middle of a request.
func TestConnHalfRequests(t *testing.T) {
	addr, _ := start(t, echo{}, server.Options{})
	all := usual("{}")
	for _, n := range []int{10, len(all) - 10, len(all) - 1} {
		c, r := dial(t, addr)
		_, err := io.WriteString(c, usual("{}")+all[:n])
		require.NoError(t, err)
		require.NoError(t, c.(*net.TCPConn).CloseWrite())
		whole, _ := answer(t, r)
		require.Equal(t, http.StatusOK, whole.StatusCode)
		half, _ := answer(t, r)
		require.Equal(t, http.StatusBadRequest, half.StatusCode, all[:n])
		_, err = r.ReadByte()
		require.ErrorIs(t, err, io.EOF)
	}
}

// TestConnPanic checks that a panic in a wrapper of the handler ends only the
// connection.
func TestConnPanic(t *testing.T) {
	var log syncBuffer
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	opts := server.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}
	go func() {
		done <- server.Serve(ctx, ln, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Abort") != "" {
				panic(http.ErrAbortHandler)
			}
			panic("on purpose")
		}), opts)
	}()
	for _, request := range []string{usual("{}"), strings.Replace(usual("{}"), "Host", "Abort: 1\r\nHost", 1)} {
		c, r := dial(t, ln.Addr().String())
		_, err = io.WriteString(c, request)
		require.NoError(t, err)
		_, err = r.ReadByte()
		require.ErrorIs(t, err, io.EOF)
	}
	cancel()
	require.NoError(t, <-done)
	require.Equal(t, 1, strings.Count(log.String(), "panic serving"))
	require.Contains(t, log.String(), "on purpose")
}

// TestConnClientGoesAway checks that the context of a request ends when its
// client closes the connection, so the server stops working on it.
func TestConnClientGoesAway(t *testing.T) {
	entered, ended := make(chan struct{}), make(chan error, 1)
	addr, _ := start(t, handlerFunc(func(ctx context.Context, _ string, _, dst []byte) ([]byte, int) {
		close(entered)
		select {
		case <-ctx.Done():
			ended <- ctx.Err()
		case <-time.After(patience):
			ended <- nil
		}
		return dst, 200
	}), server.Options{})
	c, _ := dial(t, addr)
	_, err := io.WriteString(c, usual("{}"))
	require.NoError(t, err)
	<-entered
	require.NoError(t, c.Close())
	require.ErrorIs(t, <-ended, context.Canceled)
}

// TestConnManyClients runs clients concurrently and then shuts the server down.
// Every response must belong to its request.
func TestConnManyClients(t *testing.T) {
	addr, stop := start(t, echo{}, server.Options{})
	c := client(t)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 50 {
				text := fmt.Sprintf(`{"client":%d,"n":%d}`, i, j)
				status, body, err := send(c, addr, text)
				if err != nil || status != 200 || body != listTables+"|"+text {
					t.Error(status, body, err)
				}
			}
		})
	}
	wg.Wait()
	require.NoError(t, stop())
}
