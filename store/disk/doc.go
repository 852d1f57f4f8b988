// Package disk is the store engine that keeps its rows in a folder, with
// Pebble underneath.
//
// A row is one key: its address as [store.AppendAddress] writes it. A query is
// one iterator with both bounds set, so it reads the blocks its rows lie in
// and no others.
//
// Updates run one after the other, each on a batch that reads its own writes.
// A batch is applied in memory while the update still holds the lock, and the
// wait for the log's sync comes after: the next update runs meanwhile and
// shares the sync. An Update returns once its changes are on disk, and so does
// one that changed nothing but read changes that were not there yet. Views
// read the latest state that is on disk; they never wait and never see what a
// crash could undo.
//
// From the first write that the disk refuses, the store writes nothing more
// and every call returns a [*FailedError]: the folder stays as a crash at that
// moment would have left it. Open it again, once the disk is mended or has
// room, and every acknowledged Update is there.
//
// A folder belongs to one Store at a time, and says in its file SORTKEY which
// format it is in. Close writes what is in memory to a file, so that the next
// Open is quick; after a crash Open reads the log, at most a few times
// [Options.MemTableBytes].
//
// Copies of an open store: [Store.Snapshot] makes a folder to keep,
// [Store.Fork] a store that goes when it is closed, [Store.Archive] one file.
// [Extract] and [Copy] make a store of a file, or of a folder nobody has open.
package disk
