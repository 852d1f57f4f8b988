package memory

import (
	"unsafe"

	"github.com/sortkey/sortkey/store"
)

// A record is a row, or the separator of two nodes. It is immutable. It is the head of one of
// two objects:
//
//   - A packed record is followed by its address and its value. The collector allocates and
//     marks such an object as plain bytes, and the processor finds all of a row in one place.
//   - An [apart] keeps its key and its value elsewhere. Rows with large values do: an item and
//     its index rows then share one value.
type record struct {
	address uint16 // its length
	sort    uint16 // where the sort position begins in the address
	value   uint16 // the length of a packed value, or isApart
}

// apart is a record with its key and value. The lengths in its record are 0. The key is the
// address and, if escaping changed the partition, the original partition, so that returning it
// never allocates.
type apart struct {
	record
	address, sort uint32
	key, value    []byte
}

const (
	head    = int(unsafe.Sizeof(record{}))
	isApart = ^uint16(0)
	// mostPacked is the longest value of a packed record. Above it, the copies of values that
	// index rows would otherwise share take more memory than packing saves.
	mostPacked = 128
	// longestPacked is the longest address of a packed record. Those of items are shorter:
	// DynamoDB has partition keys of up to 2,048 bytes and sort keys of up to 1,024.
	longestPacked = 1 << 14
)

// makeRecord returns a record. Origin is the partition if escaping changed it.
func makeRecord(address []byte, sort int, origin, value []byte) *record {
	n := len(address)
	if len(value) > mostPacked || n > longestPacked || len(origin) > 0 {
		return &(&apart{
			record: record{value: isApart}, address: uint32(n), sort: uint32(sort),
			key: append(append(make([]byte, 0, n+len(origin)), address...), origin...), value: value,
		}).record
	}
	// An empty slice at the end of an object would point into the next one.
	object := make([]byte, head+n+max(len(value), 1))
	copy(object[head:], address)
	copy(object[head+n:], value)
	r := (*record)(unsafe.Pointer(unsafe.SliceData(object)))
	r.address, r.sort, r.value = uint16(n), uint16(sort), uint16(len(value))
	return r
}

// packed returns n bytes of a packed record, from bytes after its head.
func (r *record) packed(from, n uint16) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(r), head+int(from))), n)
}

func (r *record) apart() *apart { return (*apart)(unsafe.Pointer(r)) }

// addr returns the address of the record.
func (r *record) addr() []byte {
	if r.value == isApart {
		return r.apart().key[:r.apart().address]
	}
	return r.packed(0, r.address)
}

// val returns the value of the record.
func (r *record) val() []byte {
	if r.value == isApart {
		return r.apart().value
	}
	return r.packed(r.address, r.value)
}

// plainLen is the length of an address without its partition and sort position,
// if those need no escaping.
var plainLen = store.AddressLen(nil, nil)

// partitionAt is where the partition begins in an address.
var partitionAt = uint16(plainLen - 2)

// newRecord returns a row with the given address.
func newRecord(address, partition, sort, value []byte) *record {
	if len(address) == plainLen+len(partition)+len(sort) {
		partition = nil
	}
	return makeRecord(address, len(address)-len(sort), partition, value)
}

// separator returns a record with the shortest address s for which a < s <= b,
// where a < b. It has no value.
func separator(a, b []byte) *record { return makeRecord(b[:common(a, b)+1], 0, nil, nil) }

// public returns the record as a row.
func (r *record) public() store.Row {
	if r.value == isApart {
		return r.apart().row()
	}
	return r.row()
}

// row is public of a packed record. It is small enough to have no call of its own in a walk.
func (r *record) row() store.Row {
	return store.Row{
		Partition: r.packed(partitionAt, r.sort-2-partitionAt),
		Sort:      r.packed(r.sort, r.address-r.sort),
		Value:     r.packed(r.address, r.value),
	}
}

func (a *apart) row() store.Row {
	p := a.key[plainLen-2 : a.sort-2 : a.sort-2]
	if len(a.key) > int(a.address) {
		p = a.key[a.address:]
	}
	return store.Row{Partition: p, Sort: a.key[a.sort:a.address:a.address], Value: a.value}
}
