package disk

import "github.com/cockroachdb/pebble/v2"

// Stats are figures of a store, for monitoring.
type Stats struct {
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

// Stats returns the figures of now. They are zero after Close and once the
// store has failed.
func (s *Store) Stats() Stats {
	if s.begin() != nil {
		return Stats{}
	}
	defer s.end()
	var m *pebble.Metrics
	if s.protect(func() error { m = s.db.Metrics(); return nil }) != nil {
		return Stats{}
	}
	return Stats{
		DiskBytes:     m.DiskSpaceUsage(),
		LogBytes:      m.WAL.Size,
		MemTableBytes: m.MemTable.Size,
		CacheBytes:    m.BlockCache.Size,
		CacheHits:     m.BlockCache.Hits,
		CacheMisses:   m.BlockCache.Misses,
		Flushes:       m.Flush.Count,
		Compactions:   m.Compact.Count,
		ReadAmp:       m.ReadAmp(),
		Snapshots:     m.Snapshots.Count,
	}
}
