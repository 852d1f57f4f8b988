package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// A front answers calls of the usual form itself and leaves everything else to
// net/http.
//
// The usual form is what clients of the service send over a connection that
// they keep: POST / with a length, a small body and ordinary headers. net/http
// spends several times as long on such a request as the operation takes, most
// of it on watching the connection meanwhile and on its time-outs. So a front
// reads the whole request first and writes the answer at once. A connection on
// which anything else comes, or a request in slow parts, goes to net/http,
// together with what was read of it, and stays there. The strictest reading
// decides: what a front takes, net/http would have taken with the same meaning.
//
// Unlike net/http it does not cancel a request whose client goes away while it
// is worked on.
type front struct {
	handler http.Handler
	opts    Options
	rest    *handover
	ctx     context.Context // of requests
	cancel  context.CancelFunc

	mu      sync.Mutex
	conns   map[*frontConn]struct{}
	closing bool
	running sync.WaitGroup
}

func newFront(ctx context.Context, h http.Handler, opts Options, addr net.Addr) *front {
	f := &front{
		handler: h, opts: opts, conns: map[*frontConn]struct{}{},
		rest: &handover{addr: addr, conns: make(chan net.Conn), closed: make(chan struct{})},
	}
	f.ctx, f.cancel = context.WithCancel(ctx)
	return f
}

// serve accepts connections until the listener fails.
func (f *front) serve(ln net.Listener) error {
	const most = time.Second
	wait := 5 * time.Millisecond
	for {
		conn, err := ln.Accept()
		if err != nil {
			if t, ok := errors.AsType[interface {
				error
				Temporary() bool
			}](err); ok && t.Temporary() { // too many open files
				f.opts.Logger.Warn("accept failed, waiting", "error", err, "wait", wait)
				time.Sleep(wait)
				wait = min(2*wait, most)
				continue
			}
			return err
		}
		wait = 5 * time.Millisecond
		c := &frontConn{Conn: conn, front: f}
		if !f.add(c) {
			_ = conn.Close()
			continue
		}
		go c.run()
	}
}

func (f *front) add(c *frontConn) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closing {
		return false
	}
	f.conns[c] = struct{}{}
	f.running.Add(1)
	return true
}

func (f *front) remove(c *frontConn) {
	f.mu.Lock()
	delete(f.conns, c)
	f.mu.Unlock()
	f.running.Done()
}

// setIdle notes that a connection waits for a request, or does not any more.
// It reports whether to go on.
func (f *front) setIdle(c *frontConn, idle bool) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	c.idle = idle
	return !f.closing || !idle
}

func (f *front) isClosing() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.closing
}

// shutdown ends idle connections and waits for the others. When ctx ends first
// these are broken off and its error is returned.
func (f *front) shutdown(ctx context.Context) error {
	f.mu.Lock()
	f.closing = true
	for c := range f.conns {
		if c.idle {
			_ = c.SetReadDeadline(time.Unix(1, 0))
		}
	}
	f.mu.Unlock()
	done := make(chan struct{})
	go func() {
		f.running.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
	}
	f.cancel()
	f.mu.Lock()
	defer f.mu.Unlock()
	for c := range f.conns {
		_ = c.Close()
	}
	return context.Cause(ctx)
}

// A handover is the listener that net/http takes connections from.
type handover struct {
	addr   net.Addr
	conns  chan net.Conn
	once   sync.Once
	closed chan struct{}
}

// give hands a connection over. What was read of it comes first.
func (h *handover) give(c net.Conn, read []byte) {
	select {
	case h.conns <- &replayed{Conn: c, read: read}:
	case <-h.closed:
		_ = c.Close()
	}
}

// Accept implements [net.Listener].
func (h *handover) Accept() (net.Conn, error) {
	select {
	case c := <-h.conns:
		return c, nil
	case <-h.closed:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener].
func (h *handover) Close() error {
	h.once.Do(func() { close(h.closed) })
	return nil
}

// Addr implements [net.Listener].
func (h *handover) Addr() net.Addr { return h.addr }

// replayed is a connection that gives again what was read of it.
type replayed struct {
	net.Conn
	read []byte
}

// Read implements [net.Conn]. net/http never reads twice at a time.
func (c *replayed) Read(p []byte) (int, error) {
	if len(c.read) > 0 {
		n := copy(p, c.read)
		c.read = c.read[n:]
		return n, nil
	}
	return c.Conn.Read(p)
}

// CloseWrite lets net/http end an answer before the connection.
func (c *replayed) CloseWrite() error {
	if w, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return w.CloseWrite()
	}
	return nil
}

// logPanic is for a panic that no handler caught.
func (f *front) logPanic(p any, stack []byte) {
	f.opts.Logger.LogAttrs(f.ctx, slog.LevelError, "panic in handler", slog.Any("panic", p), slog.String("stack", string(stack)))
}
