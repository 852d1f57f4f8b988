package memory

import "github.com/sortkey/sortkey/store"

// A record is a row, or the separator of two nodes. It is immutable.
//
// key holds the address. If escaping changed the partition, key also holds the
// original partition, so that returning it never allocates.
type record struct {
	value []byte
	key   []byte
	len   uint32 // of the address
	sort  uint32 // where the sort position begins in the address
}

// Records together with their keys, as most are: one object for the collector. Their sizes are those in
// which Go allocates, so that no memory is left over: 80, 96, 112, 128, 144 and 176 bytes.
type (
	record24 struct {
		record
		room [24]byte
	}
	record40 struct {
		record
		room [40]byte
	}
	record56 struct {
		record
		room [56]byte
	}
	record72 struct {
		record
		room [72]byte
	}
	record88 struct {
		record
		room [88]byte
	}
	record120 struct {
		record
		room [120]byte
	}
)

// makeRecord returns a record whose empty key has room for n bytes.
func makeRecord(n int) *record {
	var r *record
	var room []byte
	switch {
	case n <= 24:
		own := new(record24)
		r, room = &own.record, own.room[:0]
	case n <= 40:
		own := new(record40)
		r, room = &own.record, own.room[:0]
	case n <= 56:
		own := new(record56)
		r, room = &own.record, own.room[:0]
	case n <= 72:
		own := new(record72)
		r, room = &own.record, own.room[:0]
	case n <= 88:
		own := new(record88)
		r, room = &own.record, own.room[:0]
	case n <= 120:
		own := new(record120)
		r, room = &own.record, own.room[:0]
	default:
		r, room = new(record), make([]byte, 0, n)
	}
	r.key = room
	return r
}

// addr returns the address of the record.
func (r *record) addr() []byte { return r.key[:r.len] }

// plainLen is the length of an address without its partition and sort position,
// if those need no escaping.
var plainLen = store.AddressLen(nil, nil)

// newRecord returns a row with the given address.
func newRecord(address, partition, sort, value []byte) *record {
	n := len(address)
	if n == plainLen+len(partition)+len(sort) {
		partition = nil
	}
	r := makeRecord(n + len(partition))
	r.value, r.len, r.sort = value, uint32(n), uint32(n-len(sort))
	r.key = append(append(r.key, address...), partition...)
	return r
}

// separator returns a record with the shortest address s for which a < s <= b,
// where a < b. It has no value.
func separator(a, b []byte) *record {
	n := common(a, b) + 1
	r := makeRecord(n)
	r.len, r.key = uint32(n), append(r.key, b[:n]...)
	return r
}

func (r *record) public() store.Row {
	p := r.key[plainLen-2 : r.sort-2 : r.sort-2]
	if len(r.key) > int(r.len) {
		p = r.key[r.len:]
	}
	return store.Row{Partition: p, Sort: r.key[r.sort:r.len:r.len], Value: r.value}
}
