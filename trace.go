package sortkey

import (
	"encoding/json"
	"net/http"

	"github.com/sortkey/sortkey/internal/table"
)

// TraceHeader asks for the trace of a query or scan when a request carries it
// with the value 1, and holds the trace in the response. See [ReadTrace].
const TraceHeader = "X-Sortkey-Trace"

// ReadTrace returns the trace in the headers of a response, and whether there
// is one: other endpoints send none.
func ReadTrace(h http.Header) (table.Trace, bool) {
	var tr table.Trace
	text := h.Get(TraceHeader)
	if text == "" || json.Unmarshal([]byte(text), &tr) != nil {
		return table.Trace{}, false
	}
	return tr, true
}

// traceHandler answers [TraceHeader].
func traceHandler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Header.Get(TraceHeader) != "1" {
			next.ServeHTTP(w, req)
			return
		}
		// The operation is done before the response begins, so the header is
		// still open when the trace comes.
		ctx := table.WithTrace(req.Context(), func(tr table.Trace) {
			if text, err := json.Marshal(tr); err == nil {
				w.Header().Set(TraceHeader, string(text))
			}
		})
		next.ServeHTTP(w, req.WithContext(ctx))
	})
}
