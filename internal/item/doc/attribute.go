package doc

import "encoding/binary"

// longName, in the lower four bits of an attribute's first byte, means that the name has longName bytes or more. A
// uvarint with the rest of the length follows. longName is also the mask of these bits.
const longName = 15

// lastKind is the largest kind that fits in the upper four bits of an attribute's first byte.
const lastKind = 15

// AttributeLen returns the length of an attribute whose name and payload have the given lengths.
func AttributeLen(name, payload int) int {
	n := 1 + name + payload
	if name < longName {
		return n
	}
	for n++; name-longName >= 0x80; name = longName + (name-longName)>>7 {
		n++
	}
	return n
}

// AppendName appends the beginning of an attribute: its kind and its name. For a kind above lastKind it writes 0,
// which is not a kind, so that readers refuse the attribute.
func AppendName[T string | []byte](dst []byte, kind byte, name T) []byte {
	if kind > lastKind {
		kind = 0
	}
	if len(name) < longName {
		return append(append(dst, kind<<4|byte(len(name))), name...)
	}
	return append(appendLong(dst, kind, len(name)), name...)
}

func appendLong(dst []byte, kind byte, name int) []byte {
	return binary.AppendUvarint(append(dst, kind<<4|longName), uint64(name-longName))
}

// Attribute returns the parts of the i-th attribute of an item. The item must be [Valid], and all of its attributes
// must satisfy [IsAttribute].
func Attribute(d []byte, i int) (kind byte, name, payload []byte) {
	var start, end int
	if d[0] == narrow { // most items are narrow, so do not call bounds for them
		start, end = int(d[1+offsets+i]), len(d)
		if i+1 < int(d[1]) {
			end = int(d[2+offsets+i])
		}
	} else {
		start, end = bounds(d, i)
	}

	from, to := start+1, start+1+int(d[start]&longName)
	if to-from == longName {
		from, to = longBounds(d, from)
	}
	return d[start] >> 4, d[from:to:to], d[to:end:end]
}

// longBounds returns where a long name begins and ends. Rest is the offset of the second part of the name's length.
func longBounds(d []byte, rest int) (from, to int) {
	more, n := binary.Uvarint(d[rest:])
	return rest + n, rest + n + longName + int(more)
}

// Find returns the index of the attribute called name. If the item has no such attribute, Find returns the index at
// which it would be inserted, and false. It is a binary search.
func Find(d []byte, name string) (i int, ok bool) {
	lo, hi := 0, Len(d)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		start := number(d, offsets+mid)
		from, to := start+1, start+1+int(d[start]&longName)
		if to-from == longName {
			from, to = longBounds(d, from)
		}

		switch at := d[from:to]; {
		case string(at) == name:
			return mid, true
		case string(at) < name:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return lo, false
}

// IsAttribute reports whether entry contains a whole name, whose length is written in its shortest form.
func IsAttribute(entry []byte) bool {
	if len(entry) == 0 {
		return false
	}
	name, rest := uint64(entry[0]&longName), entry[1:]
	if name == longName {
		more, n := binary.Uvarint(rest)
		if n <= 0 || n > 1 && rest[n-1] == 0 || more > uint64(len(rest)) {
			return false
		}
		name, rest = name+more, rest[n:]
	}
	return name <= uint64(len(rest))
}
