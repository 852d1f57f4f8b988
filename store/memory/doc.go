// Package memory is the store engine that keeps everything in memory.
//
// A copy-on-write B+tree holds the rows, sorted by address:
//
//  1. A published version of the tree never changes.
//  2. A View reads the version that is current when it begins.
//  3. There is one Update at a time. It changes copies that share every node it does not
//     touch, and publishes them as a new version when it succeeds.
//  4. A node that is not in the current version, nor in a fork, nor in a version with readers
//     may be reused by later Updates.
//
// So readers never wait, a failed Update leaves nothing behind, and Fork takes the same short time
// whatever the size. A long View keeps the nodes of its version and no others.
//
// A leaf keeps its rows in one slice of bytes, its page, which all versions of
// the leaf share and only ever add to (page.go). So a row is not an object of
// its own, and what its neighbours have in common is stored once.
//
// Bytes returned by this engine are immutable and stay valid for ever. They
// keep the page that they are part of in memory, some kilobytes, or 64 of them
// after a Compact: a program that keeps few short values for long should copy them.
package memory
