// Package postgres is the store engine that keeps its rows in a PostgreSQL
// database, with SQL that CockroachDB and YugabyteDB document too. It is tested
// on PostgreSQL only.
//
// [Init] creates the tables once, [Open] opens them. A row is one row of the
// table sortkey_rows, whose primary key is the address of the row in bytes,
// so a partition is one range of the key and no read sorts.
//
//   - A View is one snapshot: a read-only transaction at REPEATABLE READ. Its
//     first read starts it, in the same round trip.
//   - An Update is a SERIALIZABLE transaction. It keeps its changes in memory
//     until its function returns, and then sends them with the commit in one
//     round trip. So a put that reads one row takes two. When the database
//     reports a conflict, Update calls the function again.
//   - Package table says in advance which rows a batch, a transaction or the building
//     of an index is going to read, and the engine reads these rows together.
//   - When a commit gets no answer, the Update finds out whether it happened: the
//     transaction also inserts a row with an id of its own. Inserting the same id
//     from another connection either finds that row, which proves the commit, or
//     prevents it for ever.
//
// Several Stores, in several processes, can use the same tables. One database can hold
// several sets of tables: each connection uses those that its search_path finds.
//
// Updates are serialisable: their results are those of running them in some order. If
// they read only single rows, they also commit in this order, because a commit locks
// the rows that the Update has read but not written, and fails if another Update has
// changed one of them. So a View sees the state between two Updates; with SERIALIZABLE
// alone it could see the second of two Updates without the first. Ranges are not
// locked. So if the first Update read a range that the second one changed, a View can
// still see the second without the first.
package postgres
