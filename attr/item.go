package attr

import (
	"iter"

	"github.com/sortkey/sortkey/internal/item/doc"
)

// An Item is an item in binary form: stores keep this form, and conditions read it in place. [MarshalItem] makes one
// from a struct, [ParseItem] from JSON and [Builder] from values. It is immutable and sorted by attribute name. Equal
// items have equal bytes. The form may change from version to version. The nil Item has no attributes.
type Item []byte

// MaxNameBytes is the length of the longest attribute name, in bytes. Compare with it to refuse a longer name early.
// Source: DG/Constraints.html.
const MaxNameBytes = 65535

// Len returns the number of attributes, for loops with [Item.At].
func (it Item) Len() int { return doc.Len(it) }

// Size returns the documented size in bytes: the names and the values, without storage overhead. The service bills
// reads by this size and limits it to 400 KB. Size is cheap, because the item stores it. Source:
// DG/CapacityUnitCalculations.html.
func (it Item) Size() int { return doc.Size(it) }

// At returns the i-th attribute in byte order of names, for 0 <= i < Len. It does not allocate; name and value share
// the item's bytes. Use [Item.All] unless the index matters, and [Item.Get] for one name.
func (it Item) At(i int) (name []byte, v Value) {
	kind, name, payload := doc.Attribute(it, i)
	return name, Value{Kind(kind), payload}
}

// All yields the attributes in byte order of names. Names and values share the item's bytes: copy what outlives the
// item.
func (it Item) All() iter.Seq2[[]byte, Value] {
	return func(yield func([]byte, Value) bool) {
		for i := range it.Len() {
			if !yield(it.At(i)) {
				return
			}
		}
	}
}

// Get returns the value of the attribute called name, or the zero Value if there is none. It makes a binary search and
// does not allocate, so reading a few attributes this way is cheaper than [UnmarshalItem].
func (it Item) Get(name string) Value {
	if i, ok := doc.Find(it, name); ok {
		_, v := it.At(i)
		return v
	}
	return Value{}
}

// Equal reports whether two items have the same attributes with equal values. The nil Item equals an empty one.
func (it Item) Equal(other Item) bool {
	if it.Len() == 0 || other.Len() == 0 {
		return it.Len() == other.Len()
	}
	return string(it) == string(other)
}
