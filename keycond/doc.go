// Package keycond turns key conditions into ranges.
//
// A [Schema] says which attributes make the key of a table or an index, and
// how their values become the address of a row. [Compile] turns a legal key
// condition into exactly one [Slice]: a partition and one [store.Range] of
// sort positions in it. A condition that is not one range is an [*Error] in
// the service's words.
//
// Nothing here reads a row.
package keycond
