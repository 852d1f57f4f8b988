// Package store defines the interface of storage engines: ordered rows that hold tables and indexes.
//
// The address of a row has three parts: a [Space], a partition and a sort position. Rows are sorted by (space, [Hash]
// of the partition, partition, sort), where bytes compare as in [bytes.Compare]. Each table and each index is one
// space. A query reads one [Range] of one partition; a scan reads one [Span] of hashes. Package keycond makes addresses
// and ranges of items and key conditions.
//
// Programs read a [Store] inside [Store.View], which sees one state of it, and write inside [Store.Update], which is
// applied completely or not at all. Engines live in sub-packages; memory.Open and disk.Open return two of them. Package
// storetest checks that they behave alike.
package store
