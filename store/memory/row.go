package memory

import (
	"bytes"
	"sync"

	"github.com/sortkey/sortkey/store"
)

// A row is an item of the tree. key holds the address and, only if escaping
// changed the partition, the partition as it was, so that handing it out never
// allocates.
type row struct {
	key   []byte
	value []byte
	addr  uint32 // length of the address
	sort  uint32 // where the sort position begins in the address; bound of no row
}

// bound marks an item that is no row but a point just below its address.
const bound = 0

func boundary(addr []byte) row {
	return row{key: addr, addr: uint32(len(addr)), sort: bound}
}

func less(a, b row) bool {
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
	return row{key: key, value: value, addr: uint32(n), sort: uint32(n - len(sort))}
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

// A bounds is room for the addresses that a read compares with.
type bounds struct{ lo, hi []byte }

var boundsPool = sync.Pool{New: func() any {
	return &bounds{lo: make([]byte, 0, 256), hi: make([]byte, 0, 256)}
}}
