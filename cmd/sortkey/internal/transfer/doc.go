// Package transfer imports items into tables and exports them. It reads and writes DynamoDB JSON in the layout of the
// service's own exports, plain JSON and CSV.
//
// A [Reader] reads the [Record] values of one file. [Discover] finds the files to import, and [Import] writes their
// items with BatchWriteItem through any DynamoDB client, or directly to a database in this process. If several
// records have the same key, the last one wins. An import keeps a journal, from which it can be resumed after an
// interruption, and a report of rejected records. [Export] writes a folder that [Discover] reads: data files,
// manifests with checksums and counts, and the table's definition.
//
// The package bounds its memory, whatever the size of a file, a line or a table.
package transfer
