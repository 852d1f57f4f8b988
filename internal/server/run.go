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

// minHeaderBytes bounds the headers that net/http reads before it refuses a request itself,
// with status 431. It is more than Options.MaxHeaderBytes, so that the service's own
// refusal is the usual one.
const minHeaderBytes = 256 << 10

// Serve serves h, which [New] made, on ln until ctx ends, then lets the requests
// under way finish for [Options].ShutdownTimeout and returns nil, or the error
// of having had to break them off. It closes ln. Of the options it takes the
// logger, the time-outs and the limits of connections and headers.
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
		// Requests outlive ctx by the time of the shutdown.
		BaseContext: func(net.Listener) context.Context {
			return event.WithCall(context.WithoutCancel(ctx), event.Call{Server: ctx})
		},
	}

	limited.Attach(srv)

	served := make(chan error, 1)
	go func() { served <- srv.Serve(limited) }()
	select {
	case err := <-served: // it cannot accept any more
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

// refuse answers a request for which no connection is free.
func refuse(w http.ResponseWriter, _ *http.Request) {
	later(w.Header())
	w.Header()["Content-Type"] = typeJSON10
	w.WriteHeader(errBusy.status)
	_, _ = w.Write(errBusy.appendJSON(nil))
}

// shutdown lets requests finish for a while, then breaks them off.
func shutdown(ctx context.Context, srv *http.Server, timeout time.Duration) error {
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer cancel()
	if err := srv.Shutdown(grace); err != nil {
		return errors.Join(err, srv.Close())
	}
	return nil
}

// timeout turns a negative time-out into zero, which means no time-out to net/http.
func timeout(d time.Duration) time.Duration { return max(d, 0) }

func loopback(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return !ok || tcp.IP.IsLoopback()
}
