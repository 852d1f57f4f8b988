package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/sortkey/sortkey/internal/admission"
	"github.com/sortkey/sortkey/internal/api/event"
)

// minHeaderBytes is the least number of bytes of headers after which net/http may refuse a request itself, with
// status 431. It is more than Options.MaxHeaderBytes, so that usually the service refuses long headers, with
// DynamoDB's error.
const minHeaderBytes = 256 << 10

// Serve serves h, which [New] returned, on ln until ctx ends, and closes ln. Then it lets the requests under way
// finish for up to [Options].ShutdownTimeout. It returns nil, or an error if it had to abort some of them. Of the
// options it uses the logger, the timeouts and the limits of connections and headers.
func Serve(ctx context.Context, ln net.Listener, h http.Handler, opts Options) error {
	defer func() { _ = ln.Close() }()
	opts = opts.withDefaults()
	if !loopback(ln.Addr()) && opts.Credentials == nil && !opts.Open {
		opts.Logger.WarnContext(ctx, "listening beyond this machine without credentials", "addr", ln.Addr().String())
	}
	limited := admission.Listen(ln, admission.Options{
		Most: opts.MaxConnections, Counts: opts.Connections, Refuse: refuse,
		Health: func(r *http.Request) bool { return r.Method == http.MethodGet && r.URL.Path == "/healthz" },
		Full: func() {
			opts.Logger.WarnContext(
				ctx, "all connections are taken: for a new one, that which waits longest for a request is closed",
				"max_connections", opts.MaxConnections,
			)
		},
	})
	srv := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: timeout(opts.ReadHeaderTimeout),
		ReadTimeout:       timeout(opts.ReadTimeout),
		WriteTimeout:      timeout(opts.WriteTimeout),
		IdleTimeout:       timeout(opts.IdleTimeout),
		MaxHeaderBytes:    max(minHeaderBytes, 2*opts.MaxHeaderBytes),
		ErrorLog:          slog.NewLogLogger(opts.Logger.Handler(), slog.LevelWarn),
		// Requests may outlive ctx by ShutdownTimeout, so their context does not end with ctx.
		BaseContext: func(net.Listener) context.Context {
			return event.WithCall(context.WithoutCancel(ctx), event.Call{Server: ctx})
		},
	}

	limited.Attach(srv)

	served := make(chan error, 1)
	go func() { served <- srv.Serve(limited) }()
	select {
	case err := <-served: // Accept failed
		return errors.Join(err, shutdown(ctx, srv, opts.ShutdownTimeout))
	case <-ctx.Done():
	}
	limited.CloseUnused()
	err := shutdown(ctx, srv, opts.ShutdownTimeout)
	if ended := <-served; !errors.Is(ended, http.ErrServerClosed) {
		err = errors.Join(err, ended)
	}
	return err
}

// refuse answers a request that arrives while no connection is free.
func refuse(w http.ResponseWriter, _ *http.Request) {
	later(w.Header())
	w.Header()["Content-Type"] = typeJSON10
	w.WriteHeader(errBusy.status)
	_, _ = w.Write(errBusy.appendJSON(nil))
}

// shutdown lets the requests under way finish for up to timeout, then aborts them.
func shutdown(ctx context.Context, srv *http.Server, timeout time.Duration) error {
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer cancel()
	if err := srv.Shutdown(grace); err != nil {
		return errors.Join(err, srv.Close())
	}
	return nil
}

// timeout turns a negative timeout into zero, which means no timeout to net/http.
func timeout(d time.Duration) time.Duration { return max(d, 0) }

func loopback(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return !ok || tcp.IP.IsLoopback()
}
