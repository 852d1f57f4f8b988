package server_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/server"
)

// TestAnnouncedBodies checks that a body takes memory only as it arrives: clients that announce 16 MB and send one
// byte must take hardly any memory.
func TestAnnouncedBodies(t *testing.T) {
	addr, _ := start(t, echo{}, server.Options{})
	before := heap()
	const clients = 100
	for range clients {
		c, _ := dial(t, addr)
		_, err := fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: localhost\r\nX-Amz-Target: %s\r\nContent-Type: "+
			"%s\r\nContent-Length: %d\r\n\r\n{", listTables, json10, 16<<20)
		require.NoError(t, err)
	}
	// Once the server has answered one more request, it has read from all of these connections.
	c, r := dial(t, addr)
	_, err := io.WriteString(c, usual("{}"))
	require.NoError(t, err)
	answer(t, r)
	if used := heap() - before; used > clients*(128<<10) {
		t.Errorf("%d clients take %d bytes", clients, used)
	}
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestPendingBodies checks that bodies share a budget. A request beyond the budget must fail and say when to retry.
func TestPendingBodies(t *testing.T) {
	h := server.New(echo{}, server.Options{MaxPendingBytes: 3 << 19}) // room for one buffer of 1 MB, for 600 KB
	send := func(body io.Reader) *http.Request {
		r := post("", "X-Amz-Target", listTables, "Content-Type", json10)
		r.Body, r.ContentLength = io.NopCloser(body), -1
		return r
	}
	slow, feed := io.Pipe()
	done := make(chan int)
	go func() {
		res, _ := do(t, h, send(slow))
		done <- res.StatusCode
	}()
	_, err := io.WriteString(feed, `"`+strings.Repeat("x", 600<<10))
	require.NoError(t, err)
	_, err = io.WriteString(feed, "x") // once this is read, the server has counted the bytes before
	require.NoError(t, err)

	res, body := do(t, h, send(strings.NewReader(`"`+strings.Repeat("y", 600<<10)+`"`)))
	require.Equal(t, 503, res.StatusCode)
	require.Equal(t, "1", res.Header.Get("Retry-After"))
	require.Equal(t, "1000", res.Header.Get("X-Amz-Retry-After"), "row 21 of the list of 2026-11-26: SDK v1.74.0")
	require.Contains(t, body, "ServiceUnavailableException")
	res, _ = do(t, h, send(strings.NewReader(`"small"`)))
	require.Equal(t, 200, res.StatusCode, "a small body is not counted")

	_, err = io.WriteString(feed, `"`)
	require.NoError(t, err)
	require.NoError(t, feed.Close())
	require.Equal(t, 200, <-done)
	res, _ = do(t, h, send(strings.NewReader(`"`+strings.Repeat("y", 600<<10)+`"`)))
	require.Equal(t, 200, res.StatusCode, "the bytes are free again")
}

// A stalledWriter is a client that reads nothing until it is released.
type stalledWriter struct {
	http.ResponseWriter
	writing chan<- struct{}
	release <-chan struct{}
}

func (w stalledWriter) Write(p []byte) (int, error) {
	w.writing <- struct{}{}
	<-w.release
	return len(p), nil
}

// TestPendingAnswers checks that answers that clients have not read share a budget.
func TestPendingAnswers(t *testing.T) {
	long := strings.Repeat("x", 800<<10)
	h := server.New(handlerFunc(func(_ context.Context, _ string, body, dst []byte) ([]byte, int) {
		if len(body) == 0 {
			return append(dst, long...), 200
		}
		return append(dst, body...), 200
	}), server.Options{MaxPendingBytes: 1 << 20, CompressBytes: -1})
	writing, release, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		h.ServeHTTP(stalledWriter{discardWriter{http.Header{}}, writing, release}, post("", "X-Amz-Target", listTables))
	}()
	<-writing
	res, body := do(t, h, post("", "X-Amz-Target", listTables))
	require.Equal(t, 503, res.StatusCode, "the budget is used up")
	require.Equal(t, "1", res.Header.Get("Retry-After"))
	require.Contains(t, body, "ServiceUnavailableException")
	res, _ = do(t, h, post("{}", "X-Amz-Target", listTables, "Content-Type", json10))
	require.Equal(t, 200, res.StatusCode, "a small answer is not counted")
	close(release)
	<-done
	res, body = do(t, h, post("", "X-Amz-Target", listTables))
	require.Equal(t, 200, res.StatusCode)
	require.Len(t, body, len(long))
}

type discardWriter struct{ h http.Header }

func (w discardWriter) Header() http.Header         { return w.h }
func (w discardWriter) WriteHeader(int)             {}
func (w discardWriter) Write(p []byte) (int, error) { return len(p), nil }
