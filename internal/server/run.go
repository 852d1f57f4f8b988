package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// headerRoom bounds the headers that net/http reads before it refuses a request itself,
// with status 431. It is more than Options.MaxHeaderBytes, so that the service's own
// refusal is the usual one.
const headerRoom = 256 << 10

// Run listens on addr, [DefaultAddr] if it is empty, and serves h there until
// ctx ends; see [Serve].
func Run(ctx context.Context, addr string, h http.Handler, opts Options) error {
	if addr == "" {
		addr = DefaultAddr
	}
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	return Serve(ctx, ln, h, opts)
}

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
	limited := newListener(ln, opts.MaxConnections)
	ln = limited
	srv := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: timeout(opts.ReadHeaderTimeout),
		ReadTimeout:       timeout(opts.ReadTimeout),
		WriteTimeout:      timeout(opts.WriteTimeout),
		IdleTimeout:       timeout(opts.IdleTimeout),
		MaxHeaderBytes:    max(headerRoom, 2*opts.MaxHeaderBytes),
		ErrorLog:          slog.NewLogLogger(opts.Logger.Handler(), slog.LevelWarn),
		// Requests outlive ctx by the time of the shutdown.
		BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
	}

	served := make(chan error, 1)
	go func() { served <- srv.Serve(ln) }()
	select {
	case err := <-served: // it cannot accept any more
		return errors.Join(err, shutdown(ctx, srv, opts.ShutdownTimeout))
	case <-ctx.Done():
	}
	limited.closeUnused()
	err := shutdown(ctx, srv, opts.ShutdownTimeout)
	if ended := <-served; !errors.Is(ended, http.ErrServerClosed) {
		err = errors.Join(err, ended)
	}
	return err
}

// shutdown lets requests finish for a while, then breaks them off.
func shutdown(ctx context.Context, srv *http.Server, patience time.Duration) error {
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
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

// A listener accepts a connection only when there is a slot for it, and knows
// its open connections.
type listener struct {
	net.Listener
	slots  chan struct{}
	once   sync.Once
	closed chan struct{}

	mu   sync.Mutex
	open map[*conn]struct{}
}

func newListener(ln net.Listener, connections int) *listener {
	return &listener{
		Listener: ln, slots: make(chan struct{}, connections), closed: make(chan struct{}), open: map[*conn]struct{}{},
	}
}

// Accept implements [net.Listener].
func (l *listener) Accept() (net.Conn, error) {
	select {
	case l.slots <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.slots
		return nil, err
	}
	accepted := &conn{Conn: c, l: l}
	l.mu.Lock()
	l.open[accepted] = struct{}{}
	l.mu.Unlock()
	return accepted, nil
}

// Close implements [net.Listener].
func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// closeUnused closes the connections that have sent nothing yet. Clients open
// them in advance, and net/http waits for them before it shuts down.
func (l *listener) closeUnused() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.open {
		if !c.used.Load() {
			_ = c.Conn.Close() // net/http closes c
		}
	}
}

type conn struct {
	net.Conn
	l    *listener
	used atomic.Bool
	once sync.Once
}

// Read implements [net.Conn].
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 && !c.used.Load() {
		c.used.Store(true)
	}
	return n, err
}

// Close implements [net.Conn].
func (c *conn) Close() error {
	defer c.once.Do(func() {
		c.l.mu.Lock()
		delete(c.l.open, c)
		c.l.mu.Unlock()
		<-c.l.slots
	})
	return c.Conn.Close()
}

// CloseWrite lets net/http end an answer before the connection.
func (c *conn) CloseWrite() error {
	if w, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return w.CloseWrite()
	}
	return nil
}
