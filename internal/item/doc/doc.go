// Package doc defines the layout of documents: the items, lists and sets of
// package attr. A document has this form, with all integers little endian:
//
//	count uint32 | size uint32 | offset uint32 × count | elements
//
// Offsets count from the start of the document. An element ends where the next
// one begins.
package doc

import "encoding/binary"

const (
	// Head is the length of count and size.
	Head = 8
	// AttributeHead is the length of the kind and the name's length, which
	// begin an element of an item.
	AttributeHead = 3
)

// Len returns the number of elements, or 0 if d is too short.
func Len(d []byte) int {
	if len(d) < Head {
		return 0
	}
	return int(binary.LittleEndian.Uint32(d))
}

// Size returns the documented size of the elements, or 0 if d is too short.
func Size(d []byte) int {
	if len(d) < Head {
		return 0
	}
	return int(binary.LittleEndian.Uint32(d[4:]))
}

// Valid reports whether the elements of d follow each other, so that [Entry] finds all of
// them inside d. It does not look into the elements.
func Valid(d []byte) bool {
	if len(d) < Head {
		return false
	}
	count := binary.LittleEndian.Uint32(d)
	if uint64(count) > uint64(len(d)-Head)/4 {
		return false
	}

	// The end of the offsets is where the first element starts, or the document ends.
	end := uint32(Head + 4*count)
	if Offset(d, 0) != end {
		return false
	}
	for i := range int(count) {
		start := end
		if end = Offset(d, i+1); end < start {
			return false
		}
	}
	return uint64(end) == uint64(len(d))
}

// Entry returns the bytes of element i. d must be [Valid].
func Entry(d []byte, i int) []byte {
	count := int(binary.LittleEndian.Uint32(d))
	at := Head + 4*i
	start := binary.LittleEndian.Uint32(d[at:])
	end := uint32(len(d))
	if i+1 < count {
		end = binary.LittleEndian.Uint32(d[at+4:])
	}
	return d[start:end:end]
}

// Offset returns the offset of element i, or the length of the document when i
// is the number of elements.
func Offset(d []byte, i int) uint32 {
	if i == Len(d) {
		return uint32(len(d))
	}
	return binary.LittleEndian.Uint32(d[Head+4*i:])
}

// AppendHead appends the head of a document with count elements and zero
// offsets. It also returns where the document starts.
func AppendHead(dst []byte, count, size int) ([]byte, int) {
	start := len(dst)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(count))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(size))
	for range count {
		dst = append(dst, 0, 0, 0, 0)
	}
	return dst, start
}

// SetOffset records that element i of the document at start begins at the end
// of dst.
func SetOffset(dst []byte, start, i int) {
	binary.LittleEndian.PutUint32(dst[start+Head+4*i:], uint32(len(dst)-start))
}
