package main

import (
	"net/http"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/tests/cmdtest"
)

// TestControl tests that the control requires its token, and rejects requests of pages and for other hosts.
func TestControl(t *testing.T) {
	t.Parallel()
	line := regexp.MustCompile(`control at (http://127\.0\.0\.1:\d+) with the header Authorization: (Bearer \S+)`)
	// control starts a server with a token in the environment, or "" for none. It returns the address of the control
	// and the header that the server prints.
	control := func(token string) (url, header string) {
		cmd := serveCommand(t, "--isolate", "--control=0")
		cmd.Env = append(cmd.Env, "SORTKEY_CONTROL_TOKEN="+token)
		p := cmdtest.Start(t, cmd)
		var found []string
		require.Eventually(t, func() bool {
			found = line.FindStringSubmatch(p.Stdout.String())
			return found != nil
		}, cmdtest.Timeout, time.Millisecond, &p.Stderr)
		require.NotContains(t, p.Stdout.String(), "a-secret")
		return found[1], found[2]
	}
	_, given := control("a-secret-that-was-given")
	require.Equal(t, "Bearer $SORTKEY_CONTROL_TOKEN", given)

	url, token := control("")
	send := func(name, value, host string) int {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, url+"/databases/a", nil)
		require.NoError(t, err)
		if name != "" {
			req.Header.Set(name, value)
		}
		if host != "" {
			req.Host = host
		}
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		return resp.StatusCode
	}
	require.Equal(t, http.StatusOK, send("Authorization", token, ""))
	require.Equal(t, http.StatusUnauthorized, send("Authorization", "Bearer guess", ""))
	require.Equal(t, http.StatusUnauthorized, send("", "", ""))
	require.Equal(t, http.StatusForbidden, send("Authorization", token, "evil.example"))
	require.Equal(t, http.StatusForbidden, send("Origin", "http://evil.example", ""))
}
