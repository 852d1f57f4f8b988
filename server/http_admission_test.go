package server_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/admission"
)

// admissionTimeout is how long a test waits for an answer that should come immediately.
const admissionTimeout = 20 * time.Second

// serve serves h with a limit of connections, and returns the address and the counts.
func serve(t *testing.T, most int, h http.HandlerFunc) (string, *admission.Counts) {
	t.Helper()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	counts := new(admission.Counts)
	l := admission.Listen(inner, admission.Options{Most: most, Counts: counts})
	srv := &http.Server{Handler: h} //nolint:gosec // the test holds connections open
	l.Attach(srv)
	done := make(chan error, 1)
	go func() { done <- srv.Serve(l) }()
	t.Cleanup(func() {
		_ = srv.Close()
		require.ErrorIs(t, <-done, http.ErrServerClosed)
		require.Eventually(t, func() bool { return counts.Open() == 0 }, admissionTimeout, time.Millisecond)
	})
	return inner.Addr().String(), counts
}

func dialAdmission(t *testing.T, addr, text string) *bufio.Reader {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	require.NoError(t, c.SetDeadline(time.Now().Add(admissionTimeout)))
	_, err = io.WriteString(c, text)
	require.NoError(t, err)
	return bufio.NewReader(c)
}

const get = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"

// answered sends a request and reports whether the status is 200.
func answered(addr string) bool {
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Get("http://" + addr)
	if err != nil {
		return false // the connection was refused, or closed for a new one
	}
	_ = res.Body.Close()
	return res.StatusCode == http.StatusOK
}

// TestHolders holds connections open in every way in which a client can, and tests that other clients still get
// answers.
func TestHolders(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		asked      bool // the holder first reads an answer
	}{
		{"silent", "", false},
		{"idle after a request", get, true},
		{"header that does not end", "GET / HTTP/1.1\r\nHost: h\r\nX: ", false},
		{"body that does not end", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 900000\r\n\r\n{", false},
		{"header after a request", get + "GET / HTTP/1.1\r\n", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			addr, counts := serve(t, 4, func(http.ResponseWriter, *http.Request) {})
			for range 40 {
				if r := dialAdmission(t, addr, tt.text); tt.asked {
					_, err := http.ReadResponse(r, nil) // an error if the connection was closed for another
					_ = err
				}
			}
			require.Eventually(t, func() bool { return answered(addr) }, admissionTimeout, 100*time.Millisecond)
			require.LessOrEqual(t, counts.Open(), int64(4+16))
		})
	}
}

// TestTogether sends requests on more connections than the limit, while other connections come and go.
func TestTogether(t *testing.T) {
	const most = 8
	var mu sync.Mutex
	running, peak := 0, 0
	addr, counts := serve(t, most, func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		running++
		peak = max(peak, running)
		mu.Unlock()
		time.Sleep(time.Millisecond)
		mu.Lock()
		running--
		mu.Unlock()
		fmt.Fprint(w, "x")
	})
	var all sync.WaitGroup
	for range 4 * most {
		all.Go(func() {
			client := http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			for range 50 {
				res, err := client.Get("http://" + addr)
				if err != nil {
					continue // the server closed this connection for a new one
				}
				_, _ = io.Copy(io.Discard, res.Body)
				_ = res.Body.Close()
			}
		})
	}
	all.Wait()
	require.LessOrEqual(t, peak, most)
	require.Positive(t, counts.Closed()+counts.Refused())
}
