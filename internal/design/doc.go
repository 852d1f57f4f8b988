// Package design is the key-design workbench: it reads a design of tables,
// keys and access patterns before the tables exist, and brings it to life.
//
// A [Model] is one readable file: tables and indexes, entities with the
// templates of their keys, sample items and generators, and access patterns
// with what is expected of them. [Parse] reads one and says with line and
// column what is wrong with it. [Build] makes a [World] of it: a database in
// memory with the model's items in it.
//
// What a request reads in a world is told by package design/explain; design/check
// holds the access patterns to their expectations, design/lint looks for the
// hazards of byte order, and design/report draws what they found.
package design
