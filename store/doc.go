// Package store defines the interface of storage engines: ordered rows that
// hold tables and indexes.
//
// The place of a row has three parts: a [Space], a partition and a sort
// position. Rows are sorted by (space, [Hash] of the partition, partition,
// sort), where bytes compare as in [bytes.Compare]. Each table and each index
// is one space. A query reads one [Range] of one partition; a scan reads one
// [Span] of hashes.
//
// A [Store] is read inside [Store.View], which sees one state of it, and
// written inside [Store.Update], which is applied completely or not at all.
// Engines live in sub-packages and share the address encoding of
// [AppendAddress]. Package storetest checks that they behave alike.
package store
