// Package design implements the key-design workbench: it reads a design of
// tables, keys and access patterns, and builds a database from it, before the
// real tables exist. A [Model] is one readable file. It has tables and indexes,
// entities with the templates of their keys, sample items and generators, and
// access patterns with their expectations. [Parse] reads a model and reports
// errors with line and column. [Build] creates a [World] from it: a database in
// memory that contains the model's items. Package design/explain describes what
// a request reads in a world, design/check tests the access patterns against
// their expectations, design/lint finds hazards in the keys, and design/report
// renders the results.
package design
