package server_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/sortkey/sortkey/internal/server"
)

// BenchmarkRoundTrip sends a small request and reads a response of some size,
// in process and over a loopback socket.
func BenchmarkRoundTrip(b *testing.B) {
	for _, size := range []int{100, 12 << 10, 1 << 20} {
		page := bytes.Repeat([]byte("x"), size)
		h := handlerFunc(func(_ context.Context, _ string, _, dst []byte) ([]byte, int) {
			return append(dst, page...), 200
		})
		run := func(b *testing.B, rt http.RoundTripper, url string) {
			body := []byte(`{"TableName":"t"}`)
			out := make([]byte, 0, size+1)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, url, bytes.NewReader(body))
				if err != nil {
					b.Fatal(err)
				}
				r.Header["X-Amz-Target"] = []string{listTables}
				r.Header["Content-Type"] = []string{json10}
				res, err := rt.RoundTrip(r)
				if err != nil {
					b.Fatal(err)
				}
				w := bytes.NewBuffer(out)
				if _, err := io.Copy(w, res.Body); err != nil || w.Len() != size {
					b.Fatal(w.Len(), err)
				}
				res.Body.Close()
			}
		}
		b.Run(fmt.Sprintf("bytes=%d/transport", size), func(b *testing.B) {
			run(b, server.Transport{Handler: server.New(h, server.Options{})}, "http://db.local/")
		})
		b.Run(fmt.Sprintf("bytes=%d/socket", size), func(b *testing.B) {
			addr, stop := startBench(b, h)
			defer stop()
			tr := &http.Transport{DisableCompression: true}
			defer tr.CloseIdleConnections()
			run(b, tr, "http://"+addr+"/")
		})
	}
}

func startBench(b *testing.B, h server.Handler) (addr string, stop func()) {
	b.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Serve(ctx, ln, server.New(h, server.Options{}), server.Options{}) }()
	return ln.Addr().String(), func() {
		cancel()
		<-done
	}
}
