// Package partiql parses the PartiQL statements that the service supports, and plans how to read the items of a
// SELECT.
//
// A [Statement] holds the same trees as other operations: its WHERE is an [expr.Condition], and its SET and REMOVE
// are an [expr.Update]. [Statement.Plan] turns the WHERE of a SELECT into slices of partitions and a filter.
// [Statement.Key] turns the WHERE of a write into the key of one item and a condition.
//
// Errors have the service's texts. Comments call their two sources "conformance" and "local". The first is the
// captures of paritysuite/dynamodb-conformance (tests/tier2/partiql, and partiql*.test.ts in
// tests/tier3/error-messages). The second is the answers of DynamoDB Local. Texts without a source are our own.
package partiql
