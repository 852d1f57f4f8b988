package transfer_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/transfer"
	"github.com/sortkey/sortkey/server"
	"github.com/sortkey/sortkey/sortkeytest"
)

// TestSendUnprocessed imports into an endpoint that writes only the first item of each request, and leaves the others
// unprocessed. It tests that the import sends items again until all are written, more often than without progress.
func TestSendUnprocessed(t *testing.T) {
	t.Parallel()
	type request struct{ RequestItems map[string][]json.RawMessage }
	db := sortkeytest.New(t)
	h := server.New(db.DB, server.Options{})
	var left atomic.Int64
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		var in request
		unprocessed := []byte(nil)
		if r.Header.Get("X-Amz-Target") == "DynamoDB_20120810.BatchWriteItem" {
			if err := json.Unmarshal(body, &in); err != nil {
				t.Error(err)
			}
			if list := in.RequestItems["Rows"]; len(list) > 1 {
				in.RequestItems["Rows"] = list[:1]
				body, _ = json.Marshal(in)
				unprocessed, _ = json.Marshal(map[string]any{
					"UnprocessedItems": map[string]any{"Rows": list[1:]},
				})
				left.Add(1)
			}
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		if unprocessed == nil {
			h.ServeHTTP(w, r)
			return
		}
		answer := httptest.NewRecorder()
		h.ServeHTTP(answer, r)
		if answer.Code != http.StatusOK {
			t.Error(answer.Body)
		}
		_, _ = w.Write(unprocessed)
	}))
	defer web.Close()
	path := write(t, "a.jsonl", manyLines(200))
	whole := sortkeytest.New(t)
	_, err := importFiles(t, t.Context(), whole.Direct, options(t, path), path)
	require.NoError(t, err)
	o := options(t, path)
	o.Backoff = time.Nanosecond
	r, err := importFiles(t, t.Context(), webClient(web.URL), o, path)
	require.NoError(t, err)
	require.Equal(t, transfer.TableResult{Read: 200, Written: 181, Rejected: 19}, r.Sum(), "%v", r.First)
	require.Positive(t, left.Load())
	require.Equal(t, itemsOf(t, whole.Direct, "Rows"), itemsOf(t, db.Direct, "Rows"))
}
