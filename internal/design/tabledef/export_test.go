package tabledef

import (
	"maps"
	"slices"
)

// Counted returns a reader with a part of the budget that a document has, and a function that returns how many
// bytes of values, and how many values, may still be made.
func Counted(r Reader, part int) (counted Reader, left func() (bytes, values int)) {
	r = r.begin()
	r.sources.left /= part
	r.sources.values /= part
	return r, func() (bytes, values int) { return r.sources.left, r.sources.values }
}

// Functions returns the names of Terraform's functions.
func Functions() []string {
	s := &scope{input: &input{sources: newSources()}}
	return slices.Sorted(maps.Keys(s.withFiles()))
}
