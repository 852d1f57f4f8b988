package metrics_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/metrics"
)

// A program that embeds a database counts its requests. Over a socket it
// would call db.Serve(ctx, ln, m.Wrap).
func Example() {
	db, err := sortkey.Open(sortkey.Options{})
	if err != nil {
		panic(err)
	}
	defer db.Close()
	m := metrics.New(metrics.Options{DB: db})
	h := m.Wrap(db.Handler())
	post(h, "CreateTable", create("Cats"))
	post(h, "GetItem", `{"TableName":"Dogs","Key":{"PK":{"S":"rex"}}}`)

	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for line := range strings.Lines(w.Body.String()) {
		if strings.HasPrefix(line, "sortkey_requests_total") || strings.HasPrefix(line, "sortkey_tables") {
			fmt.Print(line)
		}
	}
	// Output:
	// sortkey_requests_total{code="OK",operation="CreateTable"} 1
	// sortkey_requests_total{code="OK",operation="GetItem"} 0
	// sortkey_requests_total{code="ResourceNotFoundException",operation="GetItem"} 1
	// sortkey_tables 1
}
