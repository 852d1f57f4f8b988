package table

import (
	"encoding/binary"
)

// Versions returns how many earlier versions are kept.
func (db *DB) Versions() int {
	l := db.lag.Load()
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.list)
}

// KnownOf adds keys to a filter, and returns how many of as many others it takes for known.
func KnownOf(n int) (missed, wrong int) {
	var f keyFilter
	key := func(i int) uint64 { return hashOf(binary.BigEndian.AppendUint64(nil, uint64(i))) }
	for i := range n {
		f.add(key(i))
	}
	for i := range n {
		if !f.has(key(i)) {
			missed++
		}
		if f.has(key(n + i)) {
			wrong++
		}
	}
	return missed, wrong
}
