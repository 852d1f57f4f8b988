package serve

import (
	"context"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	protocol "github.com/sortkey/sortkey/internal/server"
)

// besideTimeout bounds the time of a request beside the server after that has stopped.
const besideTimeout = time.Second

// A beside serves what is not of the protocol on an address of its own, where it needs no signature and
// does not disturb clients.
type beside struct {
	ln   net.Listener
	stop func()
}

// serveBeside starts to serve h at the address in a flag, for hosts besides those of this machine.
func serveBeside(
	ctx context.Context, flag, addr string, h http.Handler, hosts []string, log logs,
) (*beside, error) {
	ln, err := listen(ctx, flag, addr)
	if err != nil {
		return nil, err
	}
	s := &beside{ln: ln}
	// It goes on while requests in progress finish.
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan error, 1)
	go func() {
		done <- protocol.Serve(
			ctx, ln, protocol.LocalOnly(h, hosts),
			protocol.Options{Logger: log.Logger, Open: true, ShutdownTimeout: besideTimeout},
		)
	}()
	s.stop = func() {
		cancel()
		if err := <-done; err != nil {
			log.Warn(flag, "err", err)
		}
	}
	return s, nil
}

// serveProfiles serves the profiles of the process, on this machine only: they show what is in memory.
func serveProfiles(ctx context.Context, addr string, log logs) (*beside, error) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "The command line can have secrets.", http.StatusNotFound)
	})
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("POST /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	s, err := serveBeside(ctx, "--pprof", addr, mux, nil, log)
	if err == nil && !loopback(s.ln.Addr()) {
		s.stop()
		return nil, app.UsageError(
			"write 127.0.0.1:0, and reach it through an SSH tunnel",
			"--pprof: %s is not an address of this machine alone", addr,
		)
	}
	return s, err
}
