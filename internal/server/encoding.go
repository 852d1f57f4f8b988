package server

import (
	"compress/gzip"
	"compress/zlib"
	"io"
	"strconv"
	"strings"
	"sync"
)

// acceptedEncoding chooses the coding of an answer, "gzip", "deflate" or "",
// from the Accept-Encoding headers of a request. It follows what Alternator's
// test_compressed_response.py recorded of the service: the highest weight
// wins, then a coding that is named over "*", then the earlier; identity does
// not count as a choice; a weight above 1 or one that is no number is 1, one
// below 0 is 0; of a coding named twice the higher weight counts.
func acceptedEncoding(headers []string) string {
	type choice struct {
		weight float64
		order  int
		named  bool
	}
	gzip, deflate, star := choice{weight: -1}, choice{weight: -1}, choice{weight: -1}
	order := 0
	for _, header := range headers {
		for part := range strings.SplitSeq(header, ",") {
			name, params, _ := strings.Cut(part, ";")
			var c *choice
			switch strings.ToLower(strings.TrimSpace(name)) {
			case "gzip":
				c = &gzip
			case "deflate":
				c = &deflate
			case "*":
				c = &star
			default:
				continue
			}
			order++
			if w := weight(params); w > c.weight {
				*c = choice{w, order, true}
			}
		}
	}
	for _, c := range []*choice{&gzip, &deflate} {
		if c.weight < 0 && star.weight >= 0 {
			*c = choice{weight: star.weight, order: star.order}
		}
	}
	better := deflate.weight > gzip.weight
	if deflate.weight == gzip.weight {
		better = deflate.named && !gzip.named || deflate.named == gzip.named && deflate.order < gzip.order
	}
	switch {
	case better && deflate.weight > 0:
		return "deflate"
	case gzip.weight > 0:
		return "gzip"
	}
	return ""
}

// weight returns the first q parameter of a coding, 1 if there is none.
func weight(params string) float64 {
	for param := range strings.SplitSeq(params, ";") {
		name, value, ok := strings.Cut(param, "=")
		if !ok || !strings.EqualFold(strings.TrimSpace(name), "q") {
			continue
		}
		q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil || q != q {
			return 1
		}
		return max(0, min(q, 1))
	}
	return 1
}

// A compressor is what the writers of both codings have in common.
type compressor interface {
	io.WriteCloser
	Reset(w io.Writer)
}

var gzipWriters = sync.Pool{New: func() any {
	w, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	return w
}}

var zlibWriters = sync.Pool{New: func() any {
	w, _ := zlib.NewWriterLevel(nil, zlib.BestSpeed)
	return w
}}

// compress writes body to buf in a coding that acceptedEncoding returned.
func compress(coding string, body []byte, buf *buffer) {
	pool := &gzipWriters
	if coding == "deflate" {
		pool = &zlibWriters
	}
	w := pool.Get().(compressor)
	w.Reset(buf)
	_, _ = w.Write(body) // a buffer takes everything
	_ = w.Close()
	pool.Put(w)
}
