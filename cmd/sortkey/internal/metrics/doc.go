// Package metrics counts what a database is asked and what that costs, and
// gives the figures to Prometheus.
//
// A [Metrics] has a wrapper for the handler that answers requests, for
// [sortkey.DB.Serve], and a handler of its own for a scraper:
//
//	m := metrics.New(metrics.Options{DB: db})
//	go http.ListenAndServe("127.0.0.1:9100", m.Handler())
//	err := db.Serve(ctx, ln, m.Wrap)
//
// It is a [prometheus.Collector] too, for programs that have a registry.
// [Watch] is what it counts with: it tells of each request when it has been
// answered, for a log for example.
//
// The number of time series is bounded whatever clients send: operations that
// the service does not know are "other", and so are error codes and tables
// beyond a limit. No figure and no [Request] holds anything of an item.
package metrics
