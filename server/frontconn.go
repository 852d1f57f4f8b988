package server

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// frontBytes is the largest request, head and body, that a front takes.
	frontBytes = 64 << 10
	// patience is how long a request may take to arrive.
	patience = 20 * time.Millisecond
	// keepRead is the most memory that an idle connection keeps.
	keepRead = 16 << 10
	// joinBytes is the largest body that is copied behind its head, so that both
	// are written at once.
	joinBytes = 64 << 10
)

// A frontConn is a connection of a front.
type frontConn struct {
	net.Conn
	front *front
	idle  bool // under the front's lock

	in       []byte    // what was read and not yet used
	readEnd  time.Time // the deadlines that are set
	writeEnd time.Time
	date     []byte
	dated    int64 // the second of date
}

// run answers requests until the connection ends or is handed over.
func (c *frontConn) run() {
	defer c.front.remove(c)
	opts := &c.front.opts
	for wait := opts.ReadHeaderTimeout; ; wait = opts.IdleTimeout {
		// Before it is idle: a shutdown sets another deadline then.
		c.extend(&c.readEnd, wait, c.SetReadDeadline)
		if !c.front.setIdle(c, true) || len(c.in) == 0 && c.read() != nil {
			break
		}
		c.front.setIdle(c, false)
		h, size, ok := c.request()
		if !ok {
			return
		}
		if !c.answer(h, c.in[size-h.length:size]) {
			break
		}
		c.in = c.in[:copy(c.in, c.in[size:])]
		if len(c.in) == 0 && cap(c.in) > keepRead {
			c.in = nil
		}
	}
	_ = c.Close()
}

// extend moves a deadline that is set on the connection to d from now, unless
// it is nearly there: setting one takes longer than it is worth.
func (c *frontConn) extend(end *time.Time, d time.Duration, set func(time.Time) error) {
	if d <= 0 {
		if !end.IsZero() {
			*end = time.Time{}
			_ = set(*end)
		}
		return
	}
	want := time.Now().Add(d)
	if late := want.Sub(*end); late < 0 || late > min(d/8, time.Second) {
		*end = want
		_ = set(want)
	}
}

// read reads more of the connection.
func (c *frontConn) read() error {
	if len(c.in) == cap(c.in) {
		c.in = slices.Grow(c.in, max(4<<10, len(c.in)))
	}
	n, err := c.Read(c.in[len(c.in):cap(c.in)])
	c.in = c.in[:len(c.in)+n]
	if n > 0 {
		return nil // what is wrong shows again
	}
	return err
}

// request reads the rest of a request, which takes size bytes. It reports false
// when the connection is gone, or handed over.
func (c *frontConn) request() (h head, size int, ok bool) {
	end, waiting := -1, false // end is that of the head
	for {
		if end < 0 {
			if i := bytes.Index(c.in, []byte("\r\n\r\n")); i >= 0 {
				end = i + len("\r\n\r\n")
				if h, ok = parseHead(string(c.in[:end])); !ok || end+h.length > frontBytes {
					c.handOver()
					return h, 0, false
				}
			} else if !mayBeUsual(c.in) || len(c.in) > frontBytes/2 {
				c.handOver()
				return h, 0, false
			}
		}
		if end >= 0 && len(c.in) >= end+h.length {
			return h, end + h.length, true
		}
		if !waiting {
			waiting = true
			c.readEnd = time.Now().Add(patience)
			_ = c.SetReadDeadline(c.readEnd)
		}
		switch err := c.read(); {
		case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, io.EOF):
			c.handOver() // which has time-outs for slow requests, and answers half ones
			return h, 0, false
		case err != nil:
			_ = c.Close()
			return h, 0, false
		}
	}
}

// mayBeUsual reports whether a request of the usual form may begin so.
func mayBeUsual(in []byte) bool {
	n := min(len(in), len(usualLine))
	return string(in[:n]) == usualLine[:n]
}

// handOver gives the connection to net/http.
func (c *frontConn) handOver() {
	_ = c.SetDeadline(time.Time{})
	c.front.rest.give(c.Conn, c.in)
}

// An exchange is a request and its answer.
type exchange struct {
	request  http.Request
	url      url.URL
	body     body
	response response
}

// body is the body of a request.
type body struct{ bytes.Reader }

// Close implements [io.Closer].
func (*body) Close() error { return nil }

// answer answers a request. It reports whether the connection can be used for
// another.
func (c *frontConn) answer(h head, text []byte) bool {
	x := &exchange{url: url.URL{Path: "/"}}
	x.body.Reset(text)
	x.request = http.Request{
		Method: http.MethodPost, URL: &x.url, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: h.header, Host: h.host, RequestURI: "/", RemoteAddr: c.RemoteAddr().String(),
		ContentLength: int64(h.length), Body: &x.body,
	}
	if h.length == 0 {
		x.request.Body = http.NoBody
	}
	x.response.header = make(http.Header, 8)
	if !c.handle(x) {
		return false
	}
	keep := x.response.header.Get("Connection") != "close" && !c.front.isClosing()
	return c.write(&x.response, keep) && keep
}

// handle calls the handler. It reports false when that panicked.
func (c *frontConn) handle(x *exchange) (ok bool) {
	defer func() {
		if p := recover(); p != nil {
			ok = false
			if p != http.ErrAbortHandler {
				c.front.logPanic(p, debug.Stack())
			}
		}
	}()
	c.front.handler.ServeHTTP(&x.response, x.request.WithContext(c.front.ctx))
	return true
}

// write writes an answer, and frees it.
func (c *frontConn) write(w *response, keep bool) bool {
	out := newBuffer()
	defer out.free()
	defer w.buf.free()
	if w.status == 0 {
		w.status = http.StatusOK
	}
	var text []byte
	if w.buf != nil {
		text = w.buf.b
	}
	if !keep {
		w.header["Connection"] = []string{"close"}
	}
	if w.header["Content-Length"] == nil {
		w.header["Content-Length"] = []string{strconv.Itoa(len(text))}
	}
	out.b = append(append(out.b, "HTTP/1.1 "...), statusText(w.status)...)
	out.b = c.appendDate(append(out.b, "\r\nDate: "...))
	out.b = appendHeader(append(out.b, "\r\n"...), w.header)
	c.extend(&c.writeEnd, c.front.opts.WriteTimeout, c.SetWriteDeadline)
	var err error
	if len(text) <= joinBytes {
		out.b = append(out.b, text...)
		_, err = c.Write(out.b)
	} else {
		parts := net.Buffers{out.b, text}
		_, err = parts.WriteTo(c.Conn)
	}
	return err == nil
}

// appendDate appends the time as headers have it.
func (c *frontConn) appendDate(dst []byte) []byte {
	if now := time.Now().UTC(); now.Unix() != c.dated {
		c.dated, c.date = now.Unix(), now.AppendFormat(c.date[:0], http.TimeFormat)
	}
	return append(dst, c.date...)
}

// appendHeader appends headers in order of their names, and the empty line.
func appendHeader(dst []byte, h http.Header) []byte {
	var room [16]string
	names := room[:0]
	for name := range h {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for _, v := range h[name] {
			dst = append(append(append(dst, name...), ": "...), oneLine.Replace(v)...)
			dst = append(dst, "\r\n"...)
		}
	}
	return append(dst, "\r\n"...)
}

// oneLine keeps a value from ending its line.
var oneLine = strings.NewReplacer("\r", " ", "\n", " ")
