// Package untagged lets package sortkey ask package attr what its public face does not say.
package untagged

import "reflect"

// Times returns the names of the attributes of the item that v is stored as which come from a
// time.Time without a tag. Package attr sets it.
var Times func(v any) []string

// Has reports whether Times may return a name for a value of a type. Package attr sets it.
var Has func(t reflect.Type) bool
