package server

import (
	"bufio"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var heads = []struct {
	text  string
	usual bool
}{
	{"POST / HTTP/1.1\r\nHost: h:8000\r\nContent-Length: 2\r\nX-Amz-Target: DynamoDB_20120810.ListTables\r\n\r\n", true},
	{"POST / HTTP/1.1\r\nhost: h\r\ncontent-length:0\r\nx-a:  b\t \r\nX-A: c\r\nx-empty:\r\nConnection: Keep-Alive\r\n\r\n", true},
	{"POST / HTTP/1.1\r\nHost: h\r\n\r\n", false},
	{"POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n", false},
	{"POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n", false},
	{"POST / HTTP/1.0\r\nHost: h\r\nContent-Length: 2\r\n\r\n", false},
	{"GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n", false},
	{"POST / HTTP/1.1\r\nHost: h\r\nHost: h\r\nContent-Length: 2\r\n\r\n", false},
	{"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n", false},
	{"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: +2\r\n\r\n", false},
	{"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2, 2\r\n\r\n", false},
	{"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 12345678\r\n\r\n", false},
	{"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n", false},
	{"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n", false},
	{"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nConnection: close\r\n\r\n", false},
	{"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nX-A: b\r\n folded\r\n\r\n", false},
	{"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nX-A : b\r\n\r\n", false},
	{"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nX-A: b\nX-B: c\r\n\r\n", false},
	{"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nX-A: \x00\r\n\r\n", false},
	{"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nX-A: \xff\r\n\r\n", false},
	{"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nnothing\r\n\r\n", false},
	{"POST / HTTP/1.1\r\nHost: /h\r\nContent-Length: 2\r\n\r\n", false},
	{"POST / HTTP/1.1\r\n\r\n", false},
	{"", false},
}

func TestParseHead(t *testing.T) {
	for _, tt := range heads {
		if _, ok := parseHead(tt.text); ok != tt.usual {
			t.Errorf("parseHead(%q) = %v, want %v", tt.text, ok, tt.usual)
		}
		sameAsNetHTTP(t, tt.text)
	}
}

// sameAsNetHTTP fails unless what parseHead takes is what net/http takes, with
// the same meaning.
func sameAsNetHTTP(t *testing.T, text string) {
	t.Helper()
	h, ok := parseHead(text)
	if !ok {
		return
	}
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(text)))
	require.NoError(t, err, "%q", text)
	require.Equal(t, r.Header, h.header, "%q", text)
	require.Equal(t, r.Host, h.host)
	require.Equal(t, r.ContentLength, int64(h.length))
	require.Empty(t, r.TransferEncoding)
	require.False(t, r.Close)
	require.Equal(t, "POST / HTTP/1.1", r.Method+" "+r.RequestURI+" "+r.Proto)
}

func FuzzParseHead(f *testing.F) {
	for _, h := range heads {
		f.Add(h.text)
	}
	f.Fuzz(sameAsNetHTTP)
}
