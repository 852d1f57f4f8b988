package serve

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/server"
	"github.com/sortkey/sortkey/sortkeytest"
)

// TestControl holds that the control needs its token, and refuses pages and other hosts.
func TestControl(t *testing.T) {
	t.Parallel()
	front := server.New(sortkeytest.New(t).DB, server.Options{Isolate: 3})
	var out bytes.Buffer
	env := &app.Env{Stdout: &out, Stderr: io.Discard, Getenv: func(string) string { return "" }}
	log := logs{Logger: slog.New(slog.DiscardHandler)}
	_, err := serveControl(t.Context(), env, "0.0.0.0:0", front, log)
	require.ErrorContains(t, err, "not a port of this machine alone")
	for _, token := range []string{"a secret of 22 letters\n", "x", "fifteen-letters"} {
		damaged := &app.Env{Stdout: &out, Stderr: io.Discard, Getenv: func(string) string { return token }}
		_, err = serveControl(t.Context(), damaged, "0", front, log)
		require.ErrorContains(t, err, "SORTKEY_CONTROL_TOKEN: a token has at least 16 characters", token)
	}
	given := &app.Env{Stdout: &out, Stderr: io.Discard, Getenv: func(string) string { return "a-secret-that-was-given" }}
	end, err := serveControl(t.Context(), given, "0", front, log)
	require.NoError(t, err)
	defer end()
	require.NotContains(t, out.String(), "a-secret")
	require.Contains(t, out.String(), "Authorization: Bearer $SORTKEY_CONTROL_TOKEN\n")
	out.Reset()

	end, err = serveControl(t.Context(), env, "0", front, log)
	require.NoError(t, err)
	defer end()
	found := regexp.MustCompile(`control at (http://127\.0\.0\.1:\d+) with the header Authorization: (Bearer \S+)`).
		FindStringSubmatch(out.String())
	require.NotNil(t, found, out.String())
	send := func(name, value, host string) int {
		req, err := http.NewRequestWithContext(t.Context(), "DELETE", found[1]+"/databases/a", nil)
		require.NoError(t, err)
		if name != "" {
			req.Header.Set(name, value)
		}
		if name != "Authorization" {
			req.Header.Set("Origin", value)
		}
		if host != "" {
			req.Host = host
		}
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		return resp.StatusCode
	}
	require.Equal(t, http.StatusOK, send("Authorization", found[2], ""))
	require.Equal(t, http.StatusUnauthorized, send("Authorization", "Bearer guess", ""))
	require.Equal(t, http.StatusForbidden, send("Authorization", found[2], "evil.example"))
	require.Equal(t, http.StatusForbidden, send("Origin", "http://evil.example", ""))
}
