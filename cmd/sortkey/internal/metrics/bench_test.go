package metrics_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/sortkey/sortkey/server"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/metrics"
)

// BenchmarkScrape collects all metrics of a database. The goal is less than
// 100 ms with 10,000 tables.
func BenchmarkScrape(b *testing.B) {
	for _, tables := range []int{100, 10_000} {
		b.Run(fmt.Sprintf("tables=%d", tables), func(b *testing.B) {
			m := metrics.New(metrics.Options{})
			db := open(b, sortkey.Options{})
			m.Watch(db)
			h := server.New(db, server.Options{})
			for i := range tables {
				require.Equal(b, 200, post(h, "CreateTable", create(fmt.Sprintf("Table%05d", i))).Code)
			}
			scraper := m.Handler()
			b.ReportAllocs()
			for b.Loop() {
				w := httptest.NewRecorder()
				scraper.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
				if w.Code != 200 {
					b.Fatal(w.Body)
				}
			}
		})
	}
}
