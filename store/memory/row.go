package memory

import "github.com/sortkey/sortkey/store"

// A record is a row, or the border of a node. It does not change once made.
//
// key holds the address and, only if escaping changed the partition, the
// partition as it was, so that handing it out never allocates. Most keys lie in
// room, so that a row is one object.
type record struct {
	value []byte
	key   []byte
	len   uint32 // of the address
	sort  uint32 // where the sort position begins in the address
	room  [72]byte
}

// addr returns the address of the record.
func (r *record) addr() []byte { return r.key[:r.len] }

// plainLen is what an address adds to a partition and a sort position that
// need no escaping.
var plainLen = store.AddressLen(nil, nil)

// newRecord returns a row. Its address is the one given.
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

// separator returns a record without a value and with the shortest address that
// lies above a and not above b, which is above a.
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
