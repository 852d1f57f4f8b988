package attr

import (
	"iter"

	"github.com/sortkey/sortkey/internal/item/doc"
)

// An Item is a binary item. It is immutable, sorted by attribute name, and
// stores its own documented size. Equal items have equal bytes, whose form may
// change from version to version. The nil Item has no attributes.
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
