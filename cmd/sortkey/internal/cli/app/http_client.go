package app

import (
	"bytes"
	"io"
	"net/http"
)

// An HTTPClient sends requests of the AWS SDK with another client. The SDK closes
// the body of a request as soon as it has the headers of the answer. If net/http then
// still looks for the end of the body, it closes the connection, and reading the
// answer fails with [net.ErrClosed]: one time in ten for large answers of a server on
// the same machine (aws/aws-sdk-go-v2 issues 1825 and 2737). An HTTPClient gives each
// request a copy of its body, which stays open.
type HTTPClient struct {
	Next interface {
		Do(*http.Request) (*http.Response, error)
	}
}

// Do implements the HTTP client of the SDK.
func (c HTTPClient) Do(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		req.Body = io.NopCloser(bytes.NewReader(body))
	}
	return c.Next.Do(req)
}
