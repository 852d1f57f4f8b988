package server_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/server"
)

var (
	now     = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	signing = server.Options{
		Credentials: map[string]string{"KEY": "SECRET", "OTHER": "ELSE"},
		Clock:       func() time.Time { return now },
	}
	keys = aws.Credentials{AccessKeyID: "KEY", SecretAccessKey: "SECRET"}
)

// unsigned returns a client's request before it is signed.
func unsigned(t *testing.T, target, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, target, strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("X-Amz-Target", listTables)
	r.Header.Set("Content-Type", json10)
	r.Header.Set("X-Amz-Meta-Spaces", "  several   spaces  within ")
	return r
}

func sum(body string) string {
	s := sha256.Sum256([]byte(body))
	return hex.EncodeToString(s[:])
}

// sent returns the request that the server receives for a client's request.
func sent(r *http.Request, body string) *http.Request {
	in := httptest.NewRequest(r.Method, r.URL.String(), bytes.NewReader([]byte(body)))
	in.Header = r.Header.Clone()
	if r.Host != "" {
		in.Host = r.Host
	}
	return in
}

// presign signs r in its query string.
func presign(t *testing.T, r *http.Request, by aws.Credentials, body, region string, at time.Time) {
	t.Helper()
	uri, headers, err := v4.NewSigner().PresignHTTP(t.Context(), by, r, sum(body), "dynamodb", region, at)
	require.NoError(t, err)
	r.URL, err = url.Parse(uri)
	require.NoError(t, err)
	r.Header = headers
	r.Header.Set("Content-Type", json10)
}

// TestSigned checks signatures made by the AWS SDK.
func TestSigned(t *testing.T) {
	h := server.New(echo{}, signing)
	for _, tt := range []struct {
		name, url, body string
		creds           aws.Credentials
		region          string
		at              time.Time
	}{
		{"plain", "http://localhost:8000/", "{}", keys, "us-east-1", now},
		{"no path", "http://localhost:8000", "{}", keys, "eu-west-3", now},
		{"default port", "http://localhost:80/", "{}", keys, "us-east-1", now},
		{
			"other key", "http://localhost:8000/", "{}", aws.Credentials{AccessKeyID: "OTHER", SecretAccessKey: "ELSE"},
			"local", now,
		},
		{
			"session", "http://localhost:8000/", "{}",
			aws.Credentials{AccessKeyID: "KEY", SecretAccessKey: "SECRET", SessionToken: "TOKEN"}, "local", now,
		},
		{"path and query", "http://localhost:8000/a%20b/c?z=1&a=x+y&a=b%2Fc&k", "{}", keys, "us-east-1", now},
		{"no body", "http://localhost:8000/", "", keys, "us-east-1", now},
		{"a long body", "http://localhost:8000/", `"` + strings.Repeat("x", 100_000) + `"`, keys, "us-east-1", now},
		{"15 minutes late", "http://localhost:8000/", "{}", keys, "us-east-1", now.Add(-15 * time.Minute)},
		{"15 minutes early", "http://localhost:8000/", "{}", keys, "us-east-1", now.Add(15 * time.Minute)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := unsigned(t, tt.url, tt.body)
			require.NoError(t,
				v4.NewSigner().SignHTTP(t.Context(), tt.creds, r, sum(tt.body), "dynamodb", tt.region, tt.at))
			res, body := do(t, h, sent(r, tt.body))
			require.Equal(t, 200, res.StatusCode, body)

			for name, spoil := range map[string]func(*http.Request) *http.Request{
				"body": func(r *http.Request) *http.Request { return sent(r, tt.body+" ") },
				"target": func(r *http.Request) *http.Request {
					r.Header.Set("X-Amz-Target", listTables+"x")
					return r
				},
				"query": func(r *http.Request) *http.Request { r.URL.RawQuery += "&q=1"; return r },
				"path":  func(r *http.Request) *http.Request { r.URL.Path += "/x"; r.URL.RawPath = ""; return r },
				"host":  func(r *http.Request) *http.Request { r.Host = "elsewhere"; return r },
			} {
				res, body := do(t, h, spoil(sent(r, tt.body)))
				require.Equal(t, 400, res.StatusCode, name)
				if name == "body" && tt.body == "" {
					require.Equal(t, serialization, body)
					continue
				}
				require.Contains(t, body, "#InvalidSignatureException", name)
				require.Contains(t, body,
					"The request signature we calculated does not match the signature you provided.")
			}

			if tt.creds.SessionToken != "" {
				return
			}
			p := unsigned(t, tt.url, tt.body)
			presign(t, p, tt.creds, tt.body, tt.region, tt.at)
			p.Host = r.Host // the signer leaves out a default port
			res, body = do(t, h, sent(p, tt.body))
			require.Equal(t, 200, res.StatusCode, "presigned: %s", body)
			p.URL.RawQuery = strings.Replace(p.URL.RawQuery, "X-Amz-Signature=", "X-Amz-Signature=0", 1)
			res, body = do(t, h, sent(p, tt.body))
			require.Equal(t, 400, res.StatusCode)
			require.Contains(t, body, "#InvalidSignatureException")
		})
	}
}

func TestPackedRequestIsSignedAsSent(t *testing.T) {
	h := server.New(echo{}, signing)
	body := pack(t, "gzip", "{}")
	r := unsigned(t, "http://localhost:8000/", body)
	r.Header.Set("Content-Encoding", "gzip")
	require.NoError(t, v4.NewSigner().SignHTTP(t.Context(), keys, r, sum(body), "dynamodb", "us-east-1", now))
	res, got := do(t, h, sent(r, body))
	require.Equal(t, 200, res.StatusCode)
	require.Equal(t, listTables+"|{}", got)
}

func TestPresignedExpiry(t *testing.T) {
	for expires, last := range map[string]time.Duration{"60": time.Minute, "604800": 7 * 24 * time.Hour} {
		p := unsigned(t, "http://localhost:8000/?X-Amz-Expires="+expires, "{}")
		presign(t, p, keys, "{}", "us-east-1", now)
		for after, status := range map[time.Duration]int{last: 200, last + time.Second: 400} {
			opts := signing
			opts.Clock = func() time.Time { return now.Add(after) }
			res, body := do(t, server.New(echo{}, opts), sent(p, "{}"))
			require.Equal(t, status, res.StatusCode, body)
			if status == 400 {
				require.Contains(t, body, "Signature expired: 20260301T120000Z is now earlier than")
			}
		}
	}
}

// TestSignatureErrors has messages from dynalite (index.js, test/connection.js), and some checksums recorded from
// DynamoDB.
func TestSignatureErrors(t *testing.T) {
	h := server.New(echo{}, signing)
	const (
		missing = "MissingAuthenticationTokenException: Request is missing Authentication Token"
		both    = "InvalidSignatureException: Found both 'X-Amz-Algorithm' as a query-string param and " +
			"'Authorization' as HTTP header."
	)
	auth := func(algorithm, credential, headers string) string {
		return fmt.Sprintf("%s Credential=%s, SignedHeaders=%s, Signature=00", algorithm, credential, headers)
	}
	const good, scope = "AWS4-HMAC-SHA256", "/20260301/us-east-1/dynamodb/aws4_request"
	for _, tt := range []struct {
		name, path, auth, date string
		want                   string // code: message
		crc                    uint32
	}{
		{"no header", "/", "", "", missing, 2088342776},
		{"incomplete header", "/", "AWS4", "", missing, 2088342776},
		{"half a query", "/?X-Amz-Algorith", "X", "", missing, 2088342776},
		{
			"query without algorithm", "/?X-Amz-Credential=a&X-Amz-Signature=b&X-Amz-SignedHeaders=c&X-Amz-Date=d", "",
			"", missing, 2088342776,
		},
		{"header and query", "/?X-Amz-Algorithm", "X", "", both, 2139606068},
		{
			"nothing in it", "/", "AWS4-",
			"", "IncompleteSignatureException: Authorization header requires 'Credential' parameter. " +
				"Authorization header requires 'Signature' parameter. Authorization header requires 'SignedHeaders' " +
				"parameter. Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. " +
				"Authorization=AWS4-", 1828866742,
		},
		{
			"no headers named", "/", "AWS4- Signature=b Credential=a",
			"a", "IncompleteSignatureException: Authorization header requires 'SignedHeaders' parameter. " +
				"Authorization=AWS4- Signature=b Credential=a", 15336762,
		},
		{
			"comma", "/", "AWS4- Signature=b,Credential=a",
			"a", "IncompleteSignatureException: Authorization header requires 'SignedHeaders' parameter. " +
				"Authorization=AWS4- Signature=b,Credential=a", 1159703774,
		},
		{
			"comma and space", "/", "AWS4- Signature=b, Credential=a",
			"a", "IncompleteSignatureException: Authorization header requires 'SignedHeaders' parameter. " +
				"Authorization=AWS4- Signature=b, Credential=a", 164353342,
		},
		{
			"no equal-sign", "/", "AWS4-HMAC-SHA256 Signature=b,    Credential,    SignedHeaders", "a",
			"IncompleteSignatureException: 'Credential' not a valid key=value pair (missing equal-sign) in " +
				"Authorization header: 'AWS4-HMAC-SHA256 Signature=b,    Credential,    SignedHeaders'.", 0,
		},
		{
			"empty query", "/?X-Amz-Algorithm", "",
			"", "IncompleteSignatureException: AWS query-string parameters must include 'X-Amz-Algorithm'. " +
				"AWS query-string parameters must include 'X-Amz-Credential'. " +
				"AWS query-string parameters must include 'X-Amz-Signature'. " +
				"AWS query-string parameters must include 'X-Amz-SignedHeaders'. " +
				"AWS query-string parameters must include 'X-Amz-Date'. Re-examine the query-string parameters.",
			2900502663,
		},
		{
			"query without headers", "/?X-Amz-Algorithm=a&X-Amz-Credential=b&X-Amz-Signature=c&X-Amz-Date=d", "", "",
			"IncompleteSignatureException: AWS query-string parameters must include 'X-Amz-SignedHeaders'. " +
				"Re-examine the query-string parameters.", 3712057481,
		},
		{
			"date", "/", auth(good, "KEY"+scope, "host"),
			"201", "IncompleteSignatureException: Date must be in ISO-8601 'basic format'. Got '201'. " +
				"See http://en.wikipedia.org/wiki/ISO_8601", 0,
		},
		{
			"expired", "/", auth(good, "KEY"+scope, "host"), "20260301T114459Z",
			"InvalidSignatureException: Signature expired: 20260301T114459Z is now earlier than 20260301T114500Z " +
				"(20260301T120000Z - 15 min.)", 0,
		},
		{
			"not yet", "/", auth(good, "KEY"+scope, "host"), "20260301T121501Z",
			"InvalidSignatureException: Signature not yet current: 20260301T121501Z is still later than " +
				"20260301T121500Z (20260301T120000Z + 15 min.)", 0,
		},
		{
			"host", "/", auth(good, "KEY"+scope, "x-amz-date"), "20260301T120000Z",
			"InvalidSignatureException: 'Host' must be a 'SignedHeader' in the AWS Authorization.", 0,
		},
		{
			"algorithm", "/", auth("AWS4-HMAC-SHA25", "KEY"+scope, "Host"), "20260301T120000Z",
			"IncompleteSignatureException: Unsupported AWS 'algorithm': " +
				"'AWS4-HMAC-SHA25' (only AWS4-HMAC-SHA256 for now). ", 0,
		},
		{
			"credential", "/", auth(good, "a/b/c/d/", "host"), "20260301T120000Z",
			"IncompleteSignatureException: Credential must have exactly 5 slash-delimited elements, e.g. " +
				"keyid/date/region/service/term, got 'a/b/c/d/'", 0,
		},
		{
			"long credential", "/", auth(good, "a/b/c/d/e/f", "host"), "20260301T120000Z",
			"IncompleteSignatureException: Credential must have exactly 5 slash-delimited elements, e.g. " +
				"keyid/date/region/service/term, got 'a/b/c/d/e/f'", 0,
		},
		{
			"scope", "/", auth(good, "a/b//d/e", "host"),
			"20260301T120000Z", "InvalidSignatureException: Credential should be scoped to a valid region, not ''. " +
				"Credential should be scoped to correct service: 'dynamodb'. " +
				"Credential should be scoped with a valid terminator: 'aws4_request', not 'e'. " +
				"Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: " +
				"'b' != '20260301', from '20260301T120000Z'.", 0,
		},
		{
			"key", "/", auth(good, "NOKEY"+scope, "host"), "20260301T120000Z",
			"UnrecognizedClientException: The security token included in the request is invalid.", 0,
		},
		{
			"HTTP date", "/", auth(good, "NOKEY"+scope, "host"), "Sun, 01 Mar 2026 12:00:00 GMT",
			"UnrecognizedClientException: The security token included in the request is invalid.", 0,
		},
		{
			"expires", "/?X-Amz-Algorithm=a&X-Amz-Credential=b&X-Amz-Signature=c&X-Amz-Date=d&X-Amz-SignedHeaders=e&" +
				"X-Amz-Expires=604801", "", "",
			"IncompleteSignatureException: X-Amz-Expires must be a number of seconds between 0 and 604800.", 0,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRequest("POST", tt.path, "", "X-Amz-Target", listTables, "Content-Type", "application/json")
			if tt.auth != "" {
				r.Header.Set("Authorization", tt.auth)
			}
			if strings.HasPrefix(tt.date, "Sun") || tt.date == "a" {
				r.Header.Set("Date", tt.date)
			} else if tt.date != "" {
				r.Header.Set("X-Amz-Date", tt.date)
			}
			code, msg, _ := strings.Cut(tt.want, ": ")
			res, body := do(t, h, r)
			require.Equal(t, 400, res.StatusCode)
			require.Equal(t, `{"__type":"com.amazon.coral.service#`+code+`","message":"`+msg+`"}`, body)
			if tt.crc != 0 {
				require.Equal(t, fmt.Sprint(tt.crc), res.Header.Get("x-amz-crc32"))
			}
		})
	}
	res, _ := do(t, h, newRequest("GET", "/", ""))
	require.Equal(t, 200, res.StatusCode, "GET needs no signature")
}

// TestUnreadBodies checks that the server reads no body of a client that cannot have signed it.
func TestUnreadBodies(t *testing.T) {
	h := server.New(echo{}, signing)
	const auth = "AWS4-HMAC-SHA256 Credential=%s/20260301/us-east-1/dynamodb/aws4_request,SignedHeaders=host;" +
		"x-amz-target,Signature=00"
	for name, header := range map[string]string{"none": "", "unknown key": fmt.Sprintf(auth, "NOBODY")} {
		r := post("", "X-Amz-Target", listTables, "Content-Type", json10, "X-Amz-Date", "20260301T120000Z",
			"Authorization", header)
		body := &endlessBody{}
		r.Body, r.ContentLength = body, 16<<20
		res, _ := do(t, h, r)
		require.Equal(t, 400, res.StatusCode, name)
		require.Equal(t, "close", res.Header.Get("Connection"), name)
		require.Zero(t, body.read, name)
	}
}

// An endlessBody counts the bytes that are read of it.
type endlessBody struct{ read int }

func (b *endlessBody) Read(p []byte) (int, error) {
	b.read += len(p)
	return len(p), nil
}

func (b *endlessBody) Close() error { return nil }

// TestSignedOperation checks that a signature is valid only for the operation that it was made for.
func TestSignedOperation(t *testing.T) {
	h := server.New(echo{}, signing)
	const other = "DynamoDB_20120810.DeleteTable"

	// A presigned request has the operation in its query string.
	r := unsigned(t, "http://localhost:8000/", "{}")
	presign(t, r, keys, "{}", "us-east-1", now)
	r.Header.Set("X-Amz-Target", other)
	res, body := do(t, h, sent(r, "{}"))
	require.Equal(t, 200, res.StatusCode, body)
	require.Equal(t, listTables+"|{}", body)

	// If a presigned request, for example of another service, has no operation there, a header cannot add one.
	r = unsigned(t, "http://localhost:8000/", "{}")
	r.Header.Del("X-Amz-Target")
	presign(t, r, keys, "{}", "us-east-1", now)
	r.Header.Set("X-Amz-Target", other)
	_, body = do(t, h, sent(r, "{}"))
	require.Contains(t, body, "'X-Amz-Target' must be a 'SignedHeader'")

	// Nor can a header that was added after the request was signed in its headers.
	r = unsigned(t, "http://localhost:8000/", "{}")
	r.Header.Del("X-Amz-Target")
	require.NoError(t, v4.NewSigner().SignHTTP(t.Context(), keys, r, sum("{}"), "dynamodb", "us-east-1", now))
	r.Header.Set("X-Amz-Target", other)
	_, body = do(t, h, sent(r, "{}"))
	require.Contains(t, body, "'X-Amz-Target' must be a 'SignedHeader'")
	u := r.URL.Query()
	u.Set("X-Amz-Target", other)
	r.URL.RawQuery = u.Encode()
	_, body = do(t, h, sent(r, "{}"))
	require.Contains(t, body, "InvalidSignatureException")
}

// TestSignatureMessage checks the message that helps to debug a wrong
// signature.
func TestSignatureMessage(t *testing.T) {
	h := server.New(echo{}, signing)
	r := newRequest("POST", "/", "", "X-Amz-Target", listTables, "X-Amz-Date", "20260301T120000Z",
		"Authorization", "AWS4-HMAC-SHA256 Credential=KEY/20260301/us-east-1/dynamodb/aws4_request,"+
			"SignedHeaders=host;x-amz-target,Signature=00")
	_, body := do(t, h, r)
	require.Contains(t, body,
		`The Canonical String for this request should have `+
			`been\n'POST\n/\n\nhost:localhost:8000\nx-amz-target:DynamoDB_20120810.ListTables\n\nhost;`+
			`x-amz-target\ne3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'\n\n`+
			`The String-to-Sign should have `+
			`been\n'AWS4-HMAC-SHA256\n20260301T120000Z\n20260301/us-east-1/dynamodb/aws4_request\n`)
}
