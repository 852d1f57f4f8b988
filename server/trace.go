package server

import (
	"encoding/json"
	"net/http"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/internal/engine"
	"github.com/sortkey/sortkey/internal/table"
)

// TraceHeader, sent with the value 1, requests the trace of a query or scan. The response has the trace in the same
// header. See [ReadTrace].
const TraceHeader = "X-Sortkey-Trace"

// ReadTrace returns the trace in the headers of a response, if there is one. Only a Sortkey server sends a trace, and
// only if the request had [TraceHeader].
func ReadTrace(h http.Header) (sortkey.Trace, bool) {
	var tr sortkey.Trace
	header := h.Get(TraceHeader)
	if header == "" || json.Unmarshal([]byte(header), &tr) != nil {
		return sortkey.Trace{}, false
	}
	return tr, true
}

// traceHandler returns a handler that calls next and answers [TraceHeader].
func traceHandler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Header.Get(TraceHeader) != "1" {
			next.ServeHTTP(w, req)
			return
		}
		// The trace arrives before next writes the response, so the header can still be set.
		ctx := table.WithTrace(req.Context(), func(tr table.Trace) {
			if value, err := json.Marshal(sortkey.Trace(engine.NewTrace(&tr))); err == nil {
				w.Header().Set(TraceHeader, string(value))
			}
		})
		next.ServeHTTP(w, req.WithContext(ctx))
	})
}
