// Package disk is the store engine that keeps its rows in a folder, using
// Pebble.
//
// A row is one key: its address, encoded in bytes of the same order. A query is
// one iterator with both bounds set, so it reads only the blocks that contain
// its rows.
//
// Updates run one after the other, each on a batch that reads its own writes:
//
//  1. The update applies its batch in memory while it holds the lock. It then
//     releases the lock and waits for the sync of the log. Meanwhile the next
//     update runs and shares the sync.
//  2. An Update returns after its changes are on disk. An Update without
//     changes waits too, for the changes that it may have read.
//  3. Views read the latest state that is on disk. They never wait, and they
//     never see what a crash could undo.
//
// For rows that are in order already, [Store.Load] is faster: it writes them to
// files that the engine then adds in one step.
//
// When the disk is full, Update returns an error that is syscall.ENOSPC, even if it only deletes. Views can
// still read, and updates succeed again once there is space. An Update that has begun may wait for space.
//
// When the disk refuses a write for another reason, or a sync for any reason, the store stops: it
// writes nothing more, and every call returns a [*FailedError]. The folder stays as a crash at that
// moment would have left it. Open it again once the disk is repaired: every acknowledged
// Update is there.
//
// Only one Store at a time can write to a folder. While none does, any number can
// read it ([Options.ReadOnly]). The file SORTKEY in the folder
// states its format. Close writes the rows in memory to a file, so the next
// Open is quick. After a crash Open reads the log, at most a few times
// [Options.MemTableBytes].
//
// Two functions copy an open store: [Store.Snapshot] creates a folder, and
// [Store.Fork] a temporary store that is removed when it is closed. [Copy] copies
// the folder of a closed store.
package disk
