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

// shortRecord and longRecord are records together with their keys, as most are:
// one object for the collector.
type (
	shortRecord struct {
		record
		room [72]byte
	}
	longRecord struct {
		record
		room [120]byte
	}
)

// makeRecord returns a record whose empty key has room for n bytes.
func makeRecord(n int) *record {
	switch {
	case n <= len(shortRecord{}.room):
		r := new(shortRecord)
		r.key = r.room[:0]
		return &r.record
	case n <= len(longRecord{}.room):
		r := new(longRecord)
		r.key = r.room[:0]
		return &r.record
	}
	return &record{key: make([]byte, 0, n)}
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
