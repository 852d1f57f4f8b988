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
	Figures         // in a shared store, only what this server has not stored
	Stored  Figures // in a shared store, what all servers have stored
	// Writes is only used for tables. It grows whenever an update or a load changes items, even if that then fails.
	Writes atomic.Uint64
	// Examined is only used for indexes. It counts the items of the table that the build of the index has examined.
	Examined atomic.Int64
}

func (s *Stats) sum() (items, bytes int64) {
	own, stored := s.Load(), s.Stored.Load()
	return own[0] + stored[0], own[1] + stored[1]
}

// Figures are numbers of items and bytes.
type Figures struct{ items, bytes atomic.Int64 }

// Load returns the numbers of items and bytes.
func (f *Figures) Load() [2]int64 { return [2]int64{f.items.Load(), f.bytes.Load()} }

// Store sets the figures to what Load has returned.
func (f *Figures) Store(n [2]int64) {
	f.items.Store(n[0])
	f.bytes.Store(n[1])
}

// Add adds to the figures; the numbers may be negative.
func (f *Figures) Add(items, bytes int) {
	f.items.Add(int64(items))
	f.bytes.Add(int64(bytes))
}
