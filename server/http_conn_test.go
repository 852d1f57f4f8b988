package server_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/server"
)

func usual(body string) string {
	return fmt.Sprintf("POST / HTTP/1.1\r\nHost: localhost\r\nX-Amz-Target: %s\r\nContent-Type: "+
		"%s\r\nContent-Length: %d\r\n\r\n%s", listTables, json10, len(body), body)
}

func dial(t *testing.T, addr string) (net.Conn, *bufio.Reader) {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	require.NoError(t, c.SetDeadline(time.Now().Add(timeout)))
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

func TestConnIdleTimeout(t *testing.T) {
	addr, _ := start(t, echo{}, server.Options{IdleTimeout: 30 * time.Millisecond})
	c, r := dial(t, addr)
	_, err := io.WriteString(c, usual("{}"))
	require.NoError(t, err)
	answer(t, r)
	_, err = r.ReadByte()
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

// TestConnClientGoesAway checks that the context of a request ends when its client closes the connection, so that the
// handler stops working.
func TestConnClientGoesAway(t *testing.T) {
	entered, ended := make(chan struct{}), make(chan error, 1)
	addr, _ := start(t, handlerFunc(func(ctx context.Context, _ string, _, dst []byte) ([]byte, int) {
		close(entered)
		select {
		case <-ctx.Done():
			ended <- ctx.Err()
		case <-time.After(timeout):
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
