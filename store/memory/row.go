package memory

import (
	"unsafe"

	"github.com/sortkey/sortkey/store"
)

// A record is a row, or the separator of two nodes. It is immutable. It is the head of one of
// two objects:
//
//   - A packed record is followed by its key and its value. The collector allocates and marks
//     such an object as plain bytes, and the processor finds all of a row in one place.
//   - An [apart] keeps its key and its value elsewhere. Rows with large values do: an item and
//     its index rows then share one value.
//
// The key is the address and, if escaping changed the partition, the original partition, so that
// returning it never allocates.
type record struct {
	address uint16 // its length
	sort    uint16 // where the sort position begins in the address
	origin  uint16 // the length of the original partition after the address, if any
	value   uint16 // the length of a packed value, or isApart
}

// apart is a record with its key and value. The lengths in its record are 0.
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
	// longestPacked is the longest key of a packed record. Those of items are shorter: DynamoDB
	// has partition keys of up to 2,048 bytes and sort keys of up to 1,024.
	longestPacked = 1 << 14
)

// makeRecord returns a record. Its key is an address, whose sort position begins at sort, and a
// partition that escaping changed, or nil.
func makeRecord(address []byte, sort int, origin, value []byte) *record {
	n := len(address) + len(origin)
	if len(value) > mostPacked || n > longestPacked {
		return &(&apart{
			record: record{value: isApart}, address: uint32(len(address)), sort: uint32(sort),
			key: append(append(make([]byte, 0, n), address...), origin...), value: value,
		}).record
	}
	object := make([]byte, head+n+len(value))
	copy(object[head:], address)
	copy(object[head+len(address):], origin)
	copy(object[head+n:], value)
	r := (*record)(unsafe.Pointer(unsafe.SliceData(object)))
	r.address, r.sort = uint16(len(address)), uint16(sort)
	r.origin, r.value = uint16(len(origin)), uint16(len(value))
	return r
}

// packed returns n bytes of a packed record, from bytes after its head.
func (r *record) packed(from, n uint) []byte {
	if n == 0 { // the end of an object may be the beginning of another
		return []byte{}
	}
	return unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(r), uint(head)+from)), n)
}

func (r *record) apart() *apart { return (*apart)(unsafe.Pointer(r)) }

// addr returns the address of the record.
func (r *record) addr() []byte {
	if r.value == isApart {
		return r.apart().key[:r.apart().address]
	}
	return r.packed(0, uint(r.address))
}

// val returns the value of the record.
func (r *record) val() []byte {
	if r.value == isApart {
		return r.apart().value
	}
	return r.packed(uint(r.address)+uint(r.origin), uint(r.value))
}

// plainLen is the length of an address without its partition and sort position,
// if those need no escaping.
var plainLen = store.AddressLen(nil, nil)

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
		return r.apart().public()
	}
	address, sort, partition := uint(r.address), uint(r.sort), uint(plainLen-2)
	row := store.Row{Sort: r.packed(sort, address-sort), Value: r.packed(address+uint(r.origin), uint(r.value))}
	if r.origin > 0 {
		row.Partition = r.packed(address, uint(r.origin))
	} else {
		row.Partition = r.packed(partition, sort-2-partition)
	}
	return row
}

func (a *apart) public() store.Row {
	p := a.key[plainLen-2 : a.sort-2 : a.sort-2]
	if len(a.key) > int(a.address) {
		p = a.key[a.address:]
	}
	return store.Row{Partition: p, Sort: a.key[a.sort:a.address:a.address], Value: a.value}
}
