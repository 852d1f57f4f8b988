// Package address encodes the position of a row as bytes that sort like the rows. Engines that keep all rows in one
// sorted sequence use it, and so do backups and bulk writes.
package address

import (
	"bytes"
	"encoding/binary"

	"github.com/sortkey/sortkey/store"
)

// An address is the encoded position of one row, the same in every engine:
//
//	space      8 bytes, big endian
//	hash       3 bytes, big endian
//	partition  0x00 written as 0x00 0xFF, then the end mark 0x00 0x01
//	sort       unchanged
//
// The end mark sorts below an escaped zero and below any other byte. So
// addresses sort by (space, hash, partition, sort), and no partition's address
// is a prefix of another's.
const (
	spaceLen  = 8
	prefixLen = spaceLen + 3

	escape    = 0x00
	escZero   = 0xFF
	escEnd    = 0x01
	pastEnd   = 0x02 // escape followed by pastEnd sorts above all rows of the partition
	noAddress = -1
)

// Append appends the address of a row to dst.
func Append(dst []byte, space store.Space, partition, sort []byte) []byte {
	return append(AppendPartition(dst, space, partition), sort...)
}

// AppendPartition appends the prefix that the addresses of all rows of a partition have. No other address has that
// prefix.
func AppendPartition(dst []byte, space store.Space, partition []byte) []byte {
	dst = appendHash(dst, space, store.Hash(partition))
	for {
		i := bytes.IndexByte(partition, escape)
		if i < 0 {
			break
		}
		dst = append(dst, partition[:i]...)
		dst = append(dst, escape, escZero)
		partition = partition[i+1:]
	}
	dst = append(dst, partition...)
	return append(dst, escape, escEnd)
}

// Len returns the number of bytes that [Append] appends.
func Len(partition, sort []byte) int {
	return prefixLen + len(partition) + bytes.Count(partition, []byte{escape}) + 2 + len(sort)
}

// Parse splits an address into its parts. sort shares the memory of addr. partition shares it too, unless it contains
// a zero byte. Then Parse unescapes it into buf[:0], which grows as needed. Parse returns false for ok if addr is not
// a result of [Append].
func Parse(addr, buf []byte) (space store.Space, partition, sort []byte, ok bool) {
	at := SortOffset(addr)
	if at == noAddress {
		return 0, nil, nil, false
	}
	space = store.Space(binary.BigEndian.Uint64(addr))
	partition, sort = addr[prefixLen:at-2:at-2], addr[at:]
	if bytes.IndexByte(partition, escape) >= 0 {
		partition = appendUnescaped(buf[:0], partition)
	}
	h := uint32(addr[spaceLen])<<16 | uint32(addr[spaceLen+1])<<8 | uint32(addr[spaceLen+2])
	if h != store.Hash(partition) {
		return 0, nil, nil, false
	}
	return space, partition, sort, true
}

// SortOffset returns the offset of the sort key in an address, or -1 if addr is not an address. Unlike [Parse] it
// does not check the hash.
func SortOffset(addr []byte) int {
	for i := prefixLen; i+1 < len(addr); {
		n := bytes.IndexByte(addr[i:], escape)
		if n < 0 || i+n+1 >= len(addr) {
			break
		}
		i += n + 2
		switch addr[i-1] {
		case escEnd:
			return i
		case escZero:
		default:
			return noAddress
		}
	}
	return noAddress
}

// AppendRange returns the bounds [lo, hi) of the addresses of a partition's rows in r. It appends them to lo and hi.
func AppendRange(lo, hi []byte, space store.Space, partition []byte, r store.Range) (newLo, newHi []byte) {
	start := len(lo)
	lo = AppendPartition(lo, space, partition)
	hi = append(hi, lo[start:]...)
	if r.Hi == nil {
		hi[len(hi)-1] = pastEnd
	} else {
		hi = append(hi, r.Hi...)
	}
	return append(lo, r.Lo...), hi
}

// AppendSpan returns the bounds [lo, hi) of the addresses of a space's rows in s. It appends them to lo and hi. For
// an empty span, lo >= hi. If the span extends to the end of the largest possible space, the new hi is nil, for no
// upper bound.
func AppendSpan(lo, hi []byte, space store.Space, s store.Span) (newLo, newHi []byte) {
	start := len(lo)
	first, last := s.First, min(s.Last, store.MaxHash)
	if first > last { // the span is empty; First may exceed MaxHash
		return appendHash(lo, space, store.MaxHash), appendHash(hi, space, 0)
	}
	lo = appendHash(lo, space, first)
	if s.After != nil {
		after := Append(nil, space, s.After.Partition, s.After.Sort)
		if bytes.Compare(after, lo[start:]) > 0 {
			lo = append(append(lo[:start], after...), 0) // the smallest byte string greater than after
		}
	}

	switch {
	case last < store.MaxHash:
		hi = appendHash(hi, space, last+1)
	case space+1 != 0:
		hi = appendHash(hi, space+1, 0)
	default:
		hi = nil
	}

	return lo, hi
}

// AppendSpace is [AppendSpan] for all rows of a space.
func AppendSpace(lo, hi []byte, space store.Space) (newLo, newHi []byte) {
	return AppendSpan(lo, hi, space, store.Everything())
}

func appendHash(dst []byte, space store.Space, h uint32) []byte {
	dst = binary.BigEndian.AppendUint64(dst, uint64(space))
	return append(dst, byte(h>>16), byte(h>>8), byte(h))
}

func appendUnescaped(dst, src []byte) []byte {
	for {
		i := bytes.IndexByte(src, escape)
		if i < 0 {
			return append(dst, src...)
		}
		dst = append(dst, src[:i+1]...)
		src = src[i+2:]
	}
}
