// Package metrics counts what a database is asked and what that costs, and
// gives the figures to Prometheus.
//
// A [Metrics] is the observer of a database, and has a handler for a scraper:
//
//	m := metrics.New(metrics.Options{})
//	db, err := sortkey.Open(sortkey.Options{Observer: m})
//	m.Watch(db)
//	go http.ListenAndServe("127.0.0.1:9100", m.Handler())
//
// The number of time series is bounded whatever clients send: operations that
// the service does not know are "(other)", and so are error codes and tables
// beyond a limit. No figure holds anything of an item.
package metrics
