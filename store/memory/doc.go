// Package memory is the store engine that keeps everything in memory.
//
// A copy-on-write B+tree holds the rows, sorted by address:
//
//  1. A published version of the tree never changes.
//  2. A View reads the version that is current when it begins.
//  3. There is one Update at a time. It changes copies that share every node it does not
//     touch, and publishes them as a new version when it succeeds.
//  4. Later Updates may reuse the memory of a node once it is in no version that somebody can
//     read: neither the current one, nor a fork, nor a version with readers.
//
// So readers never wait, a failed Update leaves nothing behind, and Fork takes the same short time
// whatever the size. A long View keeps the nodes of its version and no others.
//
// A leaf keeps its rows in one slice of bytes, its page. All versions of the leaf share the
// page and only ever add to it (page.go). So a row is not an object of its own, and the page
// stores the common prefix of its rows only once.
//
// Bytes returned by this engine are immutable and stay valid for ever. They keep the page that
// they are part of in memory: some kilobytes, or 64 KB after a Compact. A program that keeps a
// few short values for long should copy them.
package memory
