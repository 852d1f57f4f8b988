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
		return &figures[disk.Stats]{st.Stats, diskMetrics}
	case *postgres.Store:
		return &figures[postgres.Stats]{st.Stats, postgresMetrics}
	}
	return nil
}

// figures collects metrics from statistics S of a store, read once for each scrape.
type figures[S any] struct {
	read    func() S
	metrics []figure[S]
}

// A figure is a metric computed from statistics S.
type figure[S any] struct {
	desc *prometheus.Desc
	typ  prometheus.ValueType
	of   func(S) float64
}

func gauge[S any](name, help string, of func(S) float64) figure[S] {
	return figure[S]{prometheus.NewDesc("sortkey_store_"+name, help, nil, nil), prometheus.GaugeValue, of}
}

func counter[S any](name, help string, of func(S) float64) figure[S] {
	return figure[S]{prometheus.NewDesc("sortkey_store_"+name, help, nil, nil), prometheus.CounterValue, of}
}

var diskMetrics = []figure[disk.Stats]{
	gauge("disk_bytes", "Bytes of all files of the store.", func(s disk.Stats) float64 { return float64(s.DiskBytes) }),
	gauge("log_bytes", "Bytes of the log, part of the bytes on disk.", func(s disk.Stats) float64 { return float64(s.LogBytes) }),
	gauge("memtable_bytes", "Bytes of rows in memory, on disk only in the log.", func(s disk.Stats) float64 { return float64(s.MemTableBytes) }),
	gauge("cache_bytes", "Bytes of blocks in the cache.", func(s disk.Stats) float64 { return float64(s.CacheBytes) }),
	counter("cache_hits_total", "Blocks found in the cache.", func(s disk.Stats) float64 { return float64(s.CacheHits) }),
	counter("cache_misses_total", "Blocks read from disk.", func(s disk.Stats) float64 { return float64(s.CacheMisses) }),
	counter("flushes_total", "Flushes of rows in memory to files.", func(s disk.Stats) float64 { return float64(s.Flushes) }),
	counter("compactions_total", "Compactions of files.", func(s disk.Stats) float64 { return float64(s.Compactions) }),
	gauge("read_amplification", "Files that a read may open.", func(s disk.Stats) float64 { return float64(s.ReadAmp) }),
	gauge("snapshots", "Snapshots in use for reads, including the last one.", func(s disk.Stats) float64 { return float64(s.Snapshots) }),
}

var postgresMetrics = []figure[postgres.Stats]{
	gauge("connections", "Open connections of the pool.", func(s postgres.Stats) float64 { return float64(s.Conns) }),
	gauge("connections_in_use", "Connections of the pool in use.", func(s postgres.Stats) float64 { return float64(s.Busy) }),
	counter("connection_waits_total", "Calls that waited for a connection of the pool.", func(s postgres.Stats) float64 { return float64(s.Waits) }),
	counter("conflicts_total", "Attempts of updates that conflicted with another transaction.", func(s postgres.Stats) float64 { return float64(s.Conflicts) }),
	counter("broken_total", "Attempts of updates that lost their connection.", func(s postgres.Stats) float64 { return float64(s.Broken) }),
	counter("resolved_total", "Commits that got no answer and were looked up.", func(s postgres.Stats) float64 { return float64(s.Resolved) }),
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
