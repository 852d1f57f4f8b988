package store

import (
	"bytes"
	"cmp"
	"crypto/md5" //nolint:gosec // the service's scan order, not a secret
)

// MaxHash is the largest value of [Hash]. As the Last of a [Span] it means no end.
const MaxHash = 1<<24 - 1

const hashSalt = "Outliers"

// Hash returns the place of a partition in scan order, 0 … [MaxHash]: the first three bytes of MD5("Outliers" +
// partition), big endian. Engines sort partitions by it. Authors of other emulators observed that the service scans in
// this order (dynalite, db/index.js).
func Hash(partition []byte) uint32 {
	var buf [128]byte
	sum := md5.Sum(append(append(buf[:0], hashSalt...), partition...)) //nolint:gosec // as above
	return uint32(sum[0])<<16 | uint32(sum[1])<<8 | uint32(sum[2])
}

// A Range is the half-open interval [Lo, Hi) of sort positions. A nil Lo means
// from the start, a nil Hi to the end. An empty Hi that is not nil makes the
// range empty. The zero Range contains everything.
type Range struct {
	Lo, Hi []byte
}

// Contains reports whether r contains a sort position.
func (r Range) Contains(sort []byte) bool {
	return string(sort) >= string(r.Lo) && (r.Hi == nil || string(sort) < string(r.Hi))
}

// A Span is an interval of scan order, which [Reader].Scan reads: the partitions whose hashes are First … Last
// inclusive and, if After is set, only the rows strictly after it. A Last above [MaxHash] means MaxHash. The zero Span
// contains the hash 0 only; see [Everything].
type Span struct {
	First uint32    `json:"first"`
	Last  uint32    `json:"last"`
	After *Position `json:"after,omitempty"`
}

// Everything returns the Span of all rows of a space. To continue a scan, set After in it.
func Everything() Span { return Span{Last: MaxHash} }

// Segment returns the Span of segment number i of total, for a parallel scan.
// The segments of one total are disjoint and in order, and together they are
// Everything. The Span is empty when i >= total.
func Segment(i, total uint32) Span {
	if i >= total {
		return Span{First: 1, Last: 0}
	}
	first := func(n uint64) uint32 { // the smallest hash h with h*total/(MaxHash+1) >= n, in integers
		return uint32((n*(MaxHash+1) + uint64(total) - 1) / uint64(total))
	}
	lo, hi := first(uint64(i)), first(uint64(i)+1)
	if lo == hi {
		return Span{First: 1, Last: 0}
	}
	return Span{First: lo, Last: hi - 1}
}

// Contains reports whether a scan of s would return a row at p. Use it to check a position before a scan continues
// from it.
func (s Span) Contains(p Position) bool {
	h := Hash(p.Partition)
	if h < s.First || h > s.Last {
		return false
	}
	return s.After == nil || p.Compare(*s.After) > 0
}

// Compare returns the order of p and q in a scan: -1, 0 or 1.
func (p Position) Compare(q Position) int {
	return cmp.Or(
		cmp.Compare(Hash(p.Partition), Hash(q.Partition)),
		bytes.Compare(p.Partition, q.Partition), bytes.Compare(p.Sort, q.Sort),
	)
}

// AppendUpper appends the smallest bytes that sort after everything that begins with prefix: the Hi of a [Range]
// whose Lo is prefix. When prefix is empty or all 0xFF, no such bytes exist; AppendUpper then returns nil, which as
// Hi means no bound.
func AppendUpper(dst, prefix []byte) []byte {
	n := len(prefix)
	for n > 0 && prefix[n-1] == 0xFF {
		n--
	}
	if n == 0 {
		return nil
	}
	dst = append(dst, prefix[:n]...)
	dst[len(dst)-1]++
	return dst
}
