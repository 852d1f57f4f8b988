package server_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/server"
)

// maxHeaders is the default of Options.MaxHeaderBytes.
const maxHeaders = 16 << 10

// FuzzSignature makes the AWS SDK sign requests. The server must accept each request as it arrives over the wire, and
// refuse it after any change to a signed part. The only other reason to refuse a request is that its headers are too
// long.
//
// The seeds work for all versions of the SDK. Newer versions sort a query after they have encoded it, older ones
// before; see TestCanonicalQuery.
func FuzzSignature(f *testing.F) {
	for _, change := range []byte{0, 1, 2, 3, 4, 5, 6, 7} {
		f.Add("Meta", "  several   spaces  within ", "/", "k", "v", []byte("{}"), change, false)
		f.Add("a!b", "\ttab", "/a b/ü%2F+~", "a b", "x+y/é", []byte("[1]"), change, true)
	}
	f.Add("Empty", "", "//", "", "", []byte(nil), byte(0), false)
	f.Add("Long", strings.Repeat("x", 17<<10), "/", "k", "v", []byte("{}"), byte(0), false)
	f.Add("Space", "\u00a0no-break space\u00a0", "/;,=&?#", "q;r", "&=", []byte("\xff"), byte(0), true)
	f.Fuzz(func(t *testing.T, name, value, path, key, param string, body []byte, change byte, inQuery bool) {
		name = "X-" + strings.Map(token, name)
		if strings.HasPrefix(strings.ToLower(name), "x-amz") || strings.HasPrefix(strings.ToLower(key), "x-amz") {
			return // the server acts on these headers
		}
		value = strings.Map(printable, value)
		u := &url.URL{
			Scheme: "http", Host: "localhost:8000", Path: "/" + path,
			RawQuery: url.Values{key: {param, "2"}, "a": {"1"}}.Encode(),
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, u.String(), bytes.NewReader(body))
		if err != nil {
			return
		}
		r.Header.Set("X-Amz-Target", listTables)
		r.Header.Set("Content-Type", json10)
		r.Header.Add(name, value)
		r.Header.Add(name, "second")
		if inQuery {
			presign(t, r, keys, string(body), "us-east-1", now)
		} else {
			require.NoError(t,
				v4.NewSigner().SignHTTP(t.Context(), keys, r, sum(string(body)), "dynamodb", "us-east-1", now))
		}
		var wire bytes.Buffer
		require.NoError(t, r.Write(&wire))
		serve := func(spoil func(*http.Request)) (called bool, answer string) {
			in, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(wire.Bytes())))
			require.NoError(t, err, "%q", wire.String())
			spoil(in)
			w := httptest.NewRecorder()
			server.New(handlerFunc(func(_ context.Context, _ string, _, dst []byte) ([]byte, int) {
				called = true
				return dst, 200
			}), signing).ServeHTTP(w, in)
			return called, w.Body.String()
		}

		called, answer := serve(func(*http.Request) {})
		if !called && wire.Len()-len(body) > maxHeaders {
			require.Contains(t, answer, "RequestHeaderSectionTooLarge")
			return
		}
		if !called {
			t.Fatalf("refused %q: %s", wire.String(), answer)
		}
		changes := []func(*http.Request){
			func(r *http.Request) { r.Header.Values(name)[0] += "x" },
			func(r *http.Request) { r.Header.Add(name, "x") },
			func(r *http.Request) { r.Header.Del(name) },
			func(r *http.Request) { r.URL.Path += "x"; r.URL.RawPath = "" },
			func(r *http.Request) { r.URL.RawQuery += "&x=1" },
			func(r *http.Request) { r.Host = "elsewhere" },
			func(r *http.Request) {
				r.Header.Set("Authorization", flip(r.Header.Get("Authorization")))
				r.URL.RawQuery = flip(r.URL.RawQuery)
			},
			func(r *http.Request) {
				longer := append(bytes.Clone(body), ' ')
				r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(longer)), int64(len(longer))
			},
		}
		if called, _ := serve(changes[int(change)%len(changes)]); called {
			t.Fatalf("accepted change %d of %q", int(change)%len(changes), wire.String())
		}
	})
}

// flip changes the last digit of a signature.
func flip(s string) string {
	if s == "" {
		return s
	}
	last := byte('0')
	if s[len(s)-1] == last {
		last = '1'
	}
	return s[:len(s)-1] + string(last)
}

// token keeps the characters that are allowed in the name of a header.
func token(c rune) rune {
	if c < '!' || c > '~' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, c) {
		return -1
	}
	return c
}

// printable keeps the characters that are allowed in the value of a header.
func printable(c rune) rune {
	if c < ' ' && c != '\t' || c == 0x7f {
		return -1
	}
	return c
}

// TestCanonicalQuery checks that the server sorts a query after encoding it. Source: IAM User Guide, "Create a signed
// AWS API request".
func TestCanonicalQuery(t *testing.T) {
	r := newRequest("POST", "/?a=a-b&a=a%2Fb&a-=1&a%2F=2", "", "X-Amz-Target", listTables, "X-Amz-Date",
		"20260301T120000Z",
		"Authorization", "AWS4-HMAC-SHA256 Credential=KEY/20260301/us-east-1/dynamodb/aws4_request,"+
			"SignedHeaders=host;x-amz-target,Signature=00")
	_, body := do(t, server.New(echo{}, signing), r)
	require.Contains(t, body, `'POST\n/\na=a%2Fb&a=a-b&a%2F=2&a-=1\n`)
}
