// Package placement simulates how a database of ordered ranges would place the rows
// of a [design.World] and the load that its model declares. [Run] lays the rows out
// by their addresses, splits them into ranges by size and by load, and spreads the
// ranges over nodes. The [Result] says which range and which node are hottest, and
// what cannot be split.
//
// The rules are those that CockroachDB documents; each stands beside its constant
// with the name of the page. Nothing is measured, and no database is asked. Left
// out are
//
//   - time: the result is the state after the last split and the last move, with a
//     load that does not change;
//   - sampling: CockroachDB chooses among twenty sampled keys, this package among all;
//   - the cost of a request: a request is a request, as in the rule by queries per
//     second. Since v23.1 CockroachDB weighs CPU time by default;
//   - merges of ranges, disk space, localities, latencies, contention, and the rows
//     of streams, of transactions' tokens and of the catalogue;
//   - sizes on disk: a row has its documented size, without old versions and before
//     compression.
//
// Reads of indexes are not declared in a model, so they are left out too.
package placement
