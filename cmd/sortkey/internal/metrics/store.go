package metrics

import "github.com/prometheus/client_golang/prometheus"

// StoreStats are the statistics of a store on disk. The type repeats that of
// package store/disk, so that programs without it do not link it:
//
//	Store: func() metrics.StoreStats { return metrics.StoreStats(st.Stats()) }
type StoreStats struct {
	DiskBytes     uint64 // all files in the folder
	LogBytes      uint64 // the log, part of DiskBytes
	MemTableBytes uint64 // rows in memory, on disk only in the log
	CacheBytes    int64  // blocks in the cache
	CacheHits     int64
	CacheMisses   int64
	Flushes       int64
	Compactions   int64
	ReadAmp       int // files that a read may open
	Snapshots     int // snapshots in use: the last one, those of reads, and some being released
}

// storeCollector collects the metrics of a store.
type storeCollector func() StoreStats

// storeMetrics are the metrics in StoreStats.
var storeMetrics = []struct {
	desc *prometheus.Desc
	typ  prometheus.ValueType
	of   func(StoreStats) float64
}{
	{storeDesc("disk_bytes", "Bytes of all files of the store."), prometheus.GaugeValue, func(s StoreStats) float64 { return float64(s.DiskBytes) }},
	{storeDesc("log_bytes", "Bytes of the log, part of the bytes on disk."), prometheus.GaugeValue, func(s StoreStats) float64 { return float64(s.LogBytes) }},
	{storeDesc("memtable_bytes", "Bytes of rows in memory, on disk only in the log."), prometheus.GaugeValue, func(s StoreStats) float64 { return float64(s.MemTableBytes) }},
	{storeDesc("cache_bytes", "Bytes of blocks in the cache."), prometheus.GaugeValue, func(s StoreStats) float64 { return float64(s.CacheBytes) }},
	{storeDesc("cache_hits_total", "Blocks found in the cache."), prometheus.CounterValue, func(s StoreStats) float64 { return float64(s.CacheHits) }},
	{storeDesc("cache_misses_total", "Blocks read from disk."), prometheus.CounterValue, func(s StoreStats) float64 { return float64(s.CacheMisses) }},
	{storeDesc("flushes_total", "Flushes of rows in memory to files."), prometheus.CounterValue, func(s StoreStats) float64 { return float64(s.Flushes) }},
	{storeDesc("compactions_total", "Compactions of files."), prometheus.CounterValue, func(s StoreStats) float64 { return float64(s.Compactions) }},
	{storeDesc("read_amplification", "Files that a read may open."), prometheus.GaugeValue, func(s StoreStats) float64 { return float64(s.ReadAmp) }},
	{storeDesc("snapshots", "Snapshots in use for reads, including the last one."), prometheus.GaugeValue, func(s StoreStats) float64 { return float64(s.Snapshots) }},
}

func storeDesc(name, help string) *prometheus.Desc {
	return prometheus.NewDesc("sortkey_store_"+name, help, nil, nil)
}

// Describe implements [prometheus.Collector].
func (storeCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, f := range storeMetrics {
		ch <- f.desc
	}
}

// Collect implements [prometheus.Collector].
func (stats storeCollector) Collect(ch chan<- prometheus.Metric) {
	s := stats()
	for _, f := range storeMetrics {
		ch <- prometheus.MustNewConstMetric(f.desc, f.typ, f.of(s))
	}
}
