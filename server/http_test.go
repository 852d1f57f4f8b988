package server_test

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"fmt"
	"hash/crc32"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sortkey/sortkey/internal/api/event"
	"github.com/sortkey/sortkey/internal/seeded"
	"github.com/sortkey/sortkey/internal/server"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(tests{m}) }

// tests closes the connections that clients keep after all tests, so that only the servers' goroutines can leak.
type tests struct{ *testing.M }

func (m tests) Run() int {
	code := m.M.Run()
	http.DefaultClient.CloseIdleConnections()
	return code
}

// echo is a handler that responds with the target and the body of the request.
type echo struct{}

func (echo) Serve(_ context.Context, target string, body, dst []byte) ([]byte, int) {
	dst = append(dst, target...)
	dst = append(dst, '|')
	return append(dst, body...), http.StatusOK
}

// handlerFunc is a server.Handler.
type handlerFunc func(ctx context.Context, target string, body, dst []byte) ([]byte, int)

func (f handlerFunc) Serve(ctx context.Context, target string, body, dst []byte) ([]byte, int) {
	return f(ctx, target, body, dst)
}

const listTables = "DynamoDB_20120810.ListTables"

// post returns a POST request; headers are name and value pairs.
func post(body string, headers ...string) *http.Request {
	return newRequest(http.MethodPost, "/", body, headers...)
}

func newRequest(method, path, body string, headers ...string) *http.Request {
	r := httptest.NewRequest(method, "http://localhost:8000"+path, strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	return r
}

// do sends a request to h and checks the properties that all responses must have.
func do(t *testing.T, h http.Handler, r *http.Request) (*http.Response, string) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	res := w.Result()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Regexp(t, `^[0-9A-Z]{52}$`, res.Header.Get("x-amzn-RequestId"))
	require.Equal(t, fmt.Sprint(crc32.ChecksumIEEE(body)), res.Header.Get("x-amz-crc32"))
	require.Equal(t, strconv.Itoa(len(body)), res.Header.Get("Content-Length"))
	return res, string(body)
}

func TestOperation(t *testing.T) {
	h := server.New(echo{}, server.Options{})
	for _, target := range []string{listTables, "DynamoDBStreams_20120810.GetRecords", "DynamoDB_20120810.NoSuch"} {
		for sent, want := range map[string]string{
			"application/x-amz-json-1.0":                 "application/x-amz-json-1.0",
			"application/json":                           "application/json",
			"  application/json  ;   asfd":               "application/json",
			"application/x-amz-json-1.0;blahblah":        "application/x-amz-json-1.0",
			"Application/X-Amz-JSON-1.0; charset=utf-8 ": "application/x-amz-json-1.0",
		} {
			res, body := do(t, h, post("{}", "X-Amz-Target", target, "Content-Type", sent))
			require.Equal(t, 200, res.StatusCode)
			require.Equal(t, target+"|{}", body)
			require.Equal(t, want, res.Header.Get("Content-Type"))
		}
	}
	res, body := do(t, h, post("", "X-Amz-Target", listTables))
	require.Equal(t, 200, res.StatusCode, "an empty body is for the handler to judge")
	require.Equal(t, listTables+"|", body)
	require.Equal(t, "application/x-amz-json-1.0", res.Header.Get("Content-Type"))
}

func TestStatusAndEmptyAnswer(t *testing.T) {
	for status, want := range map[int]int{200: 200, 400: 400, 500: 500, 0: 200, 7: 200, 1000: 200} {
		h := server.New(handlerFunc(func(_ context.Context, _ string, _, dst []byte) ([]byte, int) {
			return dst, status
		}), server.Options{})
		res, body := do(t, h,
			post("{}", "X-Amz-Target", "DynamoDB_20120810.TagResource", "Content-Type", "application/json"))
		require.Equal(t, want, res.StatusCode)
		require.Empty(t, body)
		require.Equal(t, "0", res.Header.Get("x-amz-crc32"))
	}
}

const (
	serialization = `{"__type":"com.amazon.coral.service#SerializationException"}`
	unknown       = `{"__type":"com.amazon.coral.service#UnknownOperationException"}`
	notFound      = "<UnknownOperationException/>\n"
	json10        = "application/x-amz-json-1.0"
)

// TestRefusals has cases from dynalite (test/connection.js) with checksums recorded from DynamoDB.
func TestRefusals(t *testing.T) {
	h := server.New(echo{}, server.Options{})
	for _, tt := range []struct {
		name   string
		req    *http.Request
		status int
		body   string
		crc    uint32
		typ    string
	}{
		{"OPTIONS", newRequest("OPTIONS", "/", ""), 404, notFound, 3552371480, ""},
		{"PUT", newRequest("PUT", "/", ""), 404, notFound, 3552371480, ""},
		{"DELETE", newRequest("DELETE", "/", ""), 404, notFound, 3552371480, ""},
		{"GET elsewhere", newRequest("GET", "/shell", ""), 404, notFound, 3552371480, ""},
		{"body but no type", post("hi"), 404, notFound, 3552371480, ""},
		{"body but other type", post("hi", "Content-Type", "whatever"), 404, notFound, 3552371480, ""},
		// DynamoDB does not accept a version newer than json-1.0: dynalite test/connection.js.
		{
			"row 20, another version",
			post("{}", "X-Amz-Target", listTables, "Content-Type", "application/x-amz-json-1.1"), 404, notFound,
			3552371480, "",
		},
		{"body but text", post("{}", "Content-Type", "text/plain"), 404, notFound, 3552371480, ""},
		{"slightly different type", post("hi", "Content-Type", "application/jsonasdf"), 404, notFound, 3552371480, ""},
		{
			"JSON but none", post("hi", "Content-Type", "application/json"), 400, serialization, 3948637019,
			"application/json",
		},
		{"JSON 1.0 but none", post("hi", "Content-Type", json10), 400, serialization, 3948637019, json10},
		{
			"JSON; but none", post("hi", "Content-Type", "application/json;"), 400, serialization, 3948637019,
			"application/json",
		},
		// Without a content type the answer is JSON, as in an older recording.
		{"no target", post(""), 400, unknown, 1368724161, "application/json"},
		{
			"no target, JSON", post("{}", "Content-Type", "application/json"), 400, unknown, 1368724161,
			"application/json",
		},
		{"no target, JSON 1.0", post("{}", "Content-Type", json10), 400, unknown, 1368724161, json10},
		{"odd target", post("", "X-Amz-Target", "whatever"), 400, unknown, 1368724161, "application/json"},
		{"target without operation", post("", "X-Amz-Target", "DynamoDB_20120810."), 400, unknown, 1368724161, "application/json"},
		{"target of three parts", post("", "X-Amz-Target", listTables+".x"), 400, unknown, 1368724161, "application/json"},
		{
			"target of another service", post("", "X-Amz-Target", "Kinesis_20131202.ListStreams"), 400, unknown,
			1368724161, "application/json",
		},
		{
			"target of the old version", post("", "X-Amz-Target", "DynamoDB_20111205.ListTables"), 400, unknown,
			1368724161, "application/json",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res, body := do(t, h, tt.req)
			require.Equal(t, tt.status, res.StatusCode)
			require.Equal(t, tt.body, body)
			require.Equal(t, fmt.Sprint(tt.crc), res.Header.Get("x-amz-crc32"))
			require.Equal(t, tt.typ, res.Header.Get("Content-Type"))
			require.Empty(t, res.Header.Get("Access-Control-Allow-Origin"))
		})
	}
}

// TestTypeOfRefusals tests that an answer has the content type of its request even if the request fails before its
// operation is known. Source: dynalite, index.js, for what DynamoDB answered to test/connection.js.
func TestTypeOfRefusals(t *testing.T) {
	unknownOperation := handlerFunc(func(_ context.Context, _ string, _, dst []byte) ([]byte, int) {
		return append(dst, unknown...), 400
	})
	open, signed := server.New(unknownOperation, server.Options{}), server.New(unknownOperation, signing)
	for _, typ := range []string{"application/json", json10} {
		for name, tt := range map[string]struct {
			h   http.Handler
			req *http.Request
		}{
			"no target": {open, post("{}", "Content-Type", typ)},
			"another service": {
				open, post("{}", "Content-Type", typ, "X-Amz-Target", "Kinesis_20131202.ListStreams"),
			},
			"unknown operation": {open, post("{}", "Content-Type", typ, "X-Amz-Target", "DynamoDB_20120810.NoSuch")},
			"no signature":      {signed, post("{}", "Content-Type", typ, "X-Amz-Target", listTables)},
			"bad signature": {
				signed,
				post(
					"{}", "Content-Type", typ, "X-Amz-Target", listTables, "Authorization",
					"AWS4-HMAC-SHA256 Credential=KEY",
				),
			},
			"no JSON":      {open, post("{", "Content-Type", typ)},
			"long headers": {open, post("{}", "Content-Type", typ, "X-Long", strings.Repeat("x", 17<<10))},
		} {
			res, body := do(t, tt.h, tt.req)
			require.Equal(t, 400, res.StatusCode, name)
			require.Contains(t, body, `{"__type":"`, name)
			require.Equal(t, typ, res.Header.Get("Content-Type"), name)
		}
	}
}

func TestGet(t *testing.T) {
	h := server.New(echo{}, server.Options{})
	res, body := do(t, h, newRequest("GET", "/", ""))
	require.Equal(t, 200, res.StatusCode)
	require.Equal(t, "healthy: localhost:8000 \n", body)
	require.NotEmpty(t, res.Header.Get("Server"))
	res, body = do(t, h, newRequest("GET", "/", "", "Accept", "text/html,*/*"))
	require.Equal(t, 200, res.StatusCode)
	require.Contains(t, body, "--endpoint-url http://localhost:8000\n")
	require.Equal(t, "nosniff", res.Header.Get("X-Content-Type-Options"))
	res, body = do(t, h, newRequest("GET", "/healthz", ""))
	require.Equal(t, 200, res.StatusCode)
	require.Equal(t, "healthy: localhost:8000\n", body)
}

func pack(t testing.TB, coding string, data ...string) string {
	var all bytes.Buffer
	for _, s := range data {
		var w io.WriteCloser
		switch coding {
		case "gzip":
			w = gzip.NewWriter(&all)
		case "deflate":
			w = zlib.NewWriter(&all)
		case "raw":
			w, _ = flate.NewWriter(&all, 6)
		}
		_, err := io.WriteString(w, s)
		require.NoError(t, err)
		require.NoError(t, w.Close())
	}
	return all.String()
}

const internalError = `{"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError","message":"The server ` +
	`encountered an internal error trying to fulfill the request."}`

// TestPackedRequests follows Alternator's test_compressed_request.py.
func TestPackedRequests(t *testing.T) {
	h := server.New(echo{}, server.Options{MaxBodyBytes: 100_000})
	long := `{"a":"` + strings.Repeat("x", 50_000) + `"}`
	whole := pack(t, "gzip", `{"a":1}`)
	for _, tt := range []struct {
		name, coding, sent, want string
		status                   int
	}{
		{"none", "", `{"a":1}`, `{"a":1}`, 200},
		{"identity", "identity", `{"a":1}`, `{"a":1}`, 200},
		{"gzip", "gzip", whole, `{"a":1}`, 200},
		{"any case", " GZip ", whole, `{"a":1}`, 200},
		{"two members", "gzip", pack(t, "gzip", `{"a"`, `:1}`), `{"a":1}`, 200},
		{"long", "gzip", pack(t, "gzip", long), long, 200},
		{"deflate", "deflate", pack(t, "deflate", `{"a":1}`), `{"a":1}`, 200},
		{"deflate without frame", "deflate", pack(t, "raw", `{"a":1}`), `{"a":1}`, 200},
		{"unknown coding", "garbage", `{"a":1}`, internalError, 500},
		{"two codings", "gzip, gzip", whole, internalError, 500},
		{"not gzip", "gzip", `{"a":1}`, internalError, 500},
		{"not deflate", "deflate", `{"a":1}`, internalError, 500},
		{"nothing", "gzip", "", internalError, 500},
		{"junk after it", "gzip", whole + "junk", internalError, 500},
		{"last byte missing", "gzip", whole[:len(whole)-1], internalError, 500},
		{"too long unpacked", "gzip", pack(t, "gzip", strings.Repeat(" ", 100_001)), tooLarge(100_000), 413},
		{
			"as long as it may be", "gzip", pack(t, "gzip", strings.Repeat(" ", 100_000)),
			strings.Repeat(" ", 100_000), 200,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := post(tt.sent, "X-Amz-Target", listTables, "Content-Type", json10)
			if tt.coding != "" {
				r.Header.Set("Content-Encoding", tt.coding)
			}
			res, body := do(t, h, r)
			require.Equal(t, tt.status, res.StatusCode)
			require.Equal(t, tt.want, strings.TrimPrefix(body, listTables+"|"))
		})
	}
}

func tooLarge(limit int) string {
	return fmt.Sprintf(`{"__type":"com.amazon.coral.service#RequestEntityTooLarge","message":"HTTP content length `+
		`exceeded %d bytes."}`, limit)
}

func TestBodyLimit(t *testing.T) {
	h := server.New(echo{}, server.Options{})
	const limit = 16 << 20
	for _, chunked := range []bool{false, true} {
		for extra, status := range map[int]int{0: 200, 1: 413} {
			r := post(strings.Repeat(" ", limit+extra), "X-Amz-Target", listTables, "Content-Type", json10)
			if chunked {
				r.ContentLength = -1
			}
			res, body := do(t, h, r)
			require.Equal(t, status, res.StatusCode)
			if status == 413 {
				require.Equal(t, tooLarge(limit), body)
			}
		}
	}
}

func TestHeaderLimit(t *testing.T) {
	h := server.New(echo{}, server.Options{})
	const want = `{"__type":"com.amazon.coral.service#RequestHeaderSectionTooLarge","message":"Your request header ` +
		`section exceeds the maximum allowed size."}`
	long := strings.Repeat("x", 16<<10)
	for name, r := range map[string]*http.Request{
		"one header":   post("{}", "X-Amz-Target", listTables, "X-Long", long),
		"request line": newRequest("POST", "/?"+long, "{}", "X-Amz-Target", listTables),
		"GET":          newRequest("GET", "/", "", "X-Long", long),
	} {
		res, body := do(t, h, r)
		require.Equal(t, 400, res.StatusCode, name)
		require.Equal(t, want, body, name)
	}
	res, _ := do(t, h, post("{}", "X-Amz-Target", listTables, "Content-Type", json10, "X-Long", long[:15<<10]))
	require.Equal(t, 200, res.StatusCode)

	// The limit itself is allowed, one byte more is not.
	r := post("{}", "X-Amz-Target", listTables, "Content-Type", json10)
	r.RequestURI = "/"
	sent, err := httputil.DumpRequest(r, false)
	require.NoError(t, err)
	size := len(sent) - len("\r\n")
	for limit, status := range map[int]int{size: 200, size - 1: 400} {
		h := server.New(echo{}, server.Options{MaxHeaderBytes: limit})
		res, _ := do(t, h, r)
		require.Equal(t, status, res.StatusCode)
	}
}

// TestAcceptEncoding has cases from Alternator's test_compressed_response.py, which passes on DynamoDB. Repeated
// headers are combined.
func TestAcceptEncoding(t *testing.T) {
	long := strings.Repeat("x", 4096)
	h := server.New(handlerFunc(func(_ context.Context, _ string, body, dst []byte) ([]byte, int) {
		return append(dst, body...), 200
	}), server.Options{})
	for _, tt := range []struct {
		header string
		want   string
	}{
		{"identity", ""},
		{"", ""},
		{"br", ""},
		{"zstd", ""},
		{"compress", ""},
		{"x-gzip", ""},
		{"gzip", "gzip"},
		{"deflate", "deflate"},
		{"gzip, deflate", "gzip"},
		{"br, identity, deflate, gzip", "deflate"},
		{"GZIP, identity", "gzip"},
		{"dog, gzip ,, cat", "gzip"},
		{"gzip;q=0.8, deflate;q=0.5", "gzip"},
		{"br, gzip;q=0, deflate; q = 0.5 , identity;q=0", "deflate"},
		{"*", "gzip"},
		{"*, deflate;q=0.5", "gzip"},
		{"*, deflate", "deflate"},
		{"*, identity", "gzip"},
		{"*, gzip;q=0.5", "deflate"},
		{"gzip ;q=0", ""},
		{"identity;q=0", ""},
		{"*;q=0", ""},
		{"*;q=0.5,identity", "gzip"},
		{"gzip;q=0.5,identity;q=0.8", "gzip"},
		{"br;q=0.8,identity;q=0.5,*;q=0", ""},
		{`"gzip"`, ""},
		{"gzip br", ""},
		{"gzip:q=1", ""},
		{"deflate;q=0.5, gzip;q=31", "gzip"},
		{"gzip;q=31,deflate;q=51", "gzip"},
		{"deflate;q=0.5, gzip;q=0.2", "deflate"},
		{"deflate;q=0.5, gzip;q=1;q=0.2", "gzip"},
		{"deflate;q=0.5,gzip;q=0.", "deflate"},
		{"deflate;q=0.5,gzip;q=0.x", "gzip"},
		{"deflate;q=-0.5,gzip;q=0.2", "gzip"},
		{"gzip;nq=1;q=0 ", ""},
		{"gzip;q=0, gzip;q=1, gzip;q=0", "gzip"},
		{"br,identity;q=0.5,gzip;q=0.0001", "gzip"},
		{"identity\ngzip", "gzip"},
		{"deflate;q=0.1\ngzip;q=0.2", "gzip"},
	} {
		t.Run(tt.header, func(t *testing.T) {
			r := post(long, "X-Amz-Target", listTables, "Content-Type", json10)
			for v := range strings.SplitSeq(tt.header, "\n") {
				r.Header.Add("Accept-Encoding", v)
			}
			res, body := do(t, h, r)
			require.Equal(t, tt.want, res.Header.Get("Content-Encoding"))
			require.Equal(t, long, unpack(t, tt.want, body))
			if tt.want != "" {
				require.Less(t, len(body)*30, len(long))
			}
		})
	}
	res, _ := do(t, h, post(long[1:], "X-Amz-Target", listTables, "Content-Type", json10, "Accept-Encoding", "gzip"))
	require.Empty(t, res.Header.Get("Content-Encoding"), "shorter than 4 KB")

	never := server.New(echo{}, server.Options{CompressBytes: -1})
	res, _ = do(t, never, post(long, "X-Amz-Target", listTables, "Content-Type", json10, "Accept-Encoding", "gzip"))
	require.Empty(t, res.Header.Get("Content-Encoding"))
}

func unpack(t *testing.T, coding, body string) string {
	t.Helper()
	var r io.Reader = strings.NewReader(body)
	var err error
	switch coding {
	case "gzip":
		r, err = gzip.NewReader(r)
	case "deflate":
		r, err = zlib.NewReader(r)
	}
	require.NoError(t, err)
	out, err := io.ReadAll(r)
	require.NoError(t, err)
	return string(out)
}

// TestCORS follows dynalite (test/connection.js) and Alternator (test_cors.py).
func TestCORS(t *testing.T) {
	asked := []string{
		"Origin", "https://example.com",
		"Access-Control-Request-Headers", "a, b, c", "Access-Control-Request-Method", "d",
	}
	for _, tt := range []struct {
		name    string
		origins []string
		want    string // allowed origin
	}{
		{"any", []string{"*"}, "*"},
		{"this one", []string{"https://other.example", "https://example.com"}, "https://example.com"},
		{"another", []string{"https://other.example"}, ""},
		{"none", nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := server.New(echo{}, server.Options{CORS: tt.origins})
			res, body := do(t, h, newRequest("OPTIONS", "/", "", asked...))
			require.Equal(t, tt.want, res.Header.Get("Access-Control-Allow-Origin"))
			if tt.want == "" {
				require.Equal(t, 403, res.StatusCode)
				require.Contains(t, body, `Pages of the origin \"https://example.com\" must not use this server`)
				require.Empty(t, res.Header.Get("Access-Control-Allow-Headers"))
			} else {
				require.Equal(t, 200, res.StatusCode)
				require.Empty(t, body)
				require.Equal(t, "a, b, c", res.Header.Get("Access-Control-Allow-Headers"))
				require.Equal(t, "d", res.Header.Get("Access-Control-Allow-Methods"))
				require.Equal(t, "172800", res.Header.Get("Access-Control-Max-Age"))
			}
			for _, method := range []string{"GET", "POST"} {
				res, _ := do(t, h, newRequest(method, "/", "", asked...))
				require.Equal(t, tt.want == "", res.StatusCode == 403)
				require.Equal(t, tt.want, res.Header.Get("Access-Control-Allow-Origin"))
				require.Equal(t, tt.want != "", res.Header.Get("Access-Control-Expose-Headers") != "")
				require.Empty(t, res.Header.Get("Access-Control-Max-Age"))
				require.Empty(t, res.Header.Get("Access-Control-Allow-Headers"))
			}
			res, _ = do(t, h, newRequest("OPTIONS", "/", ""))
			require.Equal(t, 404, res.StatusCode, "without Origin")
			require.Empty(t, res.Header.Get("Access-Control-Allow-Origin"))
		})
	}
}

func TestPanic(t *testing.T) {
	var log bytes.Buffer
	calls := 0
	h := server.New(handlerFunc(func(_ context.Context, _ string, _, dst []byte) ([]byte, int) {
		if calls++; calls == 1 {
			panic("a bug")
		}
		return append(dst, "fine"...), 200
	}), server.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	res, body := do(t, h, post("{}", "X-Amz-Target", listTables, "Content-Type", json10))
	require.Equal(t, 500, res.StatusCode)
	require.Equal(t, internalError, body)
	require.Equal(t, json10, res.Header.Get("Content-Type"))
	for _, want := range []string{"a bug", listTables, "http_test.go"} {
		require.Contains(t, log.String(), want)
	}
	_, body = do(t, h, post("{}", "X-Amz-Target", listTables, "Content-Type", json10))
	require.Equal(t, "fine", body)

	abort := server.New(handlerFunc(func(context.Context, string, []byte, []byte) ([]byte, int) {
		panic(http.ErrAbortHandler)
	}), server.Options{})
	require.PanicsWithValue(t, http.ErrAbortHandler, func() {
		abort.ServeHTTP(httptest.NewRecorder(), post("{}", "X-Amz-Target", listTables, "Content-Type", json10))
	})
}

func TestRequestIDs(t *testing.T) {
	a, b, other := seeded.RequestIDs([32]byte{1}), seeded.RequestIDs([32]byte{1}), seeded.RequestIDs([32]byte{2})
	seen := map[string]bool{}
	for range 100 {
		id := a()
		require.Regexp(t, `^[0-9A-Z]{52}$`, id)
		require.Equal(t, id, b(), "equal seeds")
		require.NotEqual(t, id, other())
		require.False(t, seen[id])
		seen[id] = true
	}
	h := server.New(echo{}, server.Options{RequestID: func() string { return strings.Repeat("7", 52) }})
	res, _ := do(t, h, newRequest("GET", "/", ""))
	require.Equal(t, strings.Repeat("7", 52), res.Header.Get("X-Amzn-Requestid"))
}

func TestMaxRequests(t *testing.T) {
	entered, leave := make(chan string), make(chan struct{})
	h := server.New(handlerFunc(func(_ context.Context, _ string, body, dst []byte) ([]byte, int) {
		entered <- string(body)
		<-leave
		return dst, 200
	}), server.Options{MaxRequests: 1})
	go h.ServeHTTP(httptest.NewRecorder(), post("1", "X-Amz-Target", listTables, "Content-Type", json10))
	require.Equal(t, "1", <-entered)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	res, body := do(t, h, post("2", "X-Amz-Target", listTables, "Content-Type", json10).WithContext(ctx))
	require.Equal(t, 503, res.StatusCode)
	require.Contains(t, body, "ServiceUnavailableException")

	done := make(chan struct{})
	go func() {
		defer close(done)
		h.ServeHTTP(httptest.NewRecorder(), post("3", "X-Amz-Target", listTables, "Content-Type", json10))
	}()
	leave <- struct{}{}
	require.Equal(t, "3", <-entered, "waited for its turn")
	leave <- struct{}{}
	<-done
}

// TestLeaveSlot tests that a request can leave its slot to another request and then enter it again.
func TestLeaveSlot(t *testing.T) {
	left, again, entered, leave := make(chan bool), make(chan struct{}), make(chan struct{}), make(chan struct{})
	h := server.New(handlerFunc(func(ctx context.Context, _ string, body, dst []byte) ([]byte, int) {
		if string(body) == "other" {
			close(entered)
			<-leave
			return dst, 200
		}
		slot := event.CallOf(ctx).Slot
		slot.Leave()
		slot.Leave() // a second Leave does nothing
		left <- true
		<-again
		ended, cancel := context.WithCancel(ctx)
		cancel()
		left <- slot.Enter(ended)
		left <- slot.Enter(ctx)
		return dst, 200
	}), server.Options{MaxRequests: 1})
	serve := func(body string) {
		h.ServeHTTP(httptest.NewRecorder(), post(body, "X-Amz-Target", listTables, "Content-Type", json10))
	}

	var both sync.WaitGroup
	both.Go(func() { serve("one") })
	require.True(t, <-left)
	both.Go(func() { serve("other") })
	<-entered
	close(again)
	require.False(t, <-left, "the other request has the slot")
	close(leave)
	require.True(t, <-left)
	both.Wait()
}

// TestManySlots checks that operations that take several slots do not deadlock each other, and end when their client
// goes away.
func TestManySlots(t *testing.T) {
	h := server.New(echo{}, server.Options{MaxRequests: 9})
	var wait sync.WaitGroup
	for i := range 50 {
		wait.Go(func() {
			target := []string{"DynamoDB_20120810.BatchGetItem", listTables, "DynamoDB_20120810.TransactGetItems"}[i%3]
			for range 20 {
				w := httptest.NewRecorder()
				h.ServeHTTP(w, post("{}", "X-Amz-Target", target, "Content-Type", json10))
				if w.Code != 200 {
					t.Errorf("%s: status %d", target, w.Code)
				}
			}
		})
	}
	wait.Wait()
}

// TestTextInErrors checks that errors contain a client's text as valid JSON.
func TestTextInErrors(t *testing.T) {
	h := server.New(echo{}, server.Options{Credentials: map[string]string{}})
	_, body := do(t, h,
		post("{}", "X-Amz-Target", listTables, "Content-Type", json10, "Authorization", "AWS4-\"\\\x80<>"))
	require.JSONEq(t, `{"__type":"com.amazon.coral.service#IncompleteSignatureException","message":"Authorization `+
		`header requires 'Credential' parameter. Authorization header requires 'Signature' parameter. Authorization `+
		`header requires 'SignedHeaders' parameter. Authorization header requires existence of either a 'X-Amz-Date' `+
		`or a 'Date' header. Authorization=AWS4-\"\\\ufffd<>"}`, body)
}
