package attr

import (
	"bytes"
	"reflect"
)

// A form is the way in which values of a Go type are stored.
type form uint8

const (
	formNone      form = iota // the type has no stored form
	formPointer               // as the value that the pointer points to
	formInterface             // as the value that the interface holds
	formBool                  // a BOOL
	formString                // an S
	formDigits                // an N; the type is a string, like json.Number
	formInt                   // an N
	formUint                  // an N
	formFloat                 // an N
	formBytes                 // a B; the type is a slice or an array
	formList                  // an L or a set
	formMap                   // an M
	formStruct                // an M
	formTime                  // an S, or an N of seconds
	formUnixTime              // an N of seconds
	formText                  // the S that MarshalText returns
	formBinary                // the B that MarshalBinary returns
	formValue                 // the type is Value
	formItem                  // the type is Item
)

// A plan says how to convert the values of a Go type. It is immutable.
type plan struct {
	typ  reflect.Type
	form form
	// elem is the plan of the elements of a pointer, slice, array or map.
	elem *plan
	// fields are the stored fields of a struct, sorted by name. Their names are in names.
	fields []field
	names  []byte
	// sharedBytes is 64 times the number of string fields. If an item has at most sharedBytes bytes, decoding copies
	// it whole, and the strings of the struct share the copy. The limit bounds the memory that a program retains when
	// it keeps only one of the strings.
	sharedBytes int
	// hidden are the fields of a struct that are not stored, because other fields of the same name hide them.
	hidden []field
	// marshals and unmarshals report whether pointers to the type implement Marshaler and
	// Unmarshaler.
	marshals, unmarshals bool
	// isOpaque reports whether values have no parts to store: the type is a struct without stored fields, or has no
	// stored form, such as a channel.
	isOpaque bool
	// encodesPlain and decodesPlain report whether values are strings, numbers or booleans, without methods that
	// choose or read their form. Most of these are converted in one step.
	encodesPlain, decodesPlain bool
	// noEncode and noDecode say why values cannot be encoded or decoded. They are empty if they can.
	noEncode, noDecode problem
}

// A problem says what is wrong and what to do about it.
type problem struct{ msg, advice string }

// options are the options of a struct tag.
type options uint16

const (
	omitEmpty options = 1 << iota
	omitEmptyElem
	nullEmpty
	nullEmptyElem
	asString
	asUnixTime
	asStringSet
	asNumberSet
	asBinarySet
)

var optionNames = map[string]options{
	"omitempty":     omitEmpty,
	"omitemptyelem": omitEmptyElem,
	"nullempty":     nullEmpty,
	"nullemptyelem": nullEmptyElem,
	"string":        asString,
	"unixtime":      asUnixTime,
	"stringset":     asStringSet,
	"numberset":     asNumberSet,
	"binaryset":     asBinarySet,
}

// has reports whether all options of want are set.
func (o options) has(want options) bool { return o&want == want }

// ofElements returns the options that hold for the elements of a list, set or map.
func (o options) ofElements() (elem options) {
	if o.has(omitEmptyElem) {
		elem |= omitEmpty | omitEmptyElem
	}
	if o.has(nullEmptyElem) {
		elem |= nullEmpty
	}
	return elem
}

var binariesType = reflect.TypeFor[[][]byte]()

// set returns the kind of set that slices and arrays of type t are stored as, or 0 if they
// are lists.
func (o options) set(t reflect.Type) Kind {
	switch {
	case o.has(asBinarySet), t == binariesType:
		return BinarySet
	case o.has(asNumberSet):
		return NumberSet
	case o.has(asStringSet):
		return StringSet
	}
	return 0
}

// A field is a stored field of a struct or of a struct embedded in it.
type field struct {
	plan     *plan
	options  options
	from, to int // the bounds of its name in the names of the struct's plan
	// index is the path to the field. Rank is its place among the fields in the order of declaration. Direct is the
	// index of a field that is not embedded, or else -1.
	index        []int
	rank, direct int
	// encodesPlain is copied from the field's plan, but is false if the options choose another form. DecodesText says
	// that an S is stored in the field unchanged.
	encodesPlain, decodesText bool
}

// in returns the field in the struct v. If an embedded pointer on the way is nil, in allocates the struct if allocate
// is set and the pointer's type is exported. Otherwise it returns false.
func (f *field) in(v reflect.Value, allocate bool) (reflect.Value, bool) {
	for i, x := range f.index {
		if i > 0 && v.Kind() == reflect.Pointer {
			if v.IsNil() {
				if !allocate || !v.CanSet() {
					return reflect.Value{}, false
				}
				v.Set(reflect.New(v.Type().Elem()))
			}
			v = v.Elem()
		}
		v = v.Field(x)
	}
	return v, true
}

// name returns the name of field i.
func (p *plan) name(i int) []byte { return p.names[p.fields[i].from:p.fields[i].to] }

// fold finds the field for an attribute whose exact name no field has. It returns the index of the first field, in
// order of declaration, whose name differs only in case. It returns -1 if there is no such field, or if the item has
// an attribute with exactly that field's name.
func (p *plan) fold(it Item, name []byte) int {
	found := -1
	for i := range p.fields {
		if bytes.EqualFold(p.name(i), name) && (found < 0 || p.fields[i].rank < p.fields[found].rank) {
			found = i
		}
	}
	if found >= 0 && !it.Get(string(p.name(found))).IsZero() {
		return -1
	}
	return found
}
