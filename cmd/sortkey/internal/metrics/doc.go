// Package metrics exports metrics of a database to Prometheus: its requests, their cost, its tables and its store.
//
// A [Metrics] is an observer of a database with a handler for the scraper:
//
//	m := metrics.New(metrics.Options{})
//	db, err := sortkey.Open(sortkey.Options{Observer: m})
//	m.Watch(db)
//	go http.ListenAndServe("127.0.0.1:9100", m.Handler())
//
// Clients cannot create an unlimited number of time series. The label "(other)" stands for unknown operations, and
// for error codes and tables beyond a limit. Metrics contain no item data.
package metrics
