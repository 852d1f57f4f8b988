package metrics

import (
	"context"
	"net/http"

	"github.com/sortkey/sortkey/internal/engine"
	"github.com/sortkey/sortkey/server"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/store"
)

// Options configure [New]. The zero value is ready to use.
type Options struct {
	// Store is the store of the database. Each scrape reads its statistics. A nil store, and a store without
	// statistics, has no metrics.
	Store store.Store
	// StoreMetrics are the metrics of the store. Default: the metrics that this package knows for the type of Store.
	StoreMetrics prometheus.Collector
	// TableLabels is the number of tables that have a label of their own. These are the first tables by name. Metrics
	// of capacity units label the tables and indexes that requests use first, up to the same number. The label
	// "(other)" stands for the sum of all others. If TableLabels is negative, no table has its own label. Default:
	// 100.
	TableLabels int
}

const (
	defaultTableLabels = 100
	// maxCodes bounds the number of error codes with a label of their own. The codes of the service are fewer.
	maxCodes = 100
	// maxScrapes bounds the number of concurrent scrapes.
	maxScrapes = 4
)

// buckets are the upper bounds of the latency histogram, in seconds.
var buckets = []float64{
	50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
}

// Metrics collects metrics of requests, of a database and of its store. It is safe
// for concurrent use.
type Metrics struct {
	labels int

	requests           *prometheus.CounterVec
	duration           *prometheus.HistogramVec
	in, out            *prometheus.CounterVec
	examined, returned *prometheus.CounterVec
	read, write        *prometheus.CounterVec // capacity units
	inFlight           prometheus.Gauge
	parts              []prometheus.Collector

	codes, places firsts
}

var _ prometheus.Collector = (*Metrics)(nil)

// New returns metrics with all counters at zero.
func New(opts Options) *Metrics {
	if opts.TableLabels == 0 {
		opts.TableLabels = defaultTableLabels
	}
	m := &Metrics{
		labels: opts.TableLabels, codes: firsts{most: maxCodes}, places: firsts{most: opts.TableLabels},
	}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(
			prometheus.CounterOpts{Name: "sortkey_" + name, Help: help}, append([]string{"operation"}, labels...),
		)
		m.parts = append(m.parts, c)
		return c
	}
	m.requests = counter("requests_total", "Requests answered, by operation and error code; OK means success.", "code")
	m.in = counter("request_bytes_total", "Bytes of request bodies as sent.")
	m.out = counter("response_bytes_total", "Bytes of response bodies as sent.")
	m.examined = counter("rows_examined_total", "Rows that queries and scans read.")
	m.returned = counter(
		"rows_returned_total", "Rows that queries and scans returned; filters dropped the others examined.",
	)
	const by = " capacity units consumed, by operation, table and index; the index is empty for the table itself."
	m.read = counter("read_units_total", "Read"+by, "table", "index")
	m.write = counter("write_units_total", "Write"+by, "table", "index")
	m.duration = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "sortkey_request_duration_seconds",
		Help: "Time from the headers of a request to the end of its response.", Buckets: buckets,
	}, []string{"operation"})
	m.inFlight = prometheus.NewGauge(
		prometheus.GaugeOpts{Name: "sortkey_requests_in_flight", Help: "Requests being answered."},
	)
	m.parts = append(m.parts, m.duration, m.inFlight)

	own := storeMetrics(opts.Store)
	switch {
	case opts.StoreMetrics != nil:
		m.parts = append(m.parts, opts.StoreMetrics)
	case own != nil:
		m.parts = append(m.parts, own)
	}
	return m
}

// Describe implements [prometheus.Collector].
func (m *Metrics) Describe(ch chan<- *prometheus.Desc) {
	for _, part := range m.parts {
		part.Describe(ch)
	}
}

// Collect implements [prometheus.Collector].
func (m *Metrics) Collect(ch chan<- prometheus.Metric) {
	for _, part := range m.parts {
		part.Collect(ch)
	}
}

// Watch adds metrics of db: of its tables, which each scrape reads, and of its health. Call it before the first
// scrape.
func (m *Metrics) Watch(db *sortkey.DB) {
	m.parts = append(m.parts, &tables{service: engine.Of(db).Service, labels: m.labels}, healthy(db))
}

// WatchServer adds metrics of a server's connections. Call it before the first scrape.
func (m *Metrics) WatchServer(s *server.Server) {
	m.parts = append(m.parts, Figures(func() Connections {
		open, closed, refused := s.Connections()
		return Connections{float64(open), float64(closed), float64(refused)}
	}, ConnectionFigures))
}

// Connections are the statistics of a server.
type Connections struct{ Open, Closed, Refused float64 }

// ConnectionFigures maps them.
var ConnectionFigures = []Figure{
	{"Open", "connections", "Open connections of clients."},
	{
		"Closed", "connections_closed_total",
		"Connections closed at the limit, each for a new one, because they had waited longest for a request.",
	},
	{"Refused", "connections_refused_total", "Requests and connections refused because all connections were busy."},
}

// healthy returns a metric that is 1 while the database answers GET /healthz with 200, and otherwise 0.
func healthy(db *sortkey.DB) prometheus.Collector {
	health := engine.Of(db).Health
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "sortkey_healthy",
		Help: "Whether the store works: 1, or 0 after a failure such as a full disk, or while the database is away.",
	}, func() float64 {
		if health() != nil {
			return 0
		}
		return 1
	})
}

// Handler returns the handler for scrapes, on any path. It also exports metrics of the Go runtime and of the process.
func (m *Metrics) Handler() http.Handler {
	reg := prometheus.NewRegistry()
	reg.MustRegister(m, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return promhttp.HandlerFor(
		reg, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: maxScrapes},
	)
}

// Begin implements [sortkey.Observer].
func (m *Metrics) Begin(context.Context, *sortkey.Event) { m.inFlight.Inc() }

// End implements [sortkey.Observer]. It adds a completed request to the counters.
func (m *Metrics) End(_ context.Context, e *sortkey.Event) {
	m.inFlight.Dec()
	op := Operation(e.Operation)
	code := "OK"
	if e.Error != "" && m.codes.has(e.Error) {
		code = e.Error
	} else if e.Error != "" || e.Status >= http.StatusBadRequest {
		code = other
	}
	// Create the series "OK" at the first request of an operation, even if that request fails.
	m.requests.WithLabelValues(op, "OK")
	m.requests.WithLabelValues(op, code).Inc()
	m.duration.WithLabelValues(op).Observe(e.Duration.Seconds())
	m.in.WithLabelValues(op).Add(float64(e.In))
	m.out.WithLabelValues(op).Add(float64(e.Out))
	if e.Examined > 0 {
		m.examined.WithLabelValues(op).Add(float64(e.Examined))
		m.returned.WithLabelValues(op).Add(float64(e.Returned))
	}
	for _, used := range e.Units {
		c := m.read
		if used.Write {
			c = m.write
		}
		table, index := used.Table, used.Index
		if !m.places.has(table + "/" + index) {
			table, index = other, other
		}
		c.WithLabelValues(op, table, index).Add(used.Units)
	}
}
