package layer

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"strconv"
	"sync"

	"github.com/sortkey/sortkey/bench/measure"
	"github.com/sortkey/sortkey/bench/work"
)

// serveHere runs a server on a loopback socket of this process. The remote ends
// it when it is closed.
func serveHere(shape work.Shape, serve func(context.Context, net.Listener) error) (*Remote, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	w, err := NewWire("http://" + ln.Addr().String())
	if err != nil {
		return nil, errors.Join(err, ln.Close())
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, ln) }()
	return &Remote{Wire: w, Shape: shape, Exact: true, stop: func() error {
		cancel()
		return <-ended
	}}, nil
}

// httpCanned is the yardstick of the HTTP layer: a bare net/http handler that
// reads a request and answers with bytes made beforehand.
type httpCanned struct {
	*Remote
	data    *Data
	answers map[string][]byte // by request body
	size    int               // bytes of all answers
	last    map[work.Op][]byte
}

func newHTTPCanned(d *Data) (*httpCanned, error) {
	l := &httpCanned{data: d, answers: map[string][]byte{}, last: map[work.Op][]byte{}}
	srv := &http.Server{Handler: l}
	var err error
	l.Remote, err = serveHere(d.Shape, func(ctx context.Context, ln net.Listener) error {
		defer context.AfterFunc(ctx, func() { _ = srv.Close() })()
		if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	return l, err
}

// cannedBytes bounds the answers kept, because a server's own buffers are in a
// cache too. Further requests share the last answer of their operation: the
// answers of a workload are about equally long.
const cannedBytes = 4 << 20

// Prepare implements [Layer].
func (l *httpCanned) Prepare(ctx context.Context, c *work.Call) (measure.Op, error) {
	body := c.Body(l.data.Shape)
	if l.size < cannedBytes || l.last[c.Op] == nil {
		out, status := l.data.API.Serve(ctx, c.Op.Target(), body, nil)
		if _, _, err := answer(c, status, out); err != nil {
			return nil, err
		}
		l.last[c.Op], l.size = out, l.size+len(out)
	}
	l.answers[string(body)] = l.last[c.Op]
	return l.Remote.Prepare(ctx, c)
}

var cannedBuffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// ServeHTTP implements [http.Handler].
func (l *httpCanned) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	buf := cannedBuffers.Get().(*bytes.Buffer)
	defer cannedBuffers.Put(buf)
	buf.Reset()
	if _, err := buf.ReadFrom(r.Body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	out, ok := l.answers[string(buf.Bytes())]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.Header().Set("Content-Length", strconv.Itoa(len(out)))
	_, _ = w.Write(out) // the client may be gone
}
