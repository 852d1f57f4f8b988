// Package doc defines the layout of documents: the items, lists and sets of package attr. A document has this form.
// The first byte is the width, in bytes, of all numbers that follow it, which are little endian:
//
//	width byte | count | size | offset × count | elements
//
// The width is 1, 2 or 4: the least in which the length of the document and its size can be written, so there is one
// form of each document. Offsets count from the start of the document. An element ends where the next one begins.
//
// An element of an item is an attribute, which begins with its kind and its name:
//
//	kind << 4 | n byte | rest uvarint, if n is 15 | name | payload
//
// The name has n bytes or, if n is 15, 15 + rest bytes.
package doc

import (
	"encoding/binary"
	"math"
	"slices"
)

// The widths of numbers in a document.
const (
	narrow = 1
	medium = 2
	wide   = 4
)

// offsets is how many numbers come before the offsets in the head: two, the count and the size.
const offsets = 2

// Empty is the document without elements.
const Empty = "\x01\x00\x00"

// number returns number i of the head: the count, the size, or an offset. d must contain it.
func number(d []byte, i int) int {
	switch d[0] {
	case narrow:
		return int(d[1+i])
	case medium:
		return int(binary.LittleEndian.Uint16(d[1+medium*i:]))
	}
	return int(binary.LittleEndian.Uint32(d[1+wide*i:]))
}

// putNumber sets number i of the head.
func putNumber(d []byte, i, n int) {
	switch d[0] {
	case narrow:
		d[1+i] = byte(n)
	case medium:
		binary.LittleEndian.PutUint16(d[1+medium*i:], uint16(n))
	default:
		binary.LittleEndian.PutUint32(d[1+wide*i:], uint32(n))
	}
}

// head returns the length of the head: all that comes before the elements.
func head(width, count int) int { return 1 + width*(offsets+count) }

// widthOf returns the least width for a document with count elements, a documented size, and content bytes of
// elements.
func widthOf(count, size, content int) int {
	switch {
	case size <= math.MaxUint8 && head(narrow, count)+content <= math.MaxUint8:
		return narrow
	case size <= math.MaxUint16 && head(medium, count)+content <= math.MaxUint16:
		return medium
	}
	return wide
}

// begins reports whether d begins with a width, a count and a size.
func begins(d []byte) bool {
	if len(d) < len(Empty) {
		return false
	}
	switch d[0] {
	case narrow, medium, wide:
		return len(d) >= head(int(d[0]), 0)
	}
	return false
}

// Len returns the number of elements, or 0 if d does not begin like a document.
func Len(d []byte) int {
	if !begins(d) {
		return 0
	}
	return number(d, 0)
}

// Size returns the documented size of the elements, or 0 if d does not begin like a document.
func Size(d []byte) int {
	if !begins(d) {
		return 0
	}
	return number(d, 1)
}

// Content returns the number of bytes of all elements, or 0 if d does not begin like a document.
func Content(d []byte) int {
	if !begins(d) {
		return 0
	}
	return len(d) - head(int(d[0]), number(d, 0))
}

// Valid reports whether the offsets of d ascend, so that [Entry] finds all elements inside d, and whether its width
// is the least one. It does not look into the elements.
func Valid(d []byte) bool {
	if !begins(d) {
		return false
	}
	width, count := int(d[0]), number(d, 0) // negative if the count does not fit an int of 32 bits
	if count < 0 || count > (len(d)-head(width, 0))/width || width != widthOf(count, number(d, 1), Content(d)) {
		return false
	}

	// The head must end where the first element starts or, without elements, where the document ends.
	end := head(width, count)
	if Offset(d, 0) != end {
		return false
	}
	for i := range count {
		start := end
		if end = Offset(d, i+1); end < start {
			return false
		}
	}
	return end == len(d)
}

// Entry returns the bytes of element i. d must be [Valid].
func Entry(d []byte, i int) []byte {
	start, end := bounds(d, i)
	return d[start:end:end]
}

// bounds returns where element i begins and ends.
func bounds(d []byte, i int) (start, end int) {
	end = len(d)
	switch d[0] {
	case narrow:
		at := d[1+offsets+i:]
		if i+1 < int(d[1]) {
			end = int(at[1])
		}
		return int(at[0]), end

	case medium:
		at := d[1+medium*(offsets+i):]
		if i+1 < int(binary.LittleEndian.Uint16(d[1:])) {
			end = int(binary.LittleEndian.Uint16(at[medium:]))
		}
		return int(binary.LittleEndian.Uint16(at)), end
	}

	at := d[1+wide*(offsets+i):]
	if i+1 < int(binary.LittleEndian.Uint32(d[1:])) {
		end = int(binary.LittleEndian.Uint32(at[wide:]))
	}
	return int(binary.LittleEndian.Uint32(at)), end
}

// Offset returns the offset of element i, or the length of the document when i
// is the number of elements.
func Offset(d []byte, i int) int {
	if i == number(d, 0) {
		return len(d)
	}
	return number(d, offsets+i)
}

// AppendHead appends the head of a document with count elements, and returns where the document starts in dst. The
// caller sets the offsets and appends the elements. AppendHead reserves capacity for the elements, which have content
// bytes.
func AppendHead(dst []byte, count, size, content int) ([]byte, int) {
	start, width := len(dst), widthOf(count, size, content)
	length := head(width, count)
	dst = slices.Grow(dst, length+content)[:start+length]
	dst[start] = byte(width)
	putNumber(dst[start:], 0, count)
	putNumber(dst[start:], 1, size)
	return dst, start
}

// SetOffset records that element i of the document at start begins at the end
// of dst.
func SetOffset(dst []byte, start, i int) { putNumber(dst[start:], offsets+i, len(dst)-start) }

// AppendElements copies the elements from lo to hi of another document without looking into them. They become the
// elements from i on of the document at start.
func AppendElements(dst []byte, start, i int, from []byte, lo, hi int) []byte {
	if lo >= hi {
		return dst
	}
	begin := Offset(from, lo)
	shift := len(dst) - start - begin
	if dst[start] == narrow && from[0] == narrow {
		to := dst[start+1+offsets+i:]
		for k, offset := range from[1+offsets+lo : 1+offsets+hi] {
			to[k] = offset + byte(shift)
		}
	} else {
		for k := lo; k < hi; k++ {
			putNumber(dst[start:], offsets+i+k-lo, number(from, offsets+k)+shift)
		}
	}
	return append(dst, from[begin:Offset(from, hi)]...)
}
