package memory

import (
	"bytes"
	"encoding/binary"
	"math"
	"sync"

	"github.com/sortkey/sortkey/store"
)

// A row is an item of the tree. The tree copies items whenever it copies a
// node, so an item is only a pointer, and the first bytes of its place in the
// order: most comparisons of a search end there, without following a pointer
// into memory that is rarely at hand.
type row struct {
	order uint64
	*record
}

// A record is what a row points to. key holds the address and, only if
// escaping changed the partition, the partition as it was, so that handing it
// out never allocates.
type record struct {
	key   []byte
	value []byte
	addr  uint32 // length of the address
	sort  uint32 // where the sort position begins in the address; bound of no row
}

// bound marks an item that is no row but a point just below its address.
const bound = 0

// orderOf returns a number that never decreases as addresses grow: the low
// bytes of the space, the hash and the first bytes of the partition.
func orderOf(addr []byte) uint64 {
	const from, to = 6, 14 // of the address, whose space takes the first 8 bytes
	if addr[0]|addr[1]|addr[2]|addr[3]|addr[4]|addr[5] != 0 {
		return math.MaxUint64
	}
	if len(addr) >= to {
		return binary.BigEndian.Uint64(addr[from:to])
	}
	var head [to - from]byte
	copy(head[:], addr[from:])
	return binary.BigEndian.Uint64(head[:])
}

func less(a, b row) bool {
	if a.order != b.order {
		return a.order < b.order
	}
	switch bytes.Compare(a.key[:a.addr], b.key[:b.addr]) {
	case -1:
		return true
	case 0:
		return a.sort == bound && b.sort != bound
	}
	return false
}

func newRow(space store.Space, partition, sort, value []byte) row {
	n := store.AddressLen(partition, sort)
	spare := 0
	if n > plainLen+len(partition)+len(sort) {
		spare = len(partition)
	}
	key := store.AppendAddress(make([]byte, 0, n+spare), space, partition, sort)
	if spare > 0 {
		key = append(key, partition...)
	}
	return row{orderOf(key), &record{key: key, value: value, addr: uint32(n), sort: uint32(n - len(sort))}}
}

// plainLen is what an address adds to a partition and a sort position that
// need no escaping.
var plainLen = store.AddressLen(nil, nil)

func (r *row) public() store.Row {
	p := r.key[plainLen-2 : r.sort-2 : r.sort-2]
	if len(r.key) > int(r.addr) {
		p = r.key[r.addr:]
	}
	return store.Row{Partition: p, Sort: r.key[r.sort:r.addr:r.addr], Value: r.value}
}

// A probe is room for an item to search with.
type probe struct {
	buf []byte
	rec record
}

// row returns an item at the address in buf that equals the row there.
func (p *probe) row() row {
	p.rec = record{key: p.buf, addr: uint32(len(p.buf)), sort: uint32(len(p.buf))}
	return row{orderOf(p.buf), &p.rec}
}

// boundary returns an item just below the row at the address in buf.
func (p *probe) boundary() row {
	p.rec = record{key: p.buf, addr: uint32(len(p.buf)), sort: bound}
	return row{orderOf(p.buf), &p.rec}
}

// A bounds is a pair of probes for a read.
type bounds struct{ lo, hi probe }

var boundsPool = sync.Pool{New: func() any {
	return &bounds{lo: probe{buf: make([]byte, 0, 256)}, hi: probe{buf: make([]byte, 0, 256)}}
}}
