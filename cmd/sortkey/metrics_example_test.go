package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/sortkey/sortkey/server"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/metrics"
)

// This program embeds a database and counts its requests.
func Example_metrics() {
	m := metrics.New(metrics.Options{})
	db, err := sortkey.Open(sortkey.Options{Observer: m})
	if err != nil {
		panic(err)
	}
	defer db.Close()
	m.Watch(db)
	h := server.New(db, server.Options{})
	post(h, "CreateTable", createBody("Cats"))
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
