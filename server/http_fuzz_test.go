package server_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"hash/crc32"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/sortkey/sortkey/internal/server"
)

// FuzzRequest sends raw requests. No request may cause a panic, and the only status 500 is for a content encoding
// that cannot be decoded.
func FuzzRequest(f *testing.F) {
	const head = "POST / HTTP/1.1\r\nHost: localhost\r\nX-Amz-Target: DynamoDB_20120810.ListTables\r\n"
	const auth = "Authorization: AWS4-HMAC-SHA256 Credential=KEY/20260301/r/dynamodb/aws4_request, " +
		"SignedHeaders=host;x-amz-date, Signature=00\r\nX-Amz-Date: 20260301T120000Z\r\n"
	for _, s := range []string{
		"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"OPTIONS / HTTP/1.1\r\nHost: localhost\r\nOrigin: x\r\nAccess-Control-Request-Method: POST\r\n\r\n",
		head + "Content-Type: application/x-amz-json-1.0\r\nContent-Length: 2\r\n\r\n{}",
		head +
			"Content-Type: application/json\r\nAccept-Encoding: gzip;q=0.5, *\r\nTransfer-Encoding: " +
			"chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
		head + "Content-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: 26\r\n\r\n" +
			pack(f, "gzip", "{}"),
		head + auth + "\r\n",
		"POST /?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=KEY/20260301/r/dynamodb/aws4_request&" +
			"X-Amz-Signature=0&X-Amz-SignedHeaders=host&X-Amz-Date=20260301T120000Z&X-Amz-Expires=9 " +
			"HTTP/1.1\r\nHost: localhost\r\nX-Amz-Target: DynamoDB_20120810.X\r\n\r\n",
	} {
		f.Add([]byte(s), false)
		f.Add([]byte(s), true)
	}
	f.Fuzz(func(t *testing.T, raw []byte, signed bool) {
		r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(raw)))
		if err != nil {
			return
		}
		var log bytes.Buffer
		opts := server.Options{
			CORS: []string{"*"}, CompressBytes: 1, MaxBodyBytes: 1 << 16,
			Logger: slog.New(slog.NewTextHandler(&log, nil)),
		}
		if signed {
			opts.Credentials, opts.Clock = signing.Credentials, signing.Clock
		}
		called := false
		h := server.New(handlerFunc(func(_ context.Context, target string, body, dst []byte) ([]byte, int) {
			called = true
			return append(append(dst, target...), body...), 200
		}), opts)
		encoding := strings.Join(r.Header.Values("Content-Encoding"), ",")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if log.Len() > 0 {
			t.Fatalf("logged: %s", log.String())
		}
		if w.Code >= 500 && encoding == "" {
			t.Fatalf("status %d for %q", w.Code, raw)
		}
		if called && signed {
			t.Fatalf("a request nobody signed was let in: %q", raw)
		}
		body := w.Body.Bytes()
		if got := w.Header().Get("X-Amz-Crc32"); got != strconv.FormatUint(uint64(crc32.ChecksumIEEE(body)), 10) {
			t.Fatalf("checksum %s of %q", got, body)
		}
		if w.Code >= 400 && w.Code != 404 && w.Header().Get("Content-Encoding") == "" && !json.Valid(body) {
			t.Fatalf("error is not JSON: %q", body)
		}
	})
}
