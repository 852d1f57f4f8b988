// Package admission limits the open connections of an HTTP server, so that a client that holds connections cannot
// shut others out.
//
// At the limit, the listener accepts a new connection and closes the one that has waited longest for a request. If
// every connection is busy with a request, the listener accepts a few more. On these the server answers only health
// checks.
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

// spares returns the number of connections that may be open beyond the limit while all others are busy.
func spares(most int) int { return min(max(most/16, 16), 256) }

// headerTimeout is how long a request's header may take to arrive. After that, the listener may close the connection
// to make room for a new one, as if no request were arriving. A header usually comes in one packet.
const headerTimeout = 5 * time.Millisecond

// Counts counts the connections of one or several listeners. It is safe for concurrent use.
type Counts struct {
	open, closed, refused atomic.Int64
}

// Open returns the number of open connections.
func (c *Counts) Open() int64 { return c.open.Load() }

// Closed returns how many connections were closed at the limit to make room for new ones.
func (c *Counts) Closed() int64 { return c.closed.Load() }

// Refused returns how many requests and connections were refused because all connections were busy.
func (c *Counts) Refused() int64 { return c.refused.Load() }

// Options configure a [Listener].
type Options struct {
	// Most is the maximum number of open connections. Default and minimum: 1.
	Most int
	// Health reports whether the server answers a request even if all connections are busy. Default: it answers none.
	Health func(*http.Request) bool
	// Refuse answers requests for which Health is false while all connections are busy. Default: with status 503.
	Refuse http.HandlerFunc
	// Full is called the first time that the limit is reached. Default: nothing.
	Full func()
	// Counts counts the connections. Several listeners may share one. Default: a new one.
	Counts *Counts
}

// A Listener is a [net.Listener] that limits the number of open connections.
type Listener struct {
	net.Listener
	o    Options
	once sync.Once // calls Full

	mu      sync.Mutex
	open    map[*conn]struct{}
	usual   int        // number of open connections within the limit
	waiting *list.List // *conn elements, the longest waiting first
}

// Listen returns a Listener for the connections of ln. Only one server may use it; see [Listener.Attach].
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

// Attach makes srv tell l which of its connections wait for a request. Call it before srv serves on l, but after the
// handler of srv is set.
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
		case gone: // makeRoom closed c while the request was arriving
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

// admit returns a connection for the server. It returns nil if all connections within the limit and all spare ones
// are busy.
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

// makeRoom closes one connection, and reports whether it found one to close. If spare is set, it looks among the
// connections beyond the limit, otherwise among those within it. It prefers the connection that has waited longest
// for a request. If none waits, it closes one whose request was answered before all of the request had arrived. If
// there is none either, it closes one whose header takes longer than headerTimeout.
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
	_ = gone.Conn.Close() // the server's read fails, so net/http closes the connection too
	return true
}

// finish marks the request of a connection as answered. If the client has not sent all of the request, net/http still
// waits for the rest.
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

// wait marks a connection as waiting for its next request.
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

// begin marks the request of a connection as begun. It reports whether the connection is beyond the limit, and
// whether it was closed to make room.
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

// forget removes a connection from the lists, if it is there. The caller holds l.mu.
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

// CloseUnused closes the connections on which nothing has arrived yet. Clients open such connections in advance, and
// net/http would wait for them before it shuts down.
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

	waits    *list.Element // element of l.waiting; nil while a request is being answered
	answered bool          // the last request is answered, but net/http may still read the rest of it
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

// CloseWrite lets net/http send the end of a response before it closes the connection.
func (c *conn) CloseWrite() error {
	if w, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return w.CloseWrite()
	}
	return nil
}
