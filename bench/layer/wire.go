package layer

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"time"
)

// A Wire is a small HTTP/1.1 client for one endpoint. Its requests are made
// beforehand, it keeps connections, and it parses only what it needs to find the
// end of a body, so it takes little time beside the endpoint. It is safe for
// concurrent use.
type Wire struct {
	host, path string
	free       chan *conn
}

type conn struct {
	net.Conn
	r    *bufio.Reader
	used bool
	uses uint
}

// keptConns is the maximum of idle connections kept.
const keptConns = 256

// NewWire returns a client for an endpoint such as http://127.0.0.1:8000.
func NewWire(endpoint string) (*Wire, error) {
	u, err := url.Parse(endpoint)
	if err != nil {
		return nil, fmt.Errorf("cannot parse the URL %q", endpoint)
	}
	if u.Scheme != "http" || u.Host == "" {
		return nil, fmt.Errorf("%q is not an HTTP address such as http://127.0.0.1:8000", endpoint)
	}
	w := &Wire{host: u.Host, path: "/", free: make(chan *conn, keptConns)}
	if u.Path != "" {
		w.path = u.Path
	}
	if u.Port() == "" {
		w.host = net.JoinHostPort(u.Hostname(), "80")
	}
	return w, nil
}

// Close closes idle connections.
func (w *Wire) Close() {
	for {
		select {
		case c := <-w.free:
			_ = c.Close()
		default:
			return
		}
	}
}

// Request returns the bytes of a request. Its signature has the right form but
// is not valid: local endpoints do not check it, and signing is not measured.
func (w *Wire) Request(target string, body []byte) []byte {
	b := fmt.Appendf(
		nil,
		"POST %s HTTP/1.1\r\n"+
			"Host: %s\r\n"+
			"X-Amz-Target: %s\r\n"+
			"Content-Type: application/x-amz-json-1.0\r\n"+
			"X-Amz-Date: 20260101T000000Z\r\n"+
			"Authorization: AWS4-HMAC-SHA256 Credential=bench/20260101/us-east-1/dynamodb/aws4_request, "+
			"SignedHeaders=host;x-amz-date;x-amz-target, Signature=%064d\r\n"+
			"Content-Length: %d\r\n\r\n",
		w.path, w.host, target, 0, len(body),
	)
	return append(b, body...)
}

// Do sends a request made by [Wire.Request] and appends the body of the answer
// to dst.
func (w *Wire) Do(ctx context.Context, request, dst []byte) (out []byte, status int, err error) {
	for {
		c, err := w.conn(ctx)
		if err != nil {
			return dst, 0, err
		}

		again := c.used // the server may have closed it meanwhile
		out, status, keep, err := c.do(ctx, request, dst)
		if err != nil {
			_ = c.Close()
			if again && ctx.Err() == nil && errors.Is(err, errNoAnswer) {
				continue
			}
			return dst, 0, err
		}

		c.used = true
		if keep {
			select {
			case w.free <- c:
				return out, status, nil
			default:
			}
		}

		_ = c.Close()
		return out, status, nil
	}
}

func (w *Wire) conn(ctx context.Context) (*conn, error) {
	select {
	case c := <-w.free:
		return c, nil
	default:
	}
	c, err := new(net.Dialer).DialContext(ctx, "tcp", w.host)
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, r: bufio.NewReaderSize(c, 64<<10)}, nil
}

// errNoAnswer is the error of a connection that ends before an answer begins.
var errNoAnswer = errors.New("connection closed without an answer")

// patience bounds the time of 256 answers on one connection.
const patience = 10 * time.Minute

func (c *conn) do(ctx context.Context, request, dst []byte) (out []byte, status int, keep bool, err error) {
	// To set a deadline for every request would take longer than some requests.
	if c.uses++; c.uses&0xFF == 1 {
		_ = c.SetDeadline(time.Now().Add(patience))
	}
	if ctx.Err() != nil {
		return dst, 0, false, context.Cause(ctx)
	}
	if _, err := c.Write(request); err != nil {
		return dst, 0, false, errors.Join(errNoAnswer, err)
	}

	line, err := c.r.ReadSlice('\n')
	if err != nil {
		if len(line) == 0 {
			err = errors.Join(errNoAnswer, err)
		}
		return dst, 0, false, err
	}

	// HTTP/1.1 200 OK
	if len(line) < 12 || !bytes.HasPrefix(line, []byte("HTTP/1.")) {
		return dst, 0, false, fmt.Errorf("answer is not HTTP: %q", line)
	}
	keep = line[7] == '1'
	if status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return dst, 0, false, fmt.Errorf("answer has no status: %q", line)
	}

	length, chunked := -1, false
	for {
		line, err := c.r.ReadSlice('\n')
		if err != nil {
			return dst, 0, false, err
		}
		if line = bytes.TrimRight(line, "\r\n"); len(line) == 0 {
			break
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimSpace(value)
		switch {
		case bytes.EqualFold(name, []byte("Content-Length")):
			if length, err = strconv.Atoi(string(value)); err != nil || length < 0 {
				return dst, 0, false, fmt.Errorf("answer has Content-Length %q", value)
			}
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			chunked = bytes.EqualFold(value, []byte("chunked"))
		case bytes.EqualFold(name, []byte("Connection")):
			keep = keep && !bytes.EqualFold(value, []byte("close"))
		}
	}

	switch {
	case chunked:
		out, err = c.chunks(dst)
	case length >= 0:
		out, err = c.full(dst, length)
	default:
		keep = false
		out, err = rest(dst, c.r)
	}
	return out, status, keep, err
}

// full appends n bytes.
func (c *conn) full(dst []byte, n int) ([]byte, error) {
	from := len(dst)
	dst = slices.Grow(dst, n)[:from+n]
	_, err := io.ReadFull(c.r, dst[from:])
	return dst, err
}

// rest appends what r has left.
func rest(dst []byte, r io.Reader) ([]byte, error) {
	b := bytes.NewBuffer(dst)
	_, err := b.ReadFrom(r)
	return b.Bytes(), err
}

// chunks appends a body that is sent in chunks, and reads the trailer.
func (c *conn) chunks(dst []byte) ([]byte, error) {
	dst, err := rest(dst, httputil.NewChunkedReader(c.r))
	for err == nil {
		var line []byte
		if line, err = c.r.ReadSlice('\n'); len(bytes.TrimSpace(line)) == 0 {
			break
		}
	}
	return dst, err
}
