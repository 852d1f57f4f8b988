// Package model has the types of a key design: tables and indexes, entities with the
// templates of their keys, fields with the values that they take, sample items, and access
// patterns with their expectations. Package modelfile reads and writes a [Model], package
// compile makes the request of a [Pattern], and package dataset the items.
package model
