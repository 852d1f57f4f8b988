package server

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
)

// drainFactor bounds how much of a body that is too long the server reads, in multiples of the limit. If the server
// stopped reading at the limit, a client that is still sending would not see the response.
const drainFactor = 4

// firstRead is the capacity of a buffer before any of the body has arrived. The buffer grows only as bytes arrive, so
// a client cannot take memory by announcing a long body.
const firstRead = 32 << 10

// readBody reads the body as sent into buf. It takes the buffer's memory from the budget through sh.
func readBody(r *http.Request, limit int, buf *buffer, sh *share) *failure {
	if r.Body == nil {
		return nil
	}
	if r.ContentLength > int64(limit) {
		drain(r.Body, limit)
		return errTooLarge(limit)
	}
	if n := int(r.ContentLength); n > 0 {
		buf.b = slices.Grow(buf.b, min(n+1, firstRead)) // one more byte, so that reading the end needs no growth
	}
	// If reading fails, the body is truncated or has malformed chunks.
	f := readAll(r.Body, limit, int(r.ContentLength)+1, buf, sh, errSerialization)
	if f != nil && f.status == http.StatusRequestEntityTooLarge {
		drain(r.Body, limit)
	}
	return f
}

// unpack decodes raw into buf if it has a content encoding. For a body that it cannot decode, DynamoDB answers
// InternalServerError (Alternator, test_compressed_request.py).
func unpack(h http.Header, raw []byte, limit int, buf *buffer, sh *share) ([]byte, *failure) {
	coding := strings.ToLower(strings.TrimSpace(strings.Join(h["Content-Encoding"], ",")))
	var src io.Reader
	var err error
	switch coding {
	case "", "identity":
		return raw, nil
	case "gzip", "x-gzip":
		src, err = gzip.NewReader(bytes.NewReader(raw))
	case "deflate":
		if src, err = zlib.NewReader(bytes.NewReader(raw)); errors.Is(err, zlib.ErrHeader) {
			src, err = flate.NewReader(bytes.NewReader(raw)), nil // some clients omit the zlib frame
		}
	default:
		return nil, errInternal
	}
	if err != nil {
		return nil, errInternal
	}

	f := readAll(src, limit, 0, buf, sh, errInternal)
	return buf.b, f
}

// readAll appends src to buf. Before buf grows, readAll takes the memory from the budget through sh. If reading fails,
// it returns broken. Expected is the length of src plus one, or 0 if the length is unknown; with it, the last growth
// takes no more memory than needed.
func readAll(src io.Reader, limit, expected int, buf *buffer, sh *share, broken *failure) *failure {
	for {
		want := cap(buf.b)
		if len(buf.b) == want {
			if want *= 2; expected > cap(buf.b) {
				want = min(want, expected)
			}
		}
		if !sh.resize(want) {
			return errBusy
		}
		if want > cap(buf.b) {
			buf.b = append(make([]byte, 0, want), buf.b...)
		}

		free := buf.b[len(buf.b):cap(buf.b)]
		n, err := src.Read(free[:min(len(free), limit+1-len(buf.b))])
		buf.b = buf.b[:len(buf.b)+n]
		switch {
		case len(buf.b) > limit && (err == nil || err == io.EOF):
			return errTooLarge(limit)
		case err == io.EOF:
			return nil
		case err != nil:
			return broken
		}
	}
}

func drain(body io.Reader, limit int) {
	_, _ = io.CopyN(io.Discard, body, drainFactor*int64(limit))
}
