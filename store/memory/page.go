package memory

import (
	"bytes"
	"math/bits"
	"slices"

	"github.com/sortkey/sortkey/internal/address"
	"github.com/sortkey/sortkey/store"
)

// A node keeps the keys and values of its entries in a page, a slice of bytes that only grows. The page begins with
// its base: bytes that all its keys begin with. Then follow the records, each in the form
//
//	length of the key without the base   1 byte
//	length of the value                  1 byte
//	the key in the value                 1 byte, only in a page of one partition: 0 if the value does not contain the
//	                                     key, otherwise 1 + the offset of the key in the value
//	length of the key without the sort position and the base, length of the partition: 1 byte each,
//	                                     only in a page of several partitions
//	key without the base                 unless it is in the value
//	partition, if escaping changed it    only in a page of several partitions
//	value
//
// If all rows belong to one partition, the base is the prefix of their addresses, followed by the partition if
// escaping changed it. A record then has only the sort position and the value, and all rows share their partition.
// The value of a table's row usually contains the sort position, as the text or bytes of an attribute. The page then
// stores the sort position only as a part of the value. If the rows belong to several partitions, the base ends
// before the partition, so that each record has its partition in one piece.
//
// The bytes of a record never change, so rows that a reader has received stay valid for ever. All versions of a node,
// also those in forks, share its page, and each may add records. A counter says how much of the page is taken; bytes
// that a failed Update took are lost. When a page is full, or has too many records that the node no longer has, the
// node gets a new page with its own records in their order.
//
// Values longer than mostPacked overflow: they stay outside of the page, so that an item and its index rows share one
// value. Keys longer than longestPacked overflow too.
const (
	headOfOne     = 3 // bytes before the key
	headOfSeveral = 4

	// mostPacked is the longest value in a page. Index rows share longer values, and copies of these in pages would
	// take more memory than packing saves.
	mostPacked = 128
	// longestPacked is the longest key in a page.
	longestPacked = 255
	// mostTaken is the size of the largest page, because offsets have 16 bits. The entries of a node always fit: the
	// longest records, with the longest partitions beside their keys, take 36 KB.
	mostTaken = 1<<16 - 1

	// none is no entry.
	none = ^uint8(0)
)

// A record is the key and the value of an entry of a node, or of an entry to insert. The key, base followed by rest,
// is the address of a row or, in an inner node, a separator.
type record struct {
	base, rest []byte
	sort       int    // where the sort position begins in the address
	partition  []byte // the partition if escaping changed it, otherwise empty
	value      []byte
	long       *longKey // the key, if it is an overflow already
}

// An overflow is the part of an entry that is outside of its page.
type overflow struct {
	value []byte
	long  *longKey // nil if the key is in the page
}

// A longKey is a key that is longer than longestPacked.
type longKey struct {
	address, partition []byte
	sort               int
}

// sortPosition returns the sort position.
func (k *longKey) sortPosition() []byte { return slices.Clip(k.address[k.sort:]) }

// appendKey appends the key to dst.
func (r *record) appendKey(dst []byte) []byte { return append(append(dst, r.base...), r.rest...) }

// compare compares the key with another.
func (r *record) compare(key []byte) int {
	n := min(len(r.base), len(key))
	if c := bytes.Compare(r.base, key[:n]); c != 0 {
		return c
	}
	return bytes.Compare(r.rest, key[n:])
}

func (r *record) isLong() bool { return len(r.base)+len(r.rest) > longestPacked }

func (r *record) hasOverflow() bool { return len(r.value) > mostPacked || r.isLong() }

// overflow returns the part of a record that is stored outside of the page. It keeps the value and copies the key.
func (r *record) overflow() overflow {
	if r.isLong() && r.long == nil {
		return overflow{r.value, &longKey{r.appendKey(nil), bytes.Clone(r.partition), r.sort}}
	}
	return overflow{r.value, r.long}
}

// hasOverflow reports whether entry i has an overflow, of its value or of its key.
func (n *node) hasOverflow(i int) bool { return n.overflowBits>>uint(i)&1 != 0 }

// overflow returns the overflow of entry i, which must have one.
func (n *node) overflow(i int) *overflow { return &n.overflows[n.rank(i)] }

// rank returns the number of entries before i that have an overflow.
func (n *node) rank(i int) int { return bits.OnesCount64(n.overflowBits & (1<<uint(i) - 1)) }

// record returns entry i, which must have a key.
func (n *node) record(i int) record {
	var outside overflow
	if n.hasOverflow(i) {
		outside = *n.overflow(i)
		if long := outside.long; long != nil {
			return record{
				rest: long.address, sort: long.sort, partition: long.partition, value: outside.value, long: long,
			}
		}
	}

	page := n.page[n.offsets[i]:]
	key, value := n.parts(page)
	end := key + int(page[0])
	r := record{base: n.page[:n.base], rest: page[key:end], sort: int(n.base), value: page[value : value+int(page[1])]}
	if n.head == headOfSeveral {
		r.sort += int(page[2])
		r.partition = page[end:value]
	} else {
		r.partition = n.page[n.base : n.base+n.original]
	}
	if n.hasOverflow(i) {
		r.value = outside.value
	}
	return r
}

// value returns the value of entry i.
func (n *node) value(i int) []byte {
	if n.hasOverflow(i) {
		return n.overflow(i).value
	}
	page := n.page[n.offsets[i]:]
	_, from := n.parts(page)
	to := from + int(page[1])
	return page[from:to:to]
}

// parts returns the offsets of the key and of the value in the record at the beginning of page.
func (n *node) parts(page []byte) (key, value int) {
	if n.head == headOfSeveral {
		return headOfSeveral, headOfSeveral + int(page[0]) + int(page[3])
	}
	if in := int(page[2]); in > 0 {
		return headOfOne + in - 1, headOfOne
	}
	return headOfOne, headOfOne + int(page[0])
}

// sizeAt returns the size in bytes of the record at the beginning of page.
func (n *node) sizeAt(page []byte) int {
	_, value := n.parts(page)
	return value + int(page[1])
}

// partition returns the partition of all rows in a page whose rows belong to one partition.
func (n *node) partition() []byte {
	if n.original > 0 {
		from, to := int(n.base), int(n.base)+int(n.original)
		return n.page[from:to:to]
	}
	to := int(n.base) - 2
	return n.page[partitionAt:to:to]
}

// row returns entry i of a leaf.
func (n *node) row(i int) store.Row {
	r := n.record(i)
	row := store.Row{Partition: slices.Clip(r.partition), Value: slices.Clip(r.value)}
	at := r.sort - len(r.base)
	row.Sort = slices.Clip(r.rest[at:])
	switch {
	case len(r.partition) > 0:
	case at == 0:
		row.Partition = n.partition()
	default:
		row.Partition = r.rest[partitionAt-len(r.base) : at-2 : at-2]
	}
	return row
}

// partitionAt is the offset of the partition in an address. partitionEnd is the length of a prefix without its
// partition.
var (
	partitionEnd = address.Len(nil, nil)
	partitionAt  = partitionEnd - 2
)

// size returns how many bytes of the page entry i takes.
func (n *node) size(i int) int {
	if n.hasOverflow(i) && n.overflow(i).long != nil {
		return 0
	}
	return n.sizeAt(n.page[n.offsets[i]:])
}

// sizeOf returns how many bytes of the page a record would take, and the byte of its head that says where the value
// contains the key.
func (n *node) sizeOf(r *record) (size, in int) {
	if r.isLong() {
		return 0, 0
	}
	size = int(n.head)
	if len(r.value) <= mostPacked {
		size += len(r.value)
		if in = n.keyIn(r); in > 0 {
			return size, in
		}
	}
	size += len(r.base) + len(r.rest) - int(n.base)
	if n.head == headOfSeveral {
		size += len(r.partition)
	}
	return size, 0
}

// keyIn returns 1 + the offset at which the value of a record contains its key, or 0 if it does not.
func (n *node) keyIn(r *record) int {
	from := int(n.base) - len(r.base)
	if n.head != headOfOne || from < 0 || from >= len(r.rest) {
		return 0
	}
	return bytes.Index(r.value, r.rest[from:]) + 1
}

// write writes a record to dst. In is the second result of sizeOf.
func (n *node) write(dst []byte, r *record, in int) {
	dst[0], dst[1] = byte(len(r.base)+len(r.rest)-int(n.base)), 0
	if len(r.value) <= mostPacked {
		dst[1] = byte(len(r.value))
	}
	if n.head == headOfSeveral {
		dst[2], dst[3] = byte(r.sort-int(n.base)), byte(len(r.partition))
	} else if dst[2] = byte(in); in > 0 {
		copy(dst[headOfOne:], r.value)
		return
	}

	dst = dst[n.head:]
	if more := len(r.base) - int(n.base); more >= 0 {
		dst = dst[copy(dst, r.base[int(n.base):]):]
		dst = dst[copy(dst, r.rest):]
	} else {
		dst = dst[copy(dst, r.rest[-more:]):]
	}
	if n.head == headOfSeveral {
		dst = dst[copy(dst, r.partition):]
	}
	if len(r.value) <= mostPacked {
		copy(dst, r.value)
	}
}

// key returns the key of entry i without its first skip bytes. These must belong to the prefix of the node.
func (n *node) key(i, skip int) []byte {
	if n.hasOverflow(i) {
		if long := n.overflow(i).long; long != nil {
			return long.address[skip:]
		}
	}
	page := n.page[n.offsets[i]:]
	key, _ := n.parts(page)
	return page[key+skip-int(n.base) : key+int(page[0])]
}

// headAt returns the head of entry i.
func (n *node) headAt(i int) uint64 { return headOf(n.key(i, int(n.len)), 0) }

// set stores the key and value of r in entry i, which must have neither. The record of r is in the page at offset.
func (n *node) set(i int, offset uint16, r *record) {
	n.offsets[i] = offset
	if !r.hasOverflow() {
		return
	}
	at := n.rank(i)
	if len(n.overflows) == cap(n.overflows) {
		n.overflows = append(make([]overflow, 0, len(n.overflows)+overflowStep), n.overflows...)
	}
	n.overflows = slices.Insert(n.overflows, at, r.overflow())
	n.overflowBits |= 1 << uint(i)
}

// unset removes the key and the value of entry i.
func (n *node) unset(i int) {
	n.live -= uint16(n.size(i))
	if n.hasOverflow(i) {
		at := n.rank(i)
		n.overflows = slices.Delete(n.overflows, at, at+1)
		n.overflowBits &^= 1 << uint(i)
	}
}

// overflowsIn returns a copy of the overflows. It uses buf, the memory of another node's overflows, if that is large
// enough but at most 2*overflowStep larger than needed. So a small node does not hold much memory.
func (n *node) overflowsIn(buf []overflow) []overflow {
	switch have := len(n.overflows); {
	case have == 0:
		return nil
	case have <= cap(buf) && cap(buf) <= have+2*overflowStep:
		return append(buf[:0], n.overflows...)
	}
	return append(make([]overflow, 0, len(n.overflows)+overflowStep/2), n.overflows...)
}
