package layer

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"strings"

	"github.com/sortkey/sortkey/bench/measure"
	"github.com/sortkey/sortkey/bench/work"
)

// An Endpoint sends calls over HTTP to a server with the table, in this process or elsewhere.
type Endpoint struct {
	url    string
	shape  work.Shape
	client *http.Client
	stop   func() error // ends a server of this process
}

// NewEndpoint returns the endpoint at an address such as http://127.0.0.1:8000, whose table has a shape. Like the AWS
// SDKs, it does not ask for compressed answers.
func NewEndpoint(url string, shape work.Shape) *Endpoint {
	const workers = 256 // more workers than any run has
	return &Endpoint{
		url: url, shape: shape,
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: workers, DisableCompression: true}},
		stop:   func() error { return nil },
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

// authorization has the form of a signature but is not one. Local endpoints do not check it, so the time of signing
// is not part of the measurement.
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
