package server

import (
	"compress/gzip"
	"compress/zlib"
	"context"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/sortkey/sortkey/internal/throttle"
)

// acceptedEncoding returns the encoding for a response, "gzip", "deflate" or "", given the Accept-Encoding headers of
// the request. It follows what Alternator's test_compressed_response.py recorded of DynamoDB:
//
//   - The encoding with the highest weight wins. Among equal weights, a named encoding wins over "*", and otherwise
//     the first one wins.
//   - Identity is ignored.
//   - An invalid weight, or a weight above 1, counts as 1; a weight below 0 counts as 0.
//   - If an encoding is repeated, its highest weight counts.
func acceptedEncoding(headers []string) string {
	type choice struct {
		weight float64
		order  int
		named  bool
	}
	choices := map[string]choice{}
	order := 0
	for _, header := range headers {
		for part := range strings.SplitSeq(header, ",") {
			name, params, _ := strings.Cut(part, ";")
			name = strings.ToLower(strings.TrimSpace(name))
			if name != "gzip" && name != "deflate" && name != "*" {
				continue
			}
			order++
			if c, ok := choices[name]; !ok || weight(params) > c.weight {
				choices[name] = choice{weight(params), order, true}
			}
		}
	}

	of := func(name string) choice {
		c, named := choices[name]
		if !named {
			c = choices["*"]
			c.named = false
		}
		return c
	}
	gzip, deflate := of("gzip"), of("deflate")
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

// weight returns the first q parameter among the parameters of an encoding, or 1 if it has none.
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

// A compressor is a gzip or zlib writer.
type compressor interface {
	io.WriteCloser
	Reset(w io.Writer)
}

// compressors has the pools of compressors by encoding.
var compressors = map[string]*sync.Pool{
	"gzip": {New: func() any {
		w, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed)
		return w
	}},
	"deflate": {New: func() any {
		w, _ := zlib.NewWriterLevel(nil, zlib.BestSpeed)
		return w
	}},
}

// compress writes body to buf in an encoding that acceptedEncoding returned. A long body is heavy work, so compress
// waits for a slot of package throttle between parts of it. If ctx ends, compress continues without a slot, because
// then no client waits for the answer.
func compress(ctx context.Context, coding string, body []byte, buf *buffer) {
	pool := compressors[coding]
	w := pool.Get().(compressor)
	w.Reset(buf)
	var work throttle.Work
	for part := range slices.Chunk(body, throttle.Stretch) {
		_ = work.Add(ctx, len(part))
		_, _ = w.Write(part) // writing to a buffer never fails
	}
	_ = w.Close()
	work.Done()
	pool.Put(w)
}
