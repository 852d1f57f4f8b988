// Package memory is the store engine that keeps everything in memory.
//
// A copy-on-write B+tree for each group of spaces ([store.Groups]) holds the rows, sorted by
// address:
//
//  1. A published version, the roots of all groups, never changes.
//  2. A View reads the version that is current when it begins.
//  3. An Update has the turn of each group that it reads or changes until it ends. It changes
//     copies that share every node it does not touch, and publishes them in one
//     new version when it succeeds.
//  4. A node that is in no current version, no fork and no version with readers
//     may be reused by later Updates.
//
// So readers never wait, Updates of different groups run side by side, a failed Update leaves
// nothing behind, and Fork takes the same short time whatever the size.
//
// A leaf keeps its rows in one slice of bytes, its page, which all versions of
// the leaf share and only ever add to (page.go). So a row is not an object of
// its own, and what its neighbours have in common is stored once.
//
// Bytes returned by this engine are immutable and stay valid for ever. They
// keep the page that they are part of in memory, some kilobytes, or 64 of them
// after a Compact: a program that keeps few short values for long should copy them.
package memory
