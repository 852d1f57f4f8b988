// Package memory is the store engine that keeps everything in memory.
//
// All rows of a [Store] lie in one copy-on-write B+tree, ordered by address.
// A View reads the tree that is current when it begins; an Update changes a
// copy, sharing every node it does not touch, and publishes it when done. So
// readers never wait, a failed update leaves nothing behind, and [Store.Fork]
// takes the same short time whatever the size. The nodes that an Update left
// behind become the copies of later ones when no View reads them any more.
//
// Bytes handed out by this engine are immutable and valid for ever.
package memory
