package postgres

import (
	"bytes"
	"crypto/sha256"
	"slices"
)

// maxKey is the longest address that is a primary key as it is, in bytes. An
// entry of a B-tree of PostgreSQL has at most 2704 bytes, but an address of the
// longest keys of an index has more than 6000. Source: PostgreSQL, btree, "index
// entry cannot exceed approximately one-third of a page".
//
// A longer address has the key of its first maxKey bytes, its head, and a hash of
// the others, its tail, which has a column. Rows with one head are a bucket. Keys
// order buckets and rows of short addresses as addresses do, but not the rows of
// a bucket: a read fetches the whole bucket and sorts it.
const maxKey = 2560

// keyOf returns the key and the tail of an address. They may share its memory.
func keyOf(addr []byte) (key, tail []byte) {
	if len(addr) <= maxKey {
		return addr, nil
	}
	tail = addr[maxKey:]
	sum := sha256.Sum256(tail)
	return append(addr[:maxKey:maxKey], sum[:]...), tail
}

// addressOf returns the address of a row with the given key and tail.
func addressOf(key, tail []byte) []byte {
	if len(key) <= maxKey {
		return key
	}
	return append(key[:maxKey:maxKey], tail...)
}

// above is above the hash of every tail.
var above = bytes.Repeat([]byte{0xFF}, sha256.Size+1)

// last is above every key.
var last = bytes.Repeat([]byte{0xFF}, maxKey+sha256.Size+1)

// lowKey returns the lower bound of the keys of the addresses from lo on. Those of
// lo's bucket may be below lo.
func lowKey(lo []byte) []byte {
	if len(lo) <= maxKey {
		return lo
	}
	return append(lo[:maxKey:maxKey], 0)
}

// highKey returns the upper bound of the keys of the addresses below hi. Those of
// hi's bucket may not be below hi. A nil hi is no bound.
func highKey(hi []byte) []byte {
	switch {
	case hi == nil:
		return last
	case len(hi) <= maxKey:
		return hi
	}
	return append(hi[:maxKey:maxKey], above...)
}

// within reports whether addr is in [lo, hi), where a nil hi is no bound.
func within(addr, lo, hi []byte) bool {
	return bytes.Compare(addr, lo) >= 0 && (hi == nil || bytes.Compare(addr, hi) < 0)
}

// A bucket collects rows with one head.
type bucket struct {
	head []byte
	rows []row
}

// has reports whether a key belongs to the bucket.
func (b *bucket) has(key []byte) bool {
	return len(b.rows) > 0 && len(key) > maxKey && bytes.Equal(b.head, key[:maxKey])
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
