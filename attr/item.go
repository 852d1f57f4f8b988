package attr

import (
	"encoding/binary"
	"iter"

	"github.com/sortkey/sortkey/internal/item/doc"
)

// An Item is a binary item. It is immutable, sorted by attribute name, and
// stores its own documented size. The nil Item has no attributes.
//
// Its layout, with all integers little endian:
//
//	count uint32 | size uint32 | offset uint32 × count | attributes
//	attribute: kind byte | name length uint16 | name | payload
//
// Offsets count from the start of the item. A payload ends where the next
// attribute starts.
type Item []byte

// MaxNameBytes is the longest attribute name. Source: DG/Constraints.html.
const MaxNameBytes = 65535

// Len returns the number of attributes.
func (it Item) Len() int { return doc.Len(it) }

// Size returns the documented size in bytes: the names and the values, without
// storage overhead. Source: DG/CapacityUnitCalculations.html.
func (it Item) Size() int { return doc.Size(it) }

// At returns the i-th attribute in byte order of names, for 0 <= i < Len. It
// does not allocate; name and value share the item's bytes.
func (it Item) At(i int) (name []byte, v Value) {
	entry := doc.Entry(it, i)
	n := int(binary.LittleEndian.Uint16(entry[1:]))
	return entry[doc.AttributeHead : doc.AttributeHead+n : doc.AttributeHead+n], Value{
		Kind(entry[0]), entry[doc.AttributeHead+n:],
	}
}

// All yields the attributes in byte order of names. Names and values share
// the item's bytes.
func (it Item) All() iter.Seq2[[]byte, Value] {
	return func(yield func([]byte, Value) bool) {
		for i := range it.Len() {
			if !yield(it.At(i)) {
				return
			}
		}
	}
}

// Get returns the value of the attribute called name, or the zero Value. It is
// a binary search and does not allocate.
func (it Item) Get(name string) Value {
	lo, hi := 0, it.Len()
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		n, v := it.At(mid)
		switch {
		case string(n) == name:
			return v
		case string(n) < name:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return Value{}
}

// Equal reports whether two items have the same attributes with equal values.
func (it Item) Equal(other Item) bool {
	if it.Len() == 0 || other.Len() == 0 {
		return it.Len() == other.Len()
	}
	return string(it) == string(other)
}
