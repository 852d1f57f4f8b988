package disk

import (
	"math"

	"github.com/cockroachdb/pebble/v2"

	"github.com/sortkey/sortkey/internal/capability"
)

// Stats are the figures of a store, for monitoring. [Store.Stats] returns them.
type Stats struct {
	DiskBytes     uint64 // all files of the folder
	LogBytes      uint64 // bytes of the log, included in DiskBytes
	MemTableBytes uint64 // bytes of rows that are in memory and in the log, but in no other file
	CacheBytes    int64  // blocks in the cache
	CacheHits     int64
	CacheMisses   int64
	Flushes       int64
	Compactions   int64
	ReadAmp       int // number of files that a read may have to check
	Snapshots     int // open snapshots: the latest, those that Views read, and those that are about to close
}

// Stats returns the current figures. They are zero after Close and once the
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

var _ capability.Measurer = (*Store)(nil)

// Usage implements [capability.Measurer], for metrics.
func (s *Store) Usage() (versions int, diskBytes int64) {
	diskBytes = int64(min(s.Stats().DiskBytes, math.MaxInt64)) //nolint:gosec // bounded
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(s.held-1, 0), diskBytes
}
