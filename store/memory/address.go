package memory

import (
	"bytes"
	"encoding/binary"
	"sync"

	"github.com/sortkey/sortkey/store"
)

// addresses holds the buffers for the addresses of one call. It caches the
// prefix of the previous call's partition, because hashing is most of the work:
// a write reads a row and then puts it, and programs often stay in one
// partition for a while.
type addresses struct {
	lo, hi    []byte
	partition []byte
	prefix    []byte // of the partition in some space; empty before the first use
}

var addressPool = sync.Pool{New: func() any {
	return &addresses{lo: make([]byte, 0, 256), hi: make([]byte, 0, 256)}
}}

func newAddresses() *addresses { return addressPool.Get().(*addresses) }

func (a *addresses) free() { addressPool.Put(a) }

// enter sets prefix to the prefix of a partition.
func (a *addresses) enter(space store.Space, partition []byte) {
	if len(a.prefix) > 0 && bytes.Equal(a.partition, partition) {
		binary.BigEndian.PutUint64(a.prefix, uint64(space))
		return
	}
	a.partition = append(a.partition[:0], partition...)
	a.prefix = store.AppendPartition(a.prefix[:0], space, partition)
}

// row sets lo to the address of a row and returns it.
func (a *addresses) row(space store.Space, partition, sort []byte) []byte {
	a.enter(space, partition)
	a.lo = append(append(a.lo[:0], a.prefix...), sort...)
	return a.lo
}

// slice sets lo and hi to the bounds of a range of a partition.
func (a *addresses) slice(space store.Space, partition []byte, r store.Range) {
	a.enter(space, partition)
	a.lo = append(append(a.lo[:0], a.prefix...), r.Lo...)
	if r.Hi == nil {
		a.hi = store.AppendUpper(a.hi[:0], a.prefix)
	} else {
		a.hi = append(append(a.hi[:0], a.prefix...), r.Hi...)
	}
}

// span sets lo and hi to the bounds of a span of a space. It returns false when
// there is no upper bound.
func (a *addresses) span(space store.Space, s store.Span) bool {
	lo, hi := store.AppendSpan(a.lo[:0], a.hi[:0], space, s)
	if a.lo = lo; hi == nil {
		return false
	}
	a.hi = hi
	return true
}
