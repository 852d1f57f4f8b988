package memory

import "github.com/sortkey/sortkey/store"

// A record is a row, or the separator of two nodes. It is immutable.
//
// key holds the address. If escaping changed the partition, key also holds the
// original partition, so that returning it never allocates. Most keys fit in
// room, which makes a row a single object.
type record struct {
	value []byte
	key   []byte
	len   uint32 // of the address
	sort  uint32 // where the sort position begins in the address
	room  [72]byte
}

// addr returns the address of the record.
func (r *record) addr() []byte { return r.key[:r.len] }

// plainLen is the length of an address without its partition and sort position,
// if those need no escaping.
var plainLen = store.AddressLen(nil, nil)

// newRecord returns a row with the given address.
func newRecord(address, partition, sort, value []byte) *record {
	n := len(address)
	r := &record{value: value, len: uint32(n), sort: uint32(n - len(sort))}
	if n == plainLen+len(partition)+len(sort) {
		r.key = append(r.room[:0], address...)
	} else {
		r.key = append(append(r.room[:0], address...), partition...)
	}
	return r
}

// separator returns a record with the shortest address s for which a < s <= b,
// where a < b. It has no value.
func separator(a, b []byte) *record {
	n := common(a, b) + 1
	r := &record{len: uint32(n)}
	r.key = append(r.room[:0], b[:n]...)
	return r
}

func (r *record) public() store.Row {
	p := r.key[plainLen-2 : r.sort-2 : r.sort-2]
	if len(r.key) > int(r.len) {
		p = r.key[r.len:]
	}
	return store.Row{Partition: p, Sort: r.key[r.sort:r.len:r.len], Value: r.value}
}
