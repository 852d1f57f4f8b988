package server_test

import (
	"context"
	"net"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/server"
)

// local returns the request as if it had arrived at a loopback address, for the given host.
func local(r *http.Request, host string) *http.Request {
	r.Host = host
	addr := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8000}
	return r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(addr)))
}

// TestHost checks which host names a client may use for the server. A web page that makes its own name resolve to
// this machine sends that name (DNS rebinding).
func TestHost(t *testing.T) {
	open := server.New(echo{}, server.Options{})
	for _, tt := range []struct {
		host    string
		allowed bool
	}{
		{"localhost", true}, {"localhost:8000", true}, {"LOCALHOST.:8000", true}, {"db.localhost:1", true},
		{"127.0.0.1:8000", true}, {"127.9.9.9", true}, {"[::1]:8000", true}, {"[::1]", true},
		{"evil.example", false}, {"evil.example:8000", false}, {"localhost.evil.example", false},
		{"notlocalhost", false},
		{"192.168.1.2:8000", false}, {"0.0.0.0", false}, {"", false}, {"127.0.0.1.evil.example", false},
	} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			send := func() *http.Request {
				return local(newRequest(method, "/", "", "X-Amz-Target", listTables), tt.host)
			}
			res, body := do(t, open, send())
			require.Equal(t, tt.allowed, res.StatusCode == 200, "%s %s: %s", method, tt.host, body)
			if !tt.allowed {
				require.Equal(t, 403, res.StatusCode)
				require.Contains(t, body, "does not name this machine")
			}
			for _, names := range [][]string{
				{"*"},
				{
					"other", "Evil.Example", "192.168.1.2", "0.0.0.0", "localhost.evil.example", "notlocalhost",
					"127.0.0.1.evil.example", "",
				},
			} {
				res, _ = do(t, server.New(echo{}, server.Options{AllowHosts: names}), send())
				require.Equal(t, 200, res.StatusCode, "%s %s", method, tt.host)
			}
		}
	}
	// At an address other than loopback, every host name is accepted.
	r := local(post("", "X-Amz-Target", listTables), "evil.example")
	r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(&net.TCPAddr{
		IP: net.IPv4(192, 168, 1, 2),
	})))
	res, _ := do(t, open, r)
	require.Equal(t, 200, res.StatusCode)
}
