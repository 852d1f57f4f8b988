package layer

import (
	"context"
	"errors"
	"net"

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
	answers Answers
}

func newHTTPCanned(d *Data) (*httpCanned, error) {
	l := &httpCanned{data: d, answers: Answers{byBody: map[string][]byte{}, last: map[work.Op][]byte{}}}
	var err error
	l.Remote, err = serveHere(d.Shape, l.answers.serve)
	return l, err
}

// Prepare implements [Layer].
func (l *httpCanned) Prepare(ctx context.Context, c *work.Call) (measure.Op, error) {
	err := l.answers.prepare(c, l.data.Shape, func(target string, body []byte) (out []byte, status int, err error) {
		out, status = l.data.API.Serve(ctx, target, body, nil)
		return out, status, nil
	})
	if err != nil {
		return nil, err
	}
	return l.Remote.Prepare(ctx, c)
}
