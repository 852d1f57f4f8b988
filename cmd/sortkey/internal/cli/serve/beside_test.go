package serve

import (
	"io"
	"log/slog"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestProfiles holds that profiles are served to this machine, without the command line.
func TestProfiles(t *testing.T) {
	t.Parallel()
	log := logs{Logger: slog.New(slog.DiscardHandler)}
	_, err := serveProfiles(t.Context(), "0.0.0.0:0", log)
	require.ErrorContains(t, err, "not an address of this machine alone")
	s, err := serveProfiles(t.Context(), "127.0.0.1:0", log)
	require.NoError(t, err)
	defer s.stop()
	get := func(path, host string) (int, string) {
		req, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+s.ln.Addr().String()+path, nil)
		require.NoError(t, err)
		if host != "" {
			req.Host = host
		}
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp.StatusCode, string(body)
	}
	status, body := get("/debug/pprof/", "")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, "goroutine")
	status, _ = get("/debug/pprof/goroutine?debug=1", "")
	require.Equal(t, http.StatusOK, status)
	status, _ = get("/debug/pprof/cmdline", "")
	require.Equal(t, http.StatusNotFound, status)
	status, _ = get("/debug/pprof/", "evil.example")
	require.Equal(t, http.StatusForbidden, status)
}
