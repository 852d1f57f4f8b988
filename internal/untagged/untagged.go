// Package untagged lets package sortkey ask package attr what its public face does not say.
package untagged

// Times returns the names of the attributes of the item that v is stored as which come from a
// time.Time without a tag. Package attr sets it.
var Times func(v any) []string
