package attr

import (
	"iter"

	"github.com/sortkey/sortkey/internal/item/doc"
)

// An Item is a binary item. It is immutable, sorted by attribute name, and
// stores its own documented size. The nil Item has no attributes.
//
// Its layout, with all numbers little endian, where N is 1, 2 or 4 bytes, as the first byte says:
//
//	width of N | count N | size N | offset N × count | attributes
//	attribute: kind and length of name | name | payload
//
// The width is the least that holds the length and the size of the item. Offsets count
// from the start of the item. A payload ends where the next attribute starts. The kind
// is in the upper half of its byte, the length of a name below 15 in the lower half; 15
// is followed by the rest of the length as a uvarint.
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
	kind, name, payload := doc.Attribute(it, i)
	return name, Value{Kind(kind), payload}
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
	if i, ok := doc.Find(it, name); ok {
		_, v := it.At(i)
		return v
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
