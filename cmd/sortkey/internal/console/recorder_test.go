package console_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/console"
	"github.com/sortkey/sortkey/internal/api/event"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/server"
	"github.com/sortkey/sortkey/sortkeytest"
)

// queryBody is a request of typical size.
const queryBody = `{"TableName":"Shop","KeyConditionExpression":"#p = :p AND begins_with(SK, :s)","FilterExpression":"#t > :t",` +
	`"ExpressionAttributeNames":{"#p":"PK","#t":"total"},"ExpressionAttributeValues":{":p":{"S":"CUSTOMER#c1"},":s":{"S":"ORDER#000"},":t":{"N":"5"}}}`

// post sends a request to a server in this process.
func post(h http.Handler, operation, body string) int {
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, r)
	return rec.Code
}

// recorded returns a server with some items. The observer sees its requests.
func recorded(t testing.TB, o sortkey.Observer) http.Handler {
	db, err := sortkey.Open(sortkey.Options{Observer: o})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	h := server.New(db, server.Options{})
	require.Equal(t, http.StatusOK, post(h, "CreateTable", `{"TableName":"Shop","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[`+
		`{"AttributeName":"PK","AttributeType":"S"},{"AttributeName":"SK","AttributeType":"S"}],"KeySchema":[`+
		`{"AttributeName":"PK","KeyType":"HASH"},{"AttributeName":"SK","KeyType":"RANGE"}]}`))
	for i := range 30 {
		require.Equal(t, http.StatusOK, post(h, "PutItem", fmt.Sprintf(
			`{"TableName":"Shop","Item":{"PK":{"S":"CUSTOMER#c1"},"SK":{"S":"ORDER#%04d"},"total":{"N":"%d"}}}`, i, i)))
	}
	return h
}

// TestMemory tests that the memory of a recorder is bounded, whatever a program sends: 8,000 requests of 7 KB, of
// 2,000 shapes, are 56 MB. It does not run in parallel, because it measures memory.
func TestMemory(t *testing.T) {
	proptest.NeedLong(t)
	r := console.NewRecorder()
	h := recorded(t, r)
	pad := strings.Repeat("x", 7<<10)
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	for i := range 8_000 {
		post(h, "GetItem", fmt.Sprintf(`{"TableName":"Shop","Key":{"PK":{"S":"%d"},"SK":{"S":"x"}},"ProjectionExpression":"a%d","ReturnConsumedCapacity":"NONE","n":"%s"}`,
			i, i%2000, pad))
	}
	require.Less(t, int64(heap())-int64(before), int64(32<<20))
	runtime.KeepAlive(r)
}

// TestBusy sends requests faster than a page can show them. It tests that the page learns about each request: some
// completely, and the others only as a number and in the totals.
func TestBusy(t *testing.T) {
	t.Parallel()
	r := console.NewRecorder()
	h := recorded(t, r)
	db := sortkeytest.New(t)
	pages := httptest.NewServer(quiet(console.New(console.Options{Target: explain.InProcess(db.DB), Requests: r}).Handler()))
	t.Cleanup(pages.Close)
	resp, err := browser.Get(pages.URL + "/events")
	require.NoError(t, err)
	defer resp.Body.Close()

	const each, workers = 2_500, 4
	began := time.Now()
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for range each {
				post(h, "Query", queryBody)
			}
		})
	}
	wg.Wait()
	t.Logf("%.0f requests a second", each*workers/time.Since(began).Seconds())

	const all = each*workers + 31
	shown, left, total := 0, 0, 0
	dec := json.NewDecoder(&events{r: resp.Body})
	for total < all {
		var batch struct {
			Requests    []console.Request
			Shapes      []console.Shape
			Left, Total int
		}
		require.NoError(t, dec.Decode(&batch))
		require.LessOrEqual(t, len(batch.Requests), 50)
		shown, left, total = shown+len(batch.Requests), left+batch.Left, batch.Total
		require.Equal(t, total, shown+left)
		if total == all {
			sum := 0
			for _, shape := range batch.Shapes {
				sum += shape.Requests
			}
			require.Equal(t, all, sum)
		}
	}
}

// quiet hides the requests of pages from observers.
func quiet(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r.WithContext(event.Quiet(r.Context())))
	})
}
