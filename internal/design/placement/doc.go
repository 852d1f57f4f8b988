// Package placement simulates how a database of ordered ranges would place the rows
// of a [world.World] and the load that its model declares. [Run] lays the rows out
// by their addresses, splits them into ranges by size and by load, and spreads the
// ranges over nodes. The [Result] says which range and which node are hottest, and
// what cannot be split.
//
// The rules are those that CockroachDB documents; each constant names its page.
// Nothing is measured, and no database is asked. The simulation leaves out
//
//   - time: the result is the state after the last split and the last move, with a
//     constant load;
//   - sampling: CockroachDB chooses a split among twenty sampled keys, this package
//     among all;
//   - the cost of a request: all requests count the same, as in CockroachDB's rule by
//     queries per second. Since v23.1 its default is a rule by CPU time;
//   - merges of ranges, localities, latencies, contention, and the rows of streams, of
//     transactions' tokens and of the catalogue;
//   - sizes on disk: a row has its documented size, without old versions and before
//     compression;
//   - reads of indexes, which a model does not declare.
package placement
