// Package table keeps items in tables over a store: schemas and indexes,
// writes with index maintenance, reads with paging, and what they cost.
//
// A [DB] is a set of tables. Reads happen in a [DB.View], which sees one
// moment; writes in a [DB.Update], whose [Tx] is applied whole or not at all,
// index rows included. A [Query] or [Scan] walks one [store.Range] or
// [store.Span], counts what it walks and stops at a page; the same count makes
// the consumed capacity and the [Trace].
//
// Errors are [*Error] values whose text is the service's own. Nothing here
// knows JSON requests or HTTP.
package table
