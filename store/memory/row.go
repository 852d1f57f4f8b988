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
	address uint32 // its length
	sort    uint32 // where the sort position begins in the address
	origin  uint32 // the length of the original partition after the address, if any
	value   uint32 // the length of a packed value, or isApart
}

// apart is a record with its key and value.
type apart struct {
	record
	key, value []byte
}

const (
	head    = int(unsafe.Sizeof(record{}))
	isApart = ^uint32(0)
	// mostPacked is the longest value of a packed record. Above it, the copies of values that
	// index rows would otherwise share take more memory than packing saves.
	mostPacked = 128
)

// makeRecord returns a record with an empty key that has room for n bytes, and with a value.
func makeRecord(n int, value []byte) (r *record, key []byte) {
	if len(value) > mostPacked {
		a := &apart{key: make([]byte, n), value: value}
		a.record.value = isApart
		return &a.record, a.key[:0]
	}
	object := make([]byte, head+n+len(value))
	r = (*record)(unsafe.Pointer(unsafe.SliceData(object)))
	r.value = uint32(len(value))
	copy(object[head+n:], value)
	return r, object[head : head : head+n]
}

// packed returns n bytes of a packed record, from bytes after its head.
func (r *record) packed(from, n uint32) []byte {
	if n == 0 { // the end of an object may be the beginning of another
		return []byte{}
	}
	return unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(r), head+int(from))), n)
}

// keys returns the address and the original partition.
func (r *record) keys() []byte {
	if r.value == isApart {
		return (*apart)(unsafe.Pointer(r)).key
	}
	return r.packed(0, r.address+r.origin)
}

// addr returns the address of the record.
func (r *record) addr() []byte {
	if r.value == isApart {
		return (*apart)(unsafe.Pointer(r)).key[:r.address]
	}
	return r.packed(0, r.address)
}

// val returns the value of the record.
func (r *record) val() []byte {
	if r.value == isApart {
		return (*apart)(unsafe.Pointer(r)).value
	}
	return r.packed(r.address+r.origin, r.value)
}

// plainLen is the length of an address without its partition and sort position,
// if those need no escaping.
var plainLen = store.AddressLen(nil, nil)

// newRecord returns a row with the given address.
func newRecord(address, partition, sort, value []byte) *record {
	n := len(address)
	if n == plainLen+len(partition)+len(sort) {
		partition = nil
	}
	r, key := makeRecord(n+len(partition), value)
	r.address, r.sort, r.origin = uint32(n), uint32(n-len(sort)), uint32(len(partition))
	_ = append(append(key, address...), partition...)
	return r
}

// separator returns a record with the shortest address s for which a < s <= b,
// where a < b. It has no value.
func separator(a, b []byte) *record {
	n := common(a, b) + 1
	r, key := makeRecord(n, nil)
	r.address = uint32(n)
	_ = append(key, b[:n]...)
	return r
}

// public returns the record as a row. Walks call it for each row, so that it has no call of its own.
func (r *record) public() store.Row {
	if r.value != isApart && r.origin == 0 {
		from := uint32(plainLen - 2)
		return store.Row{
			Partition: r.packed(from, r.sort-2-from), Sort: r.packed(r.sort, r.address-r.sort),
			Value: r.packed(r.address, r.value),
		}
	}
	return r.rare()
}

// rare is public of a record that is apart, or whose partition escaping changed.
func (r *record) rare() store.Row {
	key := r.keys()
	partition := key[plainLen-2 : r.sort-2 : r.sort-2]
	if r.origin > 0 {
		partition = key[r.address:]
	}
	return store.Row{Partition: partition, Sort: key[r.sort:r.address:r.address], Value: r.val()}
}
