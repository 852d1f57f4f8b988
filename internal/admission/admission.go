// Package admission bounds the connections of an HTTP server so that nobody can shut others out
// by holding them.
//
// At the limit, a new connection takes the place of the one that has waited longest for a request.
// If all are busy with requests, a few more are let in, on which only health is answered.
package admission

import (
	"cmp"
	"container/list"
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// spares returns how many connections beyond a limit are open while all others are busy.
func spares(most int) int { return min(max(most/16, 16), 256) }

// headerTimeout is how long the header of a request may be on its way, at the limit, before its connection
// is treated as one that waits. Headers come in one packet.
const headerTimeout = 5 * time.Millisecond

// Counts counts the connections of one or several listeners. It is safe for concurrent use.
type Counts struct {
	open, closed, refused atomic.Int64
}

// Open returns how many connections are open.
func (c *Counts) Open() int64 { return c.open.Load() }

// Closed returns how many were closed at the limit because they waited longest for a request.
func (c *Counts) Closed() int64 { return c.closed.Load() }

// Refused returns how many requests and connections were refused because all connections were busy.
func (c *Counts) Refused() int64 { return c.refused.Load() }

// Options configure a [Listener].
type Options struct {
	// Most is the limit of open connections, at least 1.
	Most int
	// Health reports whether a request is answered even if all connections are busy. Nil: none is.
	Health func(*http.Request) bool
	// Refuse answers the other requests that are made then. Nil: status 503.
	Refuse http.HandlerFunc
	// Full is called once, when the limit is reached for the first time. Nil: nothing is.
	Full func()
	// Counts counts the connections. Nil: nobody does.
	Counts *Counts
}

// A Listener accepts connections within a limit.
type Listener struct {
	net.Listener
	o    Options
	once sync.Once // calls Full

	mu      sync.Mutex
	open    map[*conn]struct{}
	usual   int        // those of open within the limit
	waiting *list.List // of *conn, the one that waits longest for a request first
}

// Listen returns a listener that accepts the connections of ln, for one server; see [Listener.Attach].
func Listen(ln net.Listener, o Options) *Listener {
	o.Most = max(o.Most, 1)
	if o.Health == nil {
		o.Health = func(*http.Request) bool { return false }
	}
	if o.Refuse == nil {
		o.Refuse = func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "All connections are busy.", http.StatusServiceUnavailable)
		}
	}
	if o.Full == nil {
		o.Full = func() {}
	}
	if o.Counts == nil {
		o.Counts = new(Counts)
	}
	return &Listener{Listener: ln, o: o, open: map[*conn]struct{}{}, waiting: list.New()}
}

type connKey struct{}

// Attach makes a server, which has its handler and will serve on l, tell l which of its connections
// wait for a request.
func (l *Listener) Attach(srv *http.Server) {
	h := srv.Handler
	srv.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		return context.WithValue(ctx, connKey{}, c)
	}
	srv.ConnState = func(c net.Conn, state http.ConnState) {
		if state == http.StateIdle {
			l.wait(c.(*conn))
		}
	}
	srv.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, _ := r.Context().Value(connKey{}).(*conn)
		spare, gone := l.begin(c)
		switch {
		case gone: // its first bytes were read while it was being closed
			panic(http.ErrAbortHandler)
		case !spare:
			h.ServeHTTP(w, r)
			l.finish(c)
			return
		}

		defer l.finish(c)
		w.Header().Set("Connection", "close")
		if l.o.Health(r) {
			h.ServeHTTP(w, r)
			return
		}
		l.o.Counts.refused.Add(1)
		l.o.Refuse(w, r)
	})
}

// Accept implements [net.Listener].
func (l *Listener) Accept() (net.Conn, error) {
	for {
		inner, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if c := l.admit(inner); c != nil {
			return c, nil
		}
		l.o.Counts.refused.Add(1)
		_ = inner.Close()
	}
}

// admit returns a connection that may be served, or nil if there is no place for it.
func (l *Listener) admit(inner net.Conn) *conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	spare := false
	if l.usual >= l.o.Most {
		l.once.Do(l.o.Full)
		spare = !l.makeRoom(false)
		if spare && len(l.open)-l.usual >= spares(l.o.Most) && !l.makeRoom(true) {
			return nil
		}
	}

	c := &conn{Conn: inner, l: l, spare: spare}
	l.open[c] = struct{}{}
	if !spare {
		l.usual++
	}
	c.waits = l.waiting.PushBack(c)
	l.o.Counts.open.Add(1)
	return c
}

// makeRoom closes the connection, within or beyond the limit, that has waited longest for a request. If
// none waits, it closes one whose request has been answered, though not read to its end, or else one on
// which a request takes long to come in.
func (l *Listener) makeRoom(spare bool) bool {
	var idle, answered, slow *conn
	for e := l.waiting.Front(); e != nil && idle == nil; e = e.Next() {
		c := e.Value.(*conn)
		began := c.began.Load()
		switch {
		case c.spare != spare:
		case c.answered:
			answered = cmp.Or(answered, c)
		case began == 0:
			idle = c
		case time.Since(time.Unix(0, began)) > headerTimeout:
			slow = cmp.Or(slow, c)
		}
	}
	gone := cmp.Or(idle, answered, slow)
	if gone == nil {
		return false
	}

	l.forget(gone)
	l.o.Counts.closed.Add(1)
	_ = gone.Conn.Close() // its reader ends, and net/http closes it too
	return true
}

// finish says that the request of a connection has been answered. Net/http still waits for its rest, if
// the client has sent only a part.
func (l *Listener) finish(c *conn) {
	if c == nil {
		return // not one of ours
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, open := l.open[c]; open && c.waits == nil {
		c.answered = true
		c.waits = l.waiting.PushBack(c)
	}
}

// wait says that a connection waits for its next request.
func (l *Listener) wait(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, open := l.open[c]; !open {
		return
	}
	c.began.Store(0)
	c.answered = false
	if c.waits != nil {
		l.waiting.MoveToBack(c.waits)
		return
	}
	c.waits = l.waiting.PushBack(c)
}

// begin says that a request has begun, and reports whether its connection is beyond the limit or
// was closed for another.
func (l *Listener) begin(c *conn) (spare, gone bool) {
	if c == nil {
		return false, false // not one of ours
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, open := l.open[c]; !open {
		return false, true
	}
	if c.waits != nil {
		l.waiting.Remove(c.waits)
		c.waits = nil
	}
	c.answered = false
	return c.spare, false
}

// forget takes a connection off the lists, once.
func (l *Listener) forget(c *conn) {
	if _, open := l.open[c]; !open {
		return
	}
	delete(l.open, c)
	if !c.spare {
		l.usual--
	}
	if c.waits != nil {
		l.waiting.Remove(c.waits)
		c.waits = nil
	}
	l.o.Counts.open.Add(-1)
}

// CloseUnused closes the connections that have sent nothing yet. Clients open them in advance, and
// net/http waits for them before it shuts down.
func (l *Listener) CloseUnused() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.open {
		if !c.used.Load() {
			_ = c.Conn.Close() // net/http closes c
		}
	}
}

// A conn is a connection of a listener.
type conn struct {
	net.Conn
	l     *Listener
	spare bool        // beyond the limit
	used  atomic.Bool // something was read
	began atomic.Int64

	waits    *list.Element // in l.waiting, nil while a request is answered
	answered bool          // the last request, but net/http may not have read all of it
}

// Read implements [net.Conn].
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 && c.began.Load() == 0 {
		c.began.Store(time.Now().UnixNano())
		c.used.Store(true)
	}
	return n, err
}

// Close implements [net.Conn].
func (c *conn) Close() error {
	c.l.mu.Lock()
	c.l.forget(c)
	c.l.mu.Unlock()
	return c.Conn.Close()
}

// CloseWrite lets net/http end an answer before the connection.
func (c *conn) CloseWrite() error {
	if w, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return w.CloseWrite()
	}
	return nil
}
