package server

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/sortkey/sortkey/internal/api/event"
	"github.com/sortkey/sortkey/internal/throttle"
)

// service is the http.Handler that New returns.
type service struct {
	handler Handler
	opts    Options
	slots   chan struct{} // holds one value for each slot that a request has taken
	many    chan struct{} // full while a request acquires several slots
	bodies  budget        // bytes of request bodies
	answers budget        // bytes of answers that clients have not read yet
}

// New returns an HTTP handler that answers with h. It is safe for concurrent
// use if h is. A panic in h is logged and answered with InternalServerError.
func New(h Handler, opts Options) http.Handler {
	s := &service{handler: h, opts: opts.withDefaults()}
	s.slots, s.many = make(chan struct{}, s.opts.MaxRequests), make(chan struct{}, 1)
	s.bodies.limit, s.answers.limit = s.opts.MaxPendingBytes, s.opts.MaxPendingBytes
	return s
}

// ServeHTTP implements [http.Handler]. It checks requests in DynamoDB's order (dynalite, index.js and
// test/connection.js).
func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Context().Value(http.LocalAddrContextKey) != nil {
		throttle.Serving()
	}
	if s.opts.Observer == nil || event.IsQuiet(r.Context()) {
		s.answer(w, r)
		return
	}
	e := &event.Event{
		Method: r.Method, Path: r.URL.Path, From: r.RemoteAddr, Start: s.opts.Clock(), In: max(r.ContentLength, 0),
	}
	target, _ := operation(r)
	_, e.Operation, _ = strings.Cut(target, ".")
	s.opts.Observer.Begin(r.Context(), e)
	defer func() { // deferred, so that End runs also after a panic with ErrAbortHandler
		e.Duration = s.opts.Clock().Sub(e.Start)
		s.opts.Observer.End(r.Context(), e)
	}()
	s.answer(w, r.WithContext(event.With(r.Context(), e)))
}

func (s *service) answer(w http.ResponseWriter, r *http.Request) {
	if headerBytes(r) > s.opts.MaxHeaderBytes {
		s.fail(w, r, errHeaders)
		return
	}
	if s.opts.Credentials == nil {
		if f := checkHost(r, s.opts.AllowHosts); f != nil {
			s.fail(w, r, f)
			return
		}
	}

	origin := r.Header.Get("Origin")
	cors := s.allowOrigin(w, r)
	switch {
	case origin != "" && !cors:
		s.fail(w, r, accessDenied("Pages of the origin %q must not use this server. To allow it, start the server "+
			"with this origin (--cors, ServerOptions.CORS).", origin))
	case r.Method == http.MethodOptions && cors:
		s.preflight(w, r)
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
		s.serveGet(w, r)
	case r.Method != http.MethodPost:
		s.notFound(w, r)
	default:
		s.servePost(w, r)
	}
}

func (s *service) servePost(w http.ResponseWriter, r *http.Request) {
	_, inProcess := w.(*response)
	status, out, f := s.handle(r, !inProcess)
	if f != nil {
		if f.closes {
			w.Header().Set("Connection", "close")
		}
		if f == errNotFound {
			s.notFound(w, r)
		} else {
			s.fail(w, r, f)
		}
		return
	}

	// The answer stays in memory until the client has read it, so it counts against the budget.
	if out = out.settle(); out == nil {
		s.fail(w, r, errBusy)
		return
	}
	if status == http.StatusServiceUnavailable {
		later(w.Header())
	}
	s.send(w, r, status, out, typeJSON10)
}

// handle reads a request and calls the handler. It returns the handler's answer, which the caller frees, or a failure
// if it did not call the handler. If counted is set, the answer counts against the budget. Counted is not set for
// requests from inside the process.
func (s *service) handle(r *http.Request, counted bool) (status int, out *buffer, f *failure) {
	target, unknown := operation(r)
	var sig *signature
	if unknown == nil && s.opts.Credentials != nil {
		// Check the signature's fields before reading the body, so that only clients with a known key can make the
		// server read a body.
		if sig, f = readSignature(r, s.opts.Credentials, s.opts.Clock()); f != nil {
			return 0, nil, f.closing()
		}
	}

	raw, unpacked := bodyBuffers.get(), bodyBuffers.get()
	defer raw.free()
	defer unpacked.free()
	in, more := share{b: &s.bodies}, share{b: &s.bodies}
	defer in.free()
	defer more.free()
	if f = readBody(r, s.opts.MaxBodyBytes, raw, &in); f != nil {
		return 0, nil, f
	}
	if e := event.Of(r.Context()); e != nil {
		e.In = int64(len(raw.b))
	}

	// A browser sends neither these content types nor the target header across origins without asking the server
	// first. So a page cannot write to a server that needs no signatures.
	if len(raw.b) > 0 && responseType(r.Header) == nil {
		return 0, nil, errNotFound
	}
	f = unknown
	if sig != nil {
		f = sig.verify(r, raw.b)
	}
	if f != nil {
		if len(raw.b) > 0 && r.Header["Content-Encoding"] == nil && !json.Valid(raw.b) {
			f = errSerialization // DynamoDB checks the syntax first
		}
		return 0, nil, f
	}

	body, f := unpack(r.Header, raw.b, s.opts.MaxBodyBytes, unpacked, &more)
	if f != nil {
		return 0, nil, f
	}
	name, f := s.opts.Isolation.database(r)
	if f != nil {
		return 0, nil, f
	}

	own := s.slotFor(target)
	if !own.Enter(r.Context()) {
		return 0, nil, errBusy
	}
	defer own.Leave()
	call := event.Call{Database: name, Slot: own, Server: event.CallOf(r.Context()).Server}
	if r.Context().Value(http.LocalAddrContextKey) != nil { // clients in the same process do not choose a host
		call.Host = r.Host
	}
	out = newBuffer()
	if counted {
		out.share.b, call.Reservation = &s.answers, out
	}
	return s.serve(event.WithCall(r.Context(), call), r, target, body, out), out, nil
}

// serve calls the handler. It answers a panic of the handler with InternalServerError, so that the process survives.
func (s *service) serve(
	ctx context.Context, r *http.Request, target string, body []byte, out *buffer,
) (status int) {
	defer func() {
		p := recover()
		switch p {
		case nil:
			return
		case http.ErrAbortHandler:
			out.free()
			panic(p)
		}
		s.opts.Logger.ErrorContext(ctx, "panic in handler",
			"target", target, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		// After the panic, out.b may be in any state, so do not reuse its memory.
		out.b, status = errInternal.appendJSON(nil), errInternal.status
		errInternal.note(r)
	}()

	out.b, status = s.handler.Serve(ctx, target, body, out.b)
	if status < 0 {
		panic(http.ErrAbortHandler) // net/http closes the connection
	}
	if status < 200 || status > 599 {
		status = http.StatusOK
	}
	return status
}

// operation returns the target of a request if its form is one that DynamoDB knows. The handler decides whether the
// operation exists. A presigned request has the target in its query string, because signers move headers that begin
// with X-Amz there. Then operation ignores the header, which is not signed.
func operation(r *http.Request) (string, *failure) {
	target := r.Header.Get("X-Amz-Target")
	if r.URL.RawQuery != "" {
		if query := r.URL.Query(); target == "" || query.Has("X-Amz-Algorithm") && query.Has("X-Amz-Target") {
			target = query.Get("X-Amz-Target")
		}
	}
	for _, prefix := range []string{"DynamoDB_20120810.", "DynamoDBStreams_20120810."} {
		if op, ok := strings.CutPrefix(target, prefix); ok && op != "" && !strings.Contains(op, ".") {
			return target, nil
		}
	}
	return "", errUnknownOperation
}

// later asks a client to try again in a second. SDKs since November 2026 obey X-Amz-Retry-After, in milliseconds.
func later(h http.Header) {
	h.Set("Retry-After", "1")
	h.Set("X-Amz-Retry-After", "1000")
}

func (s *service) fail(w http.ResponseWriter, r *http.Request, f *failure) {
	f.note(r)
	if f.status == http.StatusServiceUnavailable {
		later(w.Header())
	}
	out := newBuffer()
	out.b = f.appendJSON(out.b)
	typ := typeJSON10
	if f == errUnknownOperation {
		typ = typeJSON
	}
	s.send(w, r, f.status, out, typ)
}

// Content types as header values, allocated once. Do not change them.
var (
	typeJSON10 = []string{"application/x-amz-json-1.0"}
	typeJSON   = []string{"application/json"}
)

// responseType returns the content type to answer with, or nil for a request with a content type that DynamoDB does
// not accept.
func responseType(h http.Header) []string {
	typ := h.Get("Content-Type")
	if typ == typeJSON10[0] {
		return typeJSON10
	}
	name, _, _ := strings.Cut(typ, ";")
	switch strings.ToLower(strings.TrimSpace(name)) {
	case "application/x-amz-json-1.0":
		return typeJSON10
	case "application/json":
		return typeJSON
	}
	return nil
}

// send answers with the bytes of out, and frees out. The response has the content type of the request. If DynamoDB
// does not accept that type, the response has typ, because in a recording DynamoDB answers an unknown operation with
// JSON. The checksum covers the bytes as sent, after compression (Alternator, test_crc.py).
func (s *service) send(w http.ResponseWriter, r *http.Request, status int, out *buffer, typ []string) {
	h := w.Header()
	if n := s.opts.CompressBytes; n >= 0 && len(out.b) >= n {
		if coding := acceptedEncoding(r.Header["Accept-Encoding"]); coding != "" {
			packed := newBuffer()
			compress(r.Context(), coding, out.b, packed)
			packed.share, out.share = out.share, share{}
			out.free()
			if out = packed.settle(); out == nil { // the compressed answer may need more memory than the original
				s.fail(w, r, errBusy)
				return
			}
			h.Set("Content-Encoding", coding)
		}
	}

	if own := responseType(r.Header); own != nil {
		typ = own
	}
	h["Content-Type"] = typ
	s.finish(r, status, h, out.b)
	w.WriteHeader(status)
	if t, ok := w.(*response); ok {
		t.take(out)
		return
	}
	_, _ = w.Write(out.b) // the client may be gone
	out.free()
}

var serverName = []string{"Sortkey"}

// finish sets the headers that every answer has, and records the answer in the event of the request.
func (s *service) finish(r *http.Request, status int, h http.Header, body []byte) {
	values := []string{
		s.opts.RequestID(),
		strconv.FormatUint(uint64(crc32.ChecksumIEEE(body)), 10),
		strconv.Itoa(len(body)),
	}
	if e := event.Of(r.Context()); e != nil {
		e.Status, e.ID, e.Out = status, values[0], int64(len(body))
	}
	h["Server"] = serverName
	h["X-Amzn-Requestid"] = values[0:1:1]
	h["X-Amz-Crc32"] = values[1:2:2]
	h["Content-Length"] = values[2:3:3]
}

// notFound answers a request that names no operation.
func (s *service) notFound(w http.ResponseWriter, r *http.Request) {
	s.sendText(w, r, http.StatusNotFound, "", "<UnknownOperationException/>\n")
}

func (s *service) sendText(w http.ResponseWriter, r *http.Request, status int, typ, text string) {
	h := w.Header()
	if typ != "" {
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Content-Type", typ)
	} else {
		h["Content-Type"] = nil // keeps net/http from guessing
	}
	s.finish(r, status, h, []byte(text))
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text))
}

// headerBytes returns the length of the request line and the headers.
func headerBytes(r *http.Request) int {
	uri := len(r.RequestURI)
	if uri == 0 {
		uri = len(r.URL.RequestURI())
	}
	n := len(r.Method) + uri + len(r.Proto) + len("  \r\n") + len("Host: \r\n") + len(r.Host)
	for name, values := range r.Header {
		for _, v := range values {
			n += len(name) + len(v) + len(": \r\n")
		}
	}
	return n
}

// serveGet answers GET requests of people and health checks.
func (s *service) serveGet(w http.ResponseWriter, r *http.Request) {
	host := r.Host
	switch r.URL.Path {
	case "/healthz":
		status, text := http.StatusOK, "healthy: "+host+"\n"
		if s.opts.Health != nil {
			if err := s.opts.Health(); err != nil {
				status, text = http.StatusServiceUnavailable, "unhealthy: "+err.Error()+"\n"
			}
		}
		s.sendText(w, r, status, "text/plain; charset=utf-8", text)
	case "/":
		// Like DynamoDB, answer programs, such as health checks of containers, with the host. A person with a browser
		// gets a page.
		text := "healthy: " + host + " \n"
		if strings.Contains(r.Header.Get("Accept"), "text/html") {
			text = fmt.Sprintf(welcome, host)
		}
		s.sendText(w, r, http.StatusOK, "text/plain; charset=utf-8", text)
	default:
		s.notFound(w, r)
	}
}

const welcome = `This is Sortkey, an ordered key-value store that answers like DynamoDB.

Point a client at it:

    export AWS_ENDPOINT_URL_DYNAMODB=http://%[1]s
    aws dynamodb list-tables --endpoint-url http://%[1]s

Any region and credentials will do, unless the server was given some.
`

// allowOrigin reports whether the request comes from a page of an allowed origin. If so, it adds the headers that let
// the page read the answer.
func (s *service) allowOrigin(w http.ResponseWriter, r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" || len(s.opts.CORS) == 0 {
		return false
	}
	h := w.Header()
	switch {
	case slices.Contains(s.opts.CORS, "*"):
		h.Set("Access-Control-Allow-Origin", "*")
	case slices.Contains(s.opts.CORS, origin):
		h.Set("Access-Control-Allow-Origin", origin)
		h.Set("Vary", "Origin")
	default:
		return false
	}
	h.Set("Access-Control-Expose-Headers", "x-amzn-requestid,x-amz-crc32,date")
	return true
}

// preflight answers the OPTIONS request by which a browser asks what a page may send (dynalite, test/connection.js).
func (s *service) preflight(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	for asked, allowed := range map[string]string{
		"Access-Control-Request-Headers": "Access-Control-Allow-Headers",
		"Access-Control-Request-Method":  "Access-Control-Allow-Methods",
	} {
		if v := r.Header.Get(asked); v != "" {
			h.Set(allowed, v)
		}
	}
	h.Set("Access-Control-Max-Age", "172800")
	s.finish(r, http.StatusOK, h, nil)
	w.WriteHeader(http.StatusOK)
}
