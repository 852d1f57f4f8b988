package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/disk"
	"github.com/sortkey/sortkey/store/postgres"
)

// storeMetrics returns the metrics of a store, or nil if it has none.
func storeMetrics(st store.Store) prometheus.Collector {
	switch st := st.(type) {
	case *disk.Store:
		return Figures(st.Stats, diskMetrics...)
	case *postgres.Store:
		return Figures(st.Stats, postgresMetrics...)
	}
	return nil
}

// Figures returns metrics computed from statistics S of a store, which are read once for each
// scrape.
func Figures[S any](read func() S, metrics ...Figure[S]) prometheus.Collector {
	return &figures[S]{read, metrics}
}

// figures implements [Figures].
type figures[S any] struct {
	read    func() S
	metrics []Figure[S]
}

// A Figure is a metric computed from statistics S.
type Figure[S any] struct {
	desc *prometheus.Desc
	typ  prometheus.ValueType
	of   func(S) float64
}

// Gauge returns a figure that rises and falls, as the metric sortkey_store_NAME.
func Gauge[S any](name, help string, of func(S) float64) Figure[S] {
	return Figure[S]{prometheus.NewDesc("sortkey_store_"+name, help, nil, nil), prometheus.GaugeValue, of}
}

// Counter returns a figure that only rises, as the metric sortkey_store_NAME.
func Counter[S any](name, help string, of func(S) float64) Figure[S] {
	return Figure[S]{prometheus.NewDesc("sortkey_store_"+name, help, nil, nil), prometheus.CounterValue, of}
}

var diskMetrics = []Figure[disk.Stats]{
	Gauge("disk_bytes", "Bytes of all files of the store.", func(s disk.Stats) float64 { return float64(s.DiskBytes) }),
	Gauge(
		"log_bytes", "Bytes of the log, part of the bytes on disk.",
		func(s disk.Stats) float64 { return float64(s.LogBytes) },
	),
	Gauge(
		"memtable_bytes", "Bytes of rows in memory, on disk only in the log.",
		func(s disk.Stats) float64 { return float64(s.MemTableBytes) },
	),
	Gauge("cache_bytes", "Bytes of blocks in the cache.", func(s disk.Stats) float64 { return float64(s.CacheBytes) }),
	Counter(
		"cache_hits_total", "Blocks found in the cache.",
		func(s disk.Stats) float64 { return float64(s.CacheHits) },
	),
	Counter(
		"cache_misses_total", "Blocks read from disk.",
		func(s disk.Stats) float64 { return float64(s.CacheMisses) },
	),
	Counter(
		"flushes_total", "Flushes of rows in memory to files.",
		func(s disk.Stats) float64 { return float64(s.Flushes) },
	),
	Counter("compactions_total", "Compactions of files.", func(s disk.Stats) float64 { return float64(s.Compactions) }),
	Gauge(
		"read_amplification", "Files that a read may open.",
		func(s disk.Stats) float64 { return float64(s.ReadAmp) },
	),
	Gauge(
		"snapshots", "Snapshots in use for reads, including the last one.",
		func(s disk.Stats) float64 { return float64(s.Snapshots) },
	),
}

var postgresMetrics = []Figure[postgres.Stats]{
	Gauge("connections", "Open connections of the pool.", func(s postgres.Stats) float64 { return float64(s.Conns) }),
	Gauge(
		"connections_in_use", "Connections of the pool in use.",
		func(s postgres.Stats) float64 { return float64(s.Busy) },
	),
	Counter(
		"connection_waits_total", "Calls that waited for a connection of the pool.",
		func(s postgres.Stats) float64 { return float64(s.Waits) },
	),
	Counter(
		"conflicts_total", "Attempts of updates that conflicted with another transaction.",
		func(s postgres.Stats) float64 { return float64(s.Conflicts) },
	),
	Counter(
		"broken_total", "Attempts of updates that lost their connection.",
		func(s postgres.Stats) float64 { return float64(s.Broken) },
	),
	Counter(
		"resolved_total", "Commits that got no answer and were looked up.",
		func(s postgres.Stats) float64 { return float64(s.Resolved) },
	),
}

// Describe implements [prometheus.Collector].
func (f *figures[S]) Describe(ch chan<- *prometheus.Desc) {
	for _, m := range f.metrics {
		ch <- m.desc
	}
}

// Collect implements [prometheus.Collector].
func (f *figures[S]) Collect(ch chan<- prometheus.Metric) {
	s := f.read()
	for _, m := range f.metrics {
		ch <- prometheus.MustNewConstMetric(m.desc, m.typ, m.of(s))
	}
}
