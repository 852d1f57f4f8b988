// Package partiql parses the PartiQL statements that the service supports, and plans how to read the items of a
// SELECT.
//
// A [Statement] holds the same trees as other operations: its WHERE is an [expr.Condition], and its SET and REMOVE
// are an [expr.Update]. [Statement.Plan] turns the WHERE of a SELECT into slices of partitions and a filter.
// [Statement.Key] turns the WHERE of a write into the key of one item and a condition.
//
// Errors have the service's texts. The sources are the captures of paritysuite/dynamodb-conformance
// (tests/tier2/partiql, and partiql*.test.ts in tests/tier3/error-messages), called "conformance" below, and the
// answers of DynamoDB Local, called "local". Texts without a source are our own.
package partiql
