package remote

import (
	"bytes"
	"crypto/sha256"
	"slices"
)

// Keys turns addresses into keys of a database that limits the length of a key.
//
// An address of at most Longest bytes is a key unchanged, after the prefix. A longer address is split into its head,
// the first Longest bytes, and its tail, the rest. Its key is the head followed by a hash of the tail. The engine
// stores the tail beside the value.
//
// Rows with the same head are a bucket. Keys sort buckets and short addresses in the order of addresses, but not the
// rows inside a bucket: a read fetches the whole bucket and sorts it.
type Keys struct {
	Prefix  []byte // of all keys
	Longest int    // the length in bytes of the longest address that is used as a key unchanged
}

// Key returns the key and the tail of an address. They may share the memory of addr.
func (k *Keys) Key(addr []byte) (key, tail []byte) {
	if len(addr) > k.Longest {
		tail = addr[k.Longest:]
		sum := sha256.Sum256(tail)
		return slices.Concat(k.Prefix, addr[:k.Longest], sum[:]), tail
	}
	return k.prefixed(addr), nil
}

// Addr returns the address of the row with the given key and tail. It may share the memory of both.
func (k *Keys) Addr(key, tail []byte) []byte {
	addr := key[len(k.Prefix):]
	if len(addr) <= k.Longest {
		return addr
	}
	return append(addr[:k.Longest:k.Longest], tail...)
}

// head returns the head of a key, or nil if the key contains a whole address.
func (k *Keys) head(key []byte) []byte {
	if n := len(k.Prefix) + k.Longest; len(key) > n {
		return key[:n]
	}
	return nil
}

// Low returns the lower bound of the keys of the addresses from lo on. If lo has a tail, the range begins with its
// whole bucket, so it may contain addresses below lo.
func (k *Keys) Low(lo []byte) []byte {
	if len(lo) <= k.Longest {
		return k.prefixed(lo)
	}
	return slices.Concat(k.Prefix, lo[:k.Longest], []byte{0})
}

// High returns the upper bound of the keys of the addresses below hi. If hi has a tail, the range ends with its whole
// bucket, so it may contain addresses that are not below hi. A nil hi means no bound.
func (k *Keys) High(hi []byte) []byte {
	switch {
	case hi == nil:
		return slices.Concat(k.Prefix, bytes.Repeat([]byte{0xFF}, k.Longest), above)
	case len(hi) <= k.Longest:
		return k.prefixed(hi)
	}
	return slices.Concat(k.Prefix, hi[:k.Longest], above)
}

// above sorts after the hash of every tail.
var above = bytes.Repeat([]byte{0xFF}, sha256.Size+1)

func (k *Keys) prefixed(addr []byte) []byte {
	if len(k.Prefix) == 0 {
		return addr
	}
	return slices.Concat(k.Prefix, addr)
}

// A bucket collects the rows with one head.
type bucket struct {
	head []byte
	rows []Row
}

// has reports whether the rows of a head belong to the bucket.
func (b *bucket) has(head []byte) bool {
	return len(b.rows) > 0 && head != nil && bytes.Equal(b.head, head)
}

// take empties the bucket and returns its rows in the order of a read.
func (b *bucket) take(reverse bool) []Row {
	rows := b.rows
	b.rows = nil
	slices.SortFunc(rows, func(x, y Row) int { return compare(x.Addr, y.Addr, reverse) })
	return rows
}

// compare compares addresses in the order of a read.
func compare(x, y []byte, reverse bool) int {
	if reverse {
		x, y = y, x
	}
	return bytes.Compare(x, y)
}

// within reports whether addr is in [lo, hi), where a nil hi means no bound.
func within(addr, lo, hi []byte) bool {
	return bytes.Compare(addr, lo) >= 0 && (hi == nil || bytes.Compare(addr, hi) < 0)
}
