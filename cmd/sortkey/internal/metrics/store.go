package metrics

import "github.com/prometheus/client_golang/prometheus"

// StoreStats are the figures of a store on disk. The type is that of package
// store/disk under another name, so that a program in memory does not link it:
//
//	Store: func() metrics.StoreStats { return metrics.StoreStats(st.Stats()) }
type StoreStats struct {
	DiskBytes     uint64 // all files of the folder
	LogBytes      uint64 // the log, of DiskBytes
	MemTableBytes uint64 // rows in memory that are in the log only
	CacheBytes    int64  // blocks in the cache
	CacheHits     int64
	CacheMisses   int64
	Flushes       int64
	Compactions   int64
	ReadAmp       int // files a read may have to look at
	Snapshots     int // states that are kept: the last, those that are read, and some on their way out
}

// storeCollector collects the figures of a store.
type storeCollector func() StoreStats

// storeFigures are those of StoreStats with their names.
var storeFigures = []struct {
	desc *prometheus.Desc
	typ  prometheus.ValueType
	of   func(StoreStats) float64
}{
	{figure("disk_bytes", "Bytes of all files of the store."), prometheus.GaugeValue, func(s StoreStats) float64 { return float64(s.DiskBytes) }},
	{figure("log_bytes", "Bytes of the log, part of the bytes on disk."), prometheus.GaugeValue, func(s StoreStats) float64 { return float64(s.LogBytes) }},
	{figure("memtable_bytes", "Bytes of rows in memory that are on disk in the log only."), prometheus.GaugeValue, func(s StoreStats) float64 { return float64(s.MemTableBytes) }},
	{figure("cache_bytes", "Bytes of blocks in the cache."), prometheus.GaugeValue, func(s StoreStats) float64 { return float64(s.CacheBytes) }},
	{figure("cache_hits_total", "Blocks found in the cache."), prometheus.CounterValue, func(s StoreStats) float64 { return float64(s.CacheHits) }},
	{figure("cache_misses_total", "Blocks read from disk."), prometheus.CounterValue, func(s StoreStats) float64 { return float64(s.CacheMisses) }},
	{figure("flushes_total", "Times that rows in memory became a file."), prometheus.CounterValue, func(s StoreStats) float64 { return float64(s.Flushes) }},
	{figure("compactions_total", "Times that files were merged."), prometheus.CounterValue, func(s StoreStats) float64 { return float64(s.Compactions) }},
	{figure("read_amplification", "Files that a read may have to look at."), prometheus.GaugeValue, func(s StoreStats) float64 { return float64(s.ReadAmp) }},
	{figure("snapshots", "States that are kept for reads, the last among them."), prometheus.GaugeValue, func(s StoreStats) float64 { return float64(s.Snapshots) }},
}

func figure(name, help string) *prometheus.Desc {
	return prometheus.NewDesc("sortkey_store_"+name, help, nil, nil)
}

// Describe implements [prometheus.Collector].
func (storeCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, f := range storeFigures {
		ch <- f.desc
	}
}

// Collect implements [prometheus.Collector].
func (stats storeCollector) Collect(ch chan<- prometheus.Metric) {
	s := stats()
	for _, f := range storeFigures {
		ch <- prometheus.MustNewConstMetric(f.desc, f.typ, f.of(s))
	}
}
