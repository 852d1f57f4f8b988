package server

import (
	"compress/gzip"
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/sortkey/sortkey/internal/throttle"
)

// acceptsGzip reports whether the Accept-Encoding headers of a request allow a response in gzip: they name gzip with a
// weight that is not 0 or, if they do not name gzip, "*". An invalid weight counts as 1. The server offers no other
// encoding.
func acceptsGzip(headers []string) bool {
	named, star := false, false
	for _, header := range headers {
		for part := range strings.SplitSeq(header, ",") {
			name, params, _ := strings.Cut(part, ";")
			switch strings.ToLower(strings.TrimSpace(name)) {
			case "gzip":
				if !isRefused(params) {
					return true
				}
				named = true
			case "*":
				star = star || !isRefused(params)
			}
		}
	}
	return star && !named
}

// isRefused reports whether the parameters of an encoding give it the weight 0, or less.
func isRefused(params string) bool {
	for param := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(param, "=")
		if strings.EqualFold(strings.TrimSpace(name), "q") {
			q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			return err == nil && q <= 0
		}
	}
	return false
}

var gzipWriters = sync.Pool{New: func() any {
	w, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	return w
}}

// compress writes body to buf in gzip. A long body is heavy work, so compress
// waits for a slot of package throttle between parts of it. If ctx ends, compress continues without a slot, because
// then no client waits for the answer.
func compress(ctx context.Context, body []byte, buf *buffer) {
	w := gzipWriters.Get().(*gzip.Writer)
	w.Reset(buf)
	var work throttle.Work
	for part := range slices.Chunk(body, throttle.Stretch) {
		_ = work.Add(ctx, len(part))
		_, _ = w.Write(part) // writing to a buffer never fails
	}
	_ = w.Close()
	work.Done()
	gzipWriters.Put(w)
}
