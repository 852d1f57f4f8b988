package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
)

// A Transport passes requests to a handler in the same process, without a
// socket. It is an [http.RoundTripper] for an [http.Client] or an SDK client.
// The handler runs in the goroutine of the caller, with the request's context.
// The response is kept in memory until its body is closed. A Transport is safe
// for concurrent use if the handler is.
type Transport struct {
	Handler http.Handler
}

var errNoHandler = errors.New("server: transport without a handler")

// RoundTrip implements [http.RoundTripper]. If the handler panics, it returns the panic as an error.
func (t Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	if req.Body != nil {
		defer req.Body.Close()
	}
	if t.Handler == nil {
		return nil, errNoHandler
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	inner := ctx
	if ctx.Value(http.LocalAddrContextKey) != nil { // the caller is itself handling a request of an HTTP server
		inner = context.WithValue(ctx, http.LocalAddrContextKey, nil)
	}
	in := req.WithContext(inner) // a copy, so the handler may change it
	in.Proto, in.ProtoMajor, in.ProtoMinor = "HTTP/1.1", 1, 1
	in.RequestURI, in.RemoteAddr = req.URL.RequestURI(), "in-process"
	in.Host, in.Method = cmp.Or(in.Host, req.URL.Host), cmp.Or(in.Method, http.MethodGet)
	if in.Header == nil {
		in.Header = http.Header{}
	}
	if in.Body == nil {
		in.Body = http.NoBody
	} else if in.Body != http.NoBody && in.ContentLength == 0 {
		in.ContentLength = -1
	}

	w := &response{header: make(http.Header, 8)}
	if err := cmp.Or(w.serve(t.Handler, in), context.Cause(ctx)); err != nil {
		w.buf.free()
		return nil, err
	}
	w.WriteHeader(http.StatusOK)
	length := int64(0)
	if w.buf != nil {
		length = int64(len(w.buf.b))
	}
	return &http.Response{
		Status:        statusText(w.status),
		StatusCode:    w.status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        w.header,
		Body:          &answer{buf: w.buf},
		ContentLength: length,
		Request:       req,
	}, nil
}

func statusText(status int) string {
	if status == http.StatusOK {
		return "200 OK"
	}
	return fmt.Sprintf("%d %s", status, http.StatusText(status))
}

// A response collects the response of a handler.
type response struct {
	header http.Header
	status int
	head   bool
	buf    *buffer // nil until the handler writes something
}

func (w *response) serve(h http.Handler, r *http.Request) (err error) {
	defer func() {
		if p := recover(); p == http.ErrAbortHandler {
			err = io.EOF // as if the server had closed the connection
		} else if p != nil {
			err = fmt.Errorf("server: handler panicked: %v", p)
		}
	}()
	w.head = r.Method == http.MethodHead
	h.ServeHTTP(w, r)
	return nil
}

// Header implements [http.ResponseWriter].
func (w *response) Header() http.Header { return w.header }

// WriteHeader implements [http.ResponseWriter].
func (w *response) WriteHeader(status int) {
	if w.status == 0 && status >= 200 {
		w.status = status
	}
}

// Write implements [http.ResponseWriter].
func (w *response) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if w.head {
		return len(p), nil
	}
	if w.buf == nil {
		w.buf = newBuffer()
	}
	return w.buf.Write(p)
}

// Flush implements [http.Flusher]. It only sets the status.
func (w *response) Flush() { w.WriteHeader(http.StatusOK) }

// take makes buf the body of the response, if possible without copying.
func (w *response) take(buf *buffer) {
	if w.head || w.buf != nil {
		_, _ = w.Write(buf.b)
		buf.free()
		return
	}
	w.buf = buf
}

// An answer is the body of a response. Closing it frees its buffer.
type answer struct {
	mu   sync.Mutex
	buf  *buffer
	at   int
	done bool
}

// Read implements [io.Reader].
func (a *answer) Read(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.done:
		return 0, http.ErrBodyReadAfterClose
	case a.buf == nil || a.at == len(a.buf.b):
		return 0, io.EOF
	}
	n := copy(p, a.buf.b[a.at:])
	a.at += n
	return n, nil
}

// Close implements [io.Closer].
func (a *answer) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.done {
		a.done = true
		a.buf.free()
		a.buf = nil
	}
	return nil
}
