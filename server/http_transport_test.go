package server_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/server"
)

func callHTTP(ctx context.Context, c *http.Client, body string) (*http.Response, string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://db.local/", strings.NewReader(body))
	if err != nil {
		return nil, "", err
	}
	r.Header.Set("X-Amz-Target", listTables)
	r.Header.Set("Content-Type", json10)
	res, err := c.Do(r)
	if err != nil {
		return nil, "", err
	}
	defer res.Body.Close()
	out, err := io.ReadAll(res.Body)
	return res, string(out), err
}

func TestTransport(t *testing.T) {
	c := &http.Client{Transport: server.Transport{Handler: server.New(echo{}, server.Options{})}}
	res, body, err := callHTTP(t.Context(), c, "{}")
	require.NoError(t, err)
	require.Equal(t, listTables+"|{}", body)
	require.Equal(t, "200 OK", res.Status)
	require.Equal(t, int64(len(body)), res.ContentLength)
	require.Equal(t, json10, res.Header.Get("Content-Type"))

	res, err = c.Get("http://db.local/healthz")
	require.NoError(t, err)
	out, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, "healthy: db.local\n", string(out))
	_, err = res.Body.Read(make([]byte, 1))
	require.ErrorIs(t, err, http.ErrBodyReadAfterClose)
	require.NoError(t, res.Body.Close())

	res, err = c.Head("http://db.local/")
	require.NoError(t, err)
	out, err = io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Empty(t, out)
}

// TestTransportOwnsBodies keeps many response bodies open while it sends other requests.
func TestTransportOwnsBodies(t *testing.T) {
	c := &http.Client{Transport: &server.Transport{Handler: server.New(echo{}, server.Options{})}}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			want := strings.Repeat(string(rune('a'+i)), 5000)
			for range 200 {
				_, body, err := callHTTP(context.Background(), c, want)
				if err != nil || body != listTables+"|"+want {
					t.Errorf("call = %.40q…, %v", body, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestTransportContext(t *testing.T) {
	why := errors.New("no longer wanted")
	ctx, cancel := context.WithCancelCause(t.Context())
	c := &http.Client{Transport: server.Transport{Handler: server.New(handlerFunc(
		func(ctx context.Context, _ string, _, dst []byte) ([]byte, int) {
			cancel(why)
			<-ctx.Done()
			return dst, 200
		}), server.Options{})}}
	_, _, err := callHTTP(ctx, c, "{}")
	require.ErrorIs(t, err, why, "ended while the handler ran")
	_, _, err = callHTTP(ctx, c, "{}")
	require.ErrorIs(t, err, why, "ended before")
}

type closeRecorder struct {
	io.Reader
	closed int
}

func (c *closeRecorder) Close() error { c.closed++; return nil }

// TestTransportOtherHandlers uses handlers that New has not returned.
func TestTransportOtherHandlers(t *testing.T) {
	for name, tt := range map[string]struct {
		handler http.Handler
		body    string
		status  int
		err     string
	}{
		"none":   {nil, "", 0, "transport without a handler"},
		"silent": {http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), "", 200, ""},
		"panics": {
			http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("a bug") }), "", 0,
			"handler panicked: a bug",
		},
		"writes": {http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(100)
			w.WriteHeader(418)
			w.WriteHeader(200)
			w.(http.Flusher).Flush()
			_, _ = io.Copy(w, r.Body)
			_, _ = io.WriteString(w, r.Host+r.RequestURI)
		}), "sentdb.local/?q=1", 418, ""},
	} {
		t.Run(name, func(t *testing.T) {
			body := &closeRecorder{Reader: strings.NewReader("sent")}
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://db.local/?q=1", body)
			require.NoError(t, err)
			res, err := server.Transport{Handler: tt.handler}.RoundTrip(r)
			require.Equal(t, 1, body.closed, "the body is closed in any case")
			if tt.err != "" {
				require.ErrorContains(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			var out strings.Builder
			_, err = io.Copy(&out, res.Body)
			require.NoError(t, err)
			require.NoError(t, res.Body.Close())
			require.Equal(t, tt.status, res.StatusCode)
			require.Equal(t, tt.body, out.String())
			require.Empty(t, r.RequestURI, "the caller's request is not changed")
		})
	}
}
