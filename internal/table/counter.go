package table

import (
	"sync/atomic"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/store"
)

// A Counter is a space with its statistics. It has the function that returns the billed size of a row in bytes.
type Counter struct {
	Space store.Space
	Stats *Stats
	Size  func(attr.Item) int
}

// Stats count the items and bytes of a table or an index. All versions of the table share them.
type Stats struct {
	Items, Bytes atomic.Int64                        // in a shared store, only what this server has not stored
	Stored       struct{ Items, Bytes atomic.Int64 } // in a shared store, what all servers have stored
	// Writes is only used for tables. It grows whenever an update or a load changes items, even if that then fails.
	Writes atomic.Uint64
	// Examined is only used for indexes. It counts the items of the table that the build of the index has examined.
	Examined atomic.Int64
}

func (s *Stats) figures() (items, bytes int64) {
	return s.Items.Load() + s.Stored.Items.Load(), s.Bytes.Load() + s.Stored.Bytes.Load()
}

// Add adds to the counters; the numbers may be negative.
func (s *Stats) Add(items, bytes int) {
	s.Items.Add(int64(items))
	s.Bytes.Add(int64(bytes))
}

func (s *Stats) copyFrom(o *Stats) {
	s.Items.Store(o.Items.Load())
	s.Bytes.Store(o.Bytes.Load())
}
