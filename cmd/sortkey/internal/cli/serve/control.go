package serve

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"net/http"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/web"
	"github.com/sortkey/sortkey/server"
)

// tokenVariable is the environment variable with the token of --control.
const tokenVariable = "SORTKEY_CONTROL_TOKEN"

// serveControl serves [server.Server.Control] on a loopback address and prints the address. Requests need the token
// in the environment. If the environment has none, serveControl creates a token and prints it.
func serveControl(
	ctx context.Context, env *app.Env, port string, front *server.Server, log logs,
) (end func(), err error) {
	token, shown := env.Getenv(tokenVariable), "$"+tokenVariable
	if token == "" {
		token = rand.Text()
		shown = token
	}
	if err := web.CheckToken(token); err != nil {
		return nil, app.UsageError("make one with: openssl rand -hex 16", "%s: %w", tokenVariable, err)
	}
	s, err := serveBeside(ctx, "--control", port, authorized(token, front.Control()), nil, log)
	if err != nil {
		return nil, err
	}
	if !loopback(s.ln.Addr()) {
		s.stop()
		return nil, app.UsageError(
			"write --control, or --control=8001", "--control: %s is not a port of this machine alone", port,
		)
	}
	fmt.Fprintf(
		env.Stdout, "sortkey: control at http://%s with the header Authorization: Bearer %s\n", s.ln.Addr(), shown,
	)
	return s.stop, nil
}

// authorized returns a handler that passes a request to h if the request has the token and no page in a browser has
// sent it.
func authorized(token string, h http.Handler) http.Handler {
	want := []byte("Bearer " + token)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Origin") != "":
			http.Error(w, `{"error": "pages of browsers must not use this address"}`, http.StatusForbidden)
		case subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), want) != 1:
			http.Error(w, `{"error": "send the header Authorization: Bearer TOKEN with the token that serve printed, `+
				`or that of its SORTKEY_CONTROL_TOKEN"}`, http.StatusUnauthorized)
		default:
			h.ServeHTTP(w, r)
		}
	})
}
