package layer

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/sortkey/sortkey/bench/measure"
	"github.com/sortkey/sortkey/bench/work"
)

// An Endpoint sends calls over HTTP to a server that has the table, in this process or elsewhere.
type Endpoint struct {
	url    string
	shape  work.Shape
	client *http.Client
	stop   func() error // ends a server of this process
}

// NewEndpoint returns the endpoint at an address such as http://127.0.0.1:8000, whose table has a shape.
func NewEndpoint(url string, shape work.Shape) *Endpoint {
	const workers = 256 // more than ever call at once
	return &Endpoint{
		url: url, shape: shape, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: workers}},
		stop: func() error { return nil },
	}
}

// serveHere runs a server on a loopback socket of this process until the endpoint is closed.
func serveHere(shape work.Shape, serve func(context.Context, net.Listener) error) (*Endpoint, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, ln) }()
	e := NewEndpoint("http://"+ln.Addr().String(), shape)
	e.stop = func() error {
		cancel()
		return <-ended
	}
	return e, nil
}

// Close implements [Layer].
func (e *Endpoint) Close() error {
	e.client.CloseIdleConnections()
	return e.stop()
}

// authorization has the form of a signature but is not one: local endpoints do not check it, and signing is not
// measured.
var authorization = "AWS4-HMAC-SHA256 Credential=bench/20260101/us-east-1/dynamodb/aws4_request, " +
	"SignedHeaders=host;x-amz-date;x-amz-target, Signature=" + strings.Repeat("0", 64)

// Do sends a request and appends the body of the answer to dst.
func (e *Endpoint) Do(ctx context.Context, op work.Op, body, dst []byte) (out []byte, status int, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		return dst, 0, err
	}
	req.Header = http.Header{
		"X-Amz-Target": {op.Target()}, "Content-Type": {"application/x-amz-json-1.0"},
		"X-Amz-Date": {"20260101T000000Z"}, "Authorization": {authorization},
	}
	resp, err := e.client.Do(req)
	if err != nil {
		return dst, 0, err
	}
	defer resp.Body.Close()
	b := bytes.NewBuffer(dst)
	_, err = b.ReadFrom(resp.Body)
	return b.Bytes(), resp.StatusCode, err
}

// Prepare implements [Layer].
func (e *Endpoint) Prepare(_ context.Context, c *work.Call) (measure.Op, error) {
	body := c.Body(e.shape)
	return func(ctx context.Context, s *measure.Scratch) (rows, size int, err error) {
		out, status, err := e.Do(ctx, c.Op, body, s.Buf[:0])
		if err != nil {
			return 0, 0, err
		}
		s.Buf = out
		return answer(c, status, out)
	}, nil
}

// httpCanned is the yardstick of the HTTP layer: a bare net/http handler that reads a request and answers with
// bytes made beforehand.
type httpCanned struct {
	*Endpoint
	data   *Data
	byBody map[string][]byte
	size   int                // bytes of all answers
	last   map[work.Op][]byte // answers
}

// answersBytes bounds the answers kept, because a server's own buffers are in a cache too. Further requests share
// the last answer of their operation: the answers of a workload are about equally long.
const answersBytes = 4 << 20

func newHTTPCanned(d *Data) (*httpCanned, error) {
	l := &httpCanned{data: d, byBody: map[string][]byte{}, last: map[work.Op][]byte{}}
	var err error
	l.Endpoint, err = serveHere(d.Shape, func(ctx context.Context, ln net.Listener) error {
		srv := &http.Server{Handler: l} //nolint:gosec // a yardstick has no time-outs
		defer context.AfterFunc(ctx, func() { _ = srv.Close() })()
		if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	return l, err
}

// Prepare implements [Layer].
func (l *httpCanned) Prepare(ctx context.Context, c *work.Call) (measure.Op, error) {
	body := c.Body(l.data.Shape)
	if l.size < answersBytes || l.last[c.Op] == nil {
		out, status := l.data.API.Serve(ctx, c.Op.Target(), body, nil)
		if _, _, err := answer(c, status, out); err != nil {
			return nil, err
		}
		l.last[c.Op], l.size = out, l.size+len(out)
	}
	l.byBody[string(body)] = l.last[c.Op]
	return l.Endpoint.Prepare(ctx, c)
}

var requestBuffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// ServeHTTP implements [http.Handler].
func (l *httpCanned) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	buf := requestBuffers.Get().(*bytes.Buffer)
	defer requestBuffers.Put(buf)
	buf.Reset()
	if _, err := buf.ReadFrom(r.Body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	out, ok := l.byBody[string(buf.Bytes())]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.Header().Set("Content-Length", strconv.Itoa(len(out)))
	_, _ = w.Write(out) // the client may be gone
}
