package tikv

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"slices"
)

// Keys of TiKV are the prefix, a zero byte, and one of these.
const (
	rowMark   = 'r' // and an address
	leaseMark = 'l'
)

// maxAddress is the longest address that is a key as it is, in bytes. TiKV refuses
// keys of more than 8 KB (storage.max-key-size; older versions 4 KB), but an address
// of the longest keys of an index can have more than 12,000.
//
// A longer address has the key of its first maxAddress bytes, its head, and a hash
// of the others, its tail, which is stored before the value. Rows with one head are
// a bucket. Keys order buckets and rows of short addresses as addresses do, but not
// the rows of a bucket: a read fetches the whole bucket and sorts it.
const maxAddress = 3 << 10

var errDamaged = errors.New("tikv: damaged row")

// A keyspace makes the keys of one prefix.
type keyspace struct {
	rows     []byte // prefix of all keys of rows
	leaseKey []byte
}

func newKeyspace(prefix string) keyspace {
	return keyspace{rows: append([]byte(prefix), 0, rowMark), leaseKey: append([]byte(prefix), 0, leaseMark)}
}

// encode returns the key and the stored value of a row.
func (k keyspace) encode(addr, value []byte) (key, stored []byte) {
	tail := addr[min(len(addr), maxAddress):]
	stored = make([]byte, 0, binary.MaxVarintLen16+len(tail)+len(value))
	stored = append(binary.AppendUvarint(stored, uint64(len(tail))), tail...)
	return k.key(addr), append(stored, value...)
}

// key returns the key of an address.
func (k keyspace) key(addr []byte) []byte {
	head, tail := addr[:min(len(addr), maxAddress)], addr[min(len(addr), maxAddress):]
	key := make([]byte, 0, len(k.rows)+len(head)+sha256.Size)
	key = append(append(key, k.rows...), head...)
	if len(tail) > 0 {
		sum := sha256.Sum256(tail)
		key = append(key, sum[:]...)
	}
	return key
}

// decode splits a stored value into the row's value and the tail of its address.
// TiKV cannot store an empty value, so the length of the tail is always there.
func decode(stored []byte) (value, tail []byte, err error) {
	n, size := binary.Uvarint(stored)
	if size <= 0 || n > uint64(len(stored)-size) {
		return nil, nil, errDamaged
	}
	end := size + int(n)
	return stored[end:len(stored):len(stored)], stored[size:end:end], nil
}

// row returns the row of a key, which may share its memory, and the head of its
// bucket, or nil if it is in none.
func (k keyspace) row(key, stored []byte) (found row, head []byte, err error) {
	value, tail, err := decode(stored)
	addr := key[min(len(key), len(k.rows)):]
	long := len(addr) > maxAddress
	if err != nil || long != (len(tail) > 0) {
		return row{}, nil, errDamaged
	}
	if long {
		head = addr[:maxAddress:maxAddress]
		addr = append(head, tail...)
	}
	return row{addr: addr, value: value}, head, nil
}

// low returns the lower bound of the keys of the addresses from lo on. Those of lo's
// bucket may be below lo.
func (k keyspace) low(lo []byte) []byte {
	if len(lo) <= maxAddress {
		return slices.Concat(k.rows, lo)
	}
	return slices.Concat(k.rows, lo[:maxAddress], []byte{0})
}

// high returns the upper bound of the keys of the addresses below hi. Those of hi's
// bucket may not be below hi. A nil hi is no bound.
func (k keyspace) high(hi []byte) []byte {
	switch {
	case hi == nil:
		end := slices.Clone(k.rows)
		end[len(end)-1]++
		return end
	case len(hi) <= maxAddress:
		return slices.Concat(k.rows, hi)
	}
	return slices.Concat(k.rows, hi[:maxAddress], above)
}

// above is above the hash of every tail.
var above = bytes.Repeat([]byte{0xFF}, sha256.Size+1)

// within reports whether addr is in [lo, hi), where a nil hi is no bound.
func within(addr, lo, hi []byte) bool {
	return bytes.Compare(addr, lo) >= 0 && (hi == nil || bytes.Compare(addr, hi) < 0)
}

// A bucket collects rows with one head.
type bucket struct {
	head []byte
	rows []row
}

// has reports whether the rows of a head belong to the bucket.
func (b *bucket) has(head []byte) bool {
	return len(b.rows) > 0 && head != nil && bytes.Equal(b.head, head)
}

// take empties the bucket and returns its rows in the order of a read.
func (b *bucket) take(reverse bool) []row {
	rows := b.rows
	b.rows = nil
	slices.SortFunc(rows, func(x, y row) int {
		if reverse {
			x, y = y, x
		}
		return bytes.Compare(x.addr, y.addr)
	})
	return rows
}
