// Package tikv is the store engine that keeps its rows in a TiKV cluster, without SQL. TiKV splits and moves ranges
// of rows by itself. The engine is tested only on the mock cluster of TiKV's client: see Tests below.
//
// [Open] opens the tables with a prefix. The key of a row is the prefix and the address of the row in bytes, so a
// partition is one range of keys.
//
//   - A View reads as of one timestamp, which it gets when it begins.
//   - An Update is a pessimistic transaction. It locks each single row that it reads,
//     even one that does not exist, in the round trip that reads the row. It keeps its
//     changes in memory until its function returns. When a row has changed since the
//     Update began, or two Updates wait for each other, the function is called again.
//   - Before the commit, an Update reads again each range that it has read. Only an Update
//     that reads ranges pays for that. This check writes no row, so other Updates of the
//     partition can run at the same time.
//   - When a commit gets no answer, the Update asks TiKV what became of the transaction.
//     If the transaction is not committed, the question rolls it back, so that it never
//     can be.
//
// # Isolation
//
// TiKV's two-phase commit gives each transaction a timestamp c, unique and later than all locks of the first phase.
// Suppose that every read of an Update returns what it would have returned immediately before c. Then the committed
// Updates behave as if they had run one by one in the order of their timestamps, and a View as of t sees exactly
// the Updates before t. An Update gets its timestamp between its begin and its end, so this order is also that of
// real time. It remains to show that every read returns what it would have returned immediately before c:
//
//   - A single row is locked as of the timestamp s at which the Update began; TiKV
//     refuses the lock if the row has changed since. From the lock to the commit no
//     other transaction can commit a change of the row. The first phase includes rows that
//     are read and not written, and fails if a lock was lost.
//   - A range is read as of s. When the client asks TiKV to commit at c, it has written
//     all locks of the Update. Before this request is sent, the range is read again as
//     of c. If another transaction commits a change in the range before c, that read sees
//     the change or its lock. In the second case, the read waits for the outcome of the
//     transaction, or makes TiKV refuse to commit it before c. So the read returns what the
//     range contains immediately before c. If that differs from the first read, the commit
//     is not sent.
//   - TiKV may refuse c itself, because a reader at a later timestamp has met a lock of
//     the Update. The client then asks again with a later timestamp, and the ranges are
//     read again as of that one. The client's hook for schema checks runs for the first
//     timestamp only, so this package uses its hook for requests.
//
// All reads of one call of the function are as of s. So the function never sees a state that did not exist, and an
// Update that changes nothing needs no commit. The client has no shared locks, so Updates that read the same single
// row run one after the other. TiKV has no locks of gaps. A guard row for each partition, which every insert locks,
// would make the second read of ranges unnecessary, but the inserts of a partition would run one after the other
// (BenchmarkInserts).
//
// After three conflicts an Update runs alone in its process. Other processes do not write, so it then cannot lose
// again.
//
// Transactions of one phase, and transactions whose commit is asynchronous, would save round trips. But in both, TiKV
// chooses the timestamp itself, and the engine could not read ranges again as of it. So they are off.
//
// # Several servers
//
// One Store uses the tables at a time, because the tables above it are cached in memory. It holds a lease up to a
// time of the cluster's clock, which it renews. It neither reads nor commits at later timestamps, and its successor
// starts with a later one. So a server that was paused cannot commit while its successor runs; no clock but the
// cluster's is compared. Only Get of a single row has no timestamp and uses the machine's clock.
//
// Several servers could use the tables with the same check, without a row that all writers lock: each server would
// hold a lease on the version of the catalogue that it knows, up to a time of the cluster's clock, and could not
// commit at timestamps after it. A change of the catalogue would wait until each server has renewed its lease with
// the new version or the leases have ended, as a change of a schema does in TiDB. Until then both versions would be
// in use, so a new index would be maintained first and filled afterwards. That is not built.
//
// # Limits
//
// An Update may change 100 MB, and a row may have 6 MB: TiDB's limits for transactions. Clear reads the rows of the
// space and deletes them in its Update, so it fails if their keys have more than 100 MB. Deleting a table or an index
// has no such limit: it first takes them out of use, and then deletes their rows in Updates of [Store.ClearLimit]
// rows each. TiKV could drop a range at once, but only outside of transactions, and without regard to Views of
// earlier timestamps.
//
// TiKV keeps old versions of rows until the cluster's garbage collection removes them. If TiDB shares the cluster, it
// runs the collection. This package does not.
//
// # Tests
//
// The mock cluster has regions that split and move, stores that stop, locks, deadlocks and both phases of a commit.
// The conformance suite of engines runs on it, also while regions split and leaders move, and with requests that are
// refused, lost or delayed. The mock cannot show real Raft and its elections, pessimistic locks that wait in order or
// that are lost with a leader, garbage collection, TLS, connections to a placement driver, and any figure but the
// number of requests. Nothing has run on a real cluster.
package tikv
