package app

import (
	"bytes"
	"io"
	"net/http"
)

// An HTTPClient sends requests of the AWS SDK through another client. It avoids a race between the SDK and net/http.
// The SDK closes the body of a request as soon as it has the headers of the response. If net/http is then still
// reading to the end of the body, it closes the connection, and reading the response fails with [net.ErrClosed].
// HTTPClient sends a copy of the body, which the SDK cannot close. Without the copy, one in ten large responses of a
// server on the same machine failed (aws/aws-sdk-go-v2 issues 1825 and 2737).
type HTTPClient struct {
	Next interface {
		Do(*http.Request) (*http.Response, error)
	}
}

// Do implements [dynamodb.HTTPClient].
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
