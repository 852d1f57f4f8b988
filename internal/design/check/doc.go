// Package check holds the access patterns of a model to what is expected of
// them, and tells how its items lie in tables and indexes.
//
// [Run] asks every pattern in a [design.World] through package design/explain
// and returns a [Result]: for each pattern its request, what it read and where
// it failed, the statistics of tables, and all findings, those of lints among
// them when there are any.
package check
