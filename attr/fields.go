package attr

import (
	"bytes"
	"cmp"
	"reflect"
	"slices"
	"strings"
)

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

// ofElements returns the options for the elements of a list, set or map.
func (o options) ofElements() (elem options) {
	if o.has(omitEmptyElem) {
		elem |= omitEmpty | omitEmptyElem
	}
	if o.has(nullEmptyElem) {
		elem |= nullEmpty
	}
	return elem
}

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

// A field is a field of a struct that is stored, perhaps one of an embedded struct.
type field struct {
	plan     *plan
	options  options
	from, to int // of the name, in the names of the struct's plan
	// index is the path to the field, and rank its place among the fields in the order of
	// their declaration.
	index []int
	rank  int
}

// in returns the field of a struct. It reports false if the field is in an embedded struct
// whose pointer is nil.
func (f *field) in(v reflect.Value) (reflect.Value, bool) {
	for i, x := range f.index {
		if i > 0 && v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return reflect.Value{}, false
			}
			v = v.Elem()
		}
		v = v.Field(x)
	}
	return v, true
}

// making returns the field of a struct and allocates embedded structs that it is in. It
// reports false if it cannot, because the type of an embedded struct is not exported.
func (f *field) making(v reflect.Value) (reflect.Value, bool) {
	for i, x := range f.index {
		if i > 0 && v.Kind() == reflect.Pointer {
			if v.IsNil() {
				if !v.CanSet() {
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

// fold returns the field for an attribute that no field is named exactly like: the first
// one whose name differs in case only. It returns -1 if there is none, or if the item has
// an attribute with exactly the name of that field.
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

// A candidate is a field that may be stored, if no other field hides it.
type candidate struct {
	name     string
	isTagged bool // the name is from the tag
	field    reflect.StructField
	options  options
	index    []int
}

// An embedding is a struct whose fields are candidates: the struct itself, or an embedded
// one.
type embedding struct {
	typ        reflect.Type
	index      []int
	isRepeated bool // the type is embedded more than once at this depth
}

// compileFields sets the stored fields of a struct. As in Go, a field hides those of the
// same name that are embedded deeper. Of several at one depth, none is stored, unless
// exactly one of them has its name from a tag.
func (c compiler) compileFields(p *plan) {
	var chosen []candidate
	hidden := map[string]bool{}
	visited := map[reflect.Type]bool{}
	for level := []embedding{{typ: p.typ}}; len(level) > 0; {
		var found []candidate
		var next []embedding
		for _, e := range level {
			if !visited[e.typ] {
				visited[e.typ] = true
				found, next = e.fields(found, next)
			}
		}

		byName := map[string][]candidate{}
		for _, f := range found {
			byName[f.name] = append(byName[f.name], f)
		}
		for name, rivals := range byName {
			if f, ok := dominant(rivals); ok && !hidden[name] {
				chosen = append(chosen, f)
			}
			hidden[name] = true
		}
		level = next
	}

	slices.SortFunc(chosen, func(a, b candidate) int { return slices.Compare(a.index, b.index) })
	for rank, f := range chosen {
		if len(f.name) > MaxNameBytes {
			p.noEncode = problem{"the name of field " + f.field.Name + " is too long", "shorten it in the tag"}
			p.noDecode = p.noEncode
			continue
		}
		from := len(p.names)
		p.names = append(p.names, f.name...)
		p.fields = append(p.fields, field{c.plan(f.field.Type), f.options, from, len(p.names), f.index, rank})
	}
	slices.SortFunc(p.fields, func(a, b field) int {
		return bytes.Compare(p.names[a.from:a.to], p.names[b.from:b.to])
	})
}

// fields adds the fields of a struct to found, and the structs it embeds to next.
func (e *embedding) fields(found []candidate, next []embedding) ([]candidate, []embedding) {
	for i := range e.typ.NumField() {
		field := e.typ.Field(i)
		inner := field.Type
		if inner.Name() == "" && inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		isStruct := inner.Kind() == reflect.Struct
		if !field.IsExported() && !(field.Anonymous && isStruct) {
			continue
		}
		name, list, _ := strings.Cut(field.Tag.Get("dynamodbav"), ",")
		if name == "-" {
			continue
		}
		index := append(slices.Clip(e.index), i)

		if field.Anonymous && isStruct && name == "" {
			if at := slices.IndexFunc(next, func(o embedding) bool { return o.typ == inner }); at >= 0 {
				next[at].isRepeated = true
			} else {
				next = append(next, embedding{typ: inner, index: index})
			}
			continue
		}

		var o options
		for option := range strings.SplitSeq(list, ",") {
			o |= optionNames[option]
		}
		f := candidate{validText(cmp.Or(name, field.Name)), name != "", field, o, index}
		found = append(found, f)
		if e.isRepeated {
			found = append(found, f)
		}
	}
	return found, next
}

// dominant returns the one of several fields with one name at one depth that is stored, if
// there is one.
func dominant(rivals []candidate) (candidate, bool) {
	if len(rivals) > 1 {
		rivals = slices.DeleteFunc(rivals, func(f candidate) bool { return !f.isTagged })
	}
	if len(rivals) != 1 {
		return candidate{}, false
	}
	return rivals[0], true
}
