package item

import "github.com/sortkey/sortkey/attr"

// Depth returns the number of levels of a value: 1 for scalars and for empty
// lists and maps; otherwise 1 more than the depth of the deepest element.
func Depth(v attr.Value) int {
	deepest := 0
	switch v.Kind() {
	case attr.List:
		for i := range v.Len() {
			deepest = max(deepest, Depth(v.Index(i)))
		}
	case attr.Map:
		for _, e := range v.Map().All() {
			deepest = max(deepest, Depth(e))
		}
	}
	return 1 + deepest
}
