// Package partiql parses the statements of PartiQL that the service knows and
// plans how to read what they ask for.
//
// A [Statement] holds the same trees as the other operations use: its WHERE is an
// [expr.Condition] and its SET and REMOVE are an [expr.Update]. [Statement.Plan]
// turns the WHERE of a SELECT into slices of partitions and a filter,
// [Statement.Key] turns the WHERE of a write into the key of one item and a condition.
//
// Errors have the service's texts. Their sources are the captures of
// paritysuite/dynamodb-conformance (tests/tier2/partiql, and partiql*.test.ts in
// tests/tier3/error-messages), called "conformance" below, and what DynamoDB
// Local answers, called "local". Texts without a source are ours.
package partiql
