// Package store defines the ordered rows that tables and indexes are kept in.
//
// A row is addressed by a [Space], a partition and a sort position, and rows
// lie in the order of (space, [Hash] of the partition, partition, sort), all
// bytes compared as [bytes.Compare] does. A table or an index is one space; a
// query is one [Range] of one partition; a scan is one [Span] of hashes.
//
// A [Store] is read inside [Store.View], which sees one moment of it, and
// written inside [Store.Update], which is applied whole or not at all. Engines
// live in sub-packages, use the one address encoding of [AppendAddress], and
// are held to the same behaviour by package storetest.
package store
