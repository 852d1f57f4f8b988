package metrics

import (
	"reflect"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/disk"
	"github.com/sortkey/sortkey/store/postgres"
)

// storeMetrics returns the metrics of a store, or nil if this package knows none for its type.
func storeMetrics(st store.Store) prometheus.Collector {
	switch st := st.(type) {
	case *disk.Store:
		return Figures(st.Stats, DiskFigures)
	case *postgres.Store:
		return Figures(st.Stats, PostgresFigures)
	}
	return nil
}

// A Figure maps a field of statistics to the metric sortkey_NAME. The metric is a counter if NAME ends with _total,
// and otherwise a gauge.
type Figure struct{ Field, Name, Help string }

// DiskFigures and PostgresFigures map the statistics of the stores.
var DiskFigures = []Figure{
	{"DiskBytes", "store_disk_bytes", "Bytes of all files of the store."},
	{"LogBytes", "store_log_bytes", "Bytes of the log, part of the bytes on disk."},
	{"MemTableBytes", "store_memtable_bytes", "Bytes of rows in memory, on disk only in the log."},
	{"CacheBytes", "store_cache_bytes", "Bytes of blocks in the cache."},
	{"CacheHits", "store_cache_hits_total", "Blocks found in the cache."},
	{"CacheMisses", "store_cache_misses_total", "Blocks read from disk."},
	{"Flushes", "store_flushes_total", "Flushes of rows in memory to files."},
	{"Compactions", "store_compactions_total", "Compactions of files."},
	{"ReadAmp", "store_read_amplification", "Files that a read may open."},
	{"Snapshots", "store_snapshots", "Snapshots in use for reads, including the last one."},
}

var PostgresFigures = []Figure{
	{"Conns", "store_connections", "Open connections of the pool."},
	{"Busy", "store_connections_in_use", "Connections of the pool in use."},
	{"Waits", "store_connection_waits_total", "Calls that waited for a connection of the pool."},
	{"Conflicts", "store_conflicts_total", "Attempts of updates that conflicted with another transaction."},
	{"Broken", "store_broken_total", "Attempts of updates that lost their connection."},
	{"Resolved", "store_resolved_total", "Commits that got no answer and were looked up."},
}

// Figures returns a collector with one metric for each element of all. The element names a field of S, a struct of
// statistics. The field must be a number. Each scrape calls read once.
func Figures[S any](read func() S, all []Figure) prometheus.Collector {
	f := &figures[S]{read: read, fields: all}
	for _, one := range all {
		f.descs = append(f.descs, prometheus.NewDesc("sortkey_"+one.Name, one.Help, nil, nil))
	}
	return f
}

// figures implements [Figures].
type figures[S any] struct {
	read   func() S
	fields []Figure
	descs  []*prometheus.Desc
}

// Describe implements [prometheus.Collector].
func (f *figures[S]) Describe(ch chan<- *prometheus.Desc) {
	for _, desc := range f.descs {
		ch <- desc
	}
}

// Collect implements [prometheus.Collector].
func (f *figures[S]) Collect(ch chan<- prometheus.Metric) {
	stats := reflect.ValueOf(f.read())
	for i, one := range f.fields {
		kind := prometheus.GaugeValue
		if strings.HasSuffix(one.Name, "_total") {
			kind = prometheus.CounterValue
		}
		value := stats.FieldByName(one.Field).Convert(reflect.TypeFor[float64]()).Float()
		ch <- prometheus.MustNewConstMetric(f.descs[i], kind, value)
	}
}
