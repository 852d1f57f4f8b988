package memory

import (
	"encoding/binary"
	"hash/maphash"
	"sync"

	"github.com/sortkey/sortkey/internal/address"
	"github.com/sortkey/sortkey/store"
)

// addresses holds the buffers for the addresses of one call. Hashing the partition is most of the work of making an
// address, so addresses caches the prefixes of some partitions. Programs often use the same partitions again, and a
// write reads a row before it puts the row.
type addresses struct {
	lo, hi   []byte
	prefixes [256]prefix
}

// A prefix is the part of an address before the sort position. Its bytes for the space are not used. A prefix fills a
// cache line.
type prefix struct {
	n     uint8 // length; 0 before the first use
	bytes [63]byte
}

var (
	addressPool = sync.Pool{New: func() any {
		return &addresses{lo: make([]byte, 0, 256), hi: make([]byte, 0, 256)}
	}}
	addressSeed = maphash.MakeSeed()
)

func newAddresses() *addresses { return addressPool.Get().(*addresses) }

// A boundsBuf is memory for the bounds of a walk. It is smaller than addresses, because a program may keep many walks
// open for long.
type boundsBuf [2][96]byte

// bounds copies lo and hi, into buf if they are short enough, and returns a to the pool.
func (a *addresses) bounds(buf *boundsBuf) (lo, hi []byte) {
	lo, hi = append(buf[0][:0], a.lo...), append(buf[1][:0], a.hi...)
	a.free()
	return lo, hi
}

func (a *addresses) free() { addressPool.Put(a) }

// appendPrefix appends the prefix of a partition to dst.
func (a *addresses) appendPrefix(dst []byte, space store.Space, partition []byte) []byte {
	if len(partition) > len(prefix{}.bytes)-partitionEnd {
		return address.AppendPartition(dst, space, partition)
	}

	at := len(dst)
	p := &a.prefixes[maphash.Bytes(addressSeed, partition)%uint64(len(a.prefixes))]
	if n := int(p.n); n == partitionEnd+len(partition) && string(p.bytes[partitionAt:n-2]) == string(partition) {
		dst = append(dst, p.bytes[:n]...)
		binary.BigEndian.PutUint64(dst[at:], uint64(space))
		return dst
	}
	dst = address.AppendPartition(dst, space, partition)
	if n := len(dst) - at; n == partitionEnd+len(partition) { // otherwise it was escaped
		p.n = uint8(copy(p.bytes[:], dst[at:]))
	}
	return dst
}

// row sets lo to the address of a row and returns it.
func (a *addresses) row(space store.Space, partition, sort []byte) []byte {
	a.lo = append(a.appendPrefix(a.lo[:0], space, partition), sort...)
	return a.lo
}

// slice sets lo and hi to the bounds of a range of a partition.
func (a *addresses) slice(space store.Space, partition []byte, r store.Range) {
	a.lo = a.appendPrefix(a.lo[:0], space, partition)
	if r.Hi == nil {
		a.hi = store.AppendUpper(a.hi[:0], a.lo)
	} else {
		a.hi = append(append(a.hi[:0], a.lo...), r.Hi...)
	}
	a.lo = append(a.lo, r.Lo...)
}

// span sets lo and hi to the bounds of a span of a space. It returns false when
// there is no upper bound.
func (a *addresses) span(space store.Space, s store.Span) bool {
	lo, hi := address.AppendSpan(a.lo[:0], a.hi[:0], space, s)
	if a.lo = lo; hi == nil {
		return false
	}
	a.hi = hi
	return true
}
