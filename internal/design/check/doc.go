// Package check tests the access patterns of a model against their
// expectations, and computes statistics of its tables and indexes. [Run] runs
// every pattern of a [dataset.Dataset] with package design/explain and returns a
// [Result]: the request of each pattern, what it read and how it failed, the
// statistics of tables, and all findings, including those of lint rules.
package check
