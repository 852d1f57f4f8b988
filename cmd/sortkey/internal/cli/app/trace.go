package app

import (
	"net/http"
	"strings"
	"sync"

	"github.com/sortkey/sortkey/server"

	"github.com/sortkey/sortkey"
)

// A tracer requests and collects the traces of queries, which a Sortkey server
// sends in a header.
type tracer struct {
	next interface {
		Do(*http.Request) (*http.Response, error)
	}
	mu     sync.Mutex
	traces []sortkey.Trace
}

// Do implements the HTTP client of the SDK. The SDK calls it after signing, so the
// header is not part of the signature.
func (t *tracer) Do(req *http.Request) (*http.Response, error) {
	if strings.HasSuffix(req.Header.Get("X-Amz-Target"), ".Query") {
		req.Header.Set(server.TraceHeader, "1")
	}
	resp, err := t.next.Do(req)
	if err != nil {
		return nil, err
	}
	if tr, ok := server.ReadTrace(resp.Header); ok {
		t.mu.Lock()
		t.traces = append(t.traces, tr)
		t.mu.Unlock()
	}
	return resp, nil
}

// take returns the traces since the last call.
func (t *tracer) take() []sortkey.Trace {
	t.mu.Lock()
	defer t.mu.Unlock()
	traces := t.traces
	t.traces = nil
	return traces
}
