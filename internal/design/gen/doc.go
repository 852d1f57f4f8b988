// Package gen generates code from a model of a key design. [Expression] returns
// the request of an access pattern as an AWS CLI command or as Go, Python or
// JavaScript code; [Request] does so for any request of the same operations.
//
// [Go], [Python] and [TypeScript] generate a file with
//
//   - constants for the names of tables, indexes and key attributes;
//   - the templates of the keys of each entity;
//   - for each entity a type of the values in its keys, with the primary key and
//     all key attributes that they make;
//   - for each access pattern that reads a function that returns its request. A
//     pattern that lists values, such as shards, is a request for each of them.
//
// All languages are written from one tree, by a template each. What Go needs at
// run time is package keys and the end of its template; for the others it is in
// packages/keys. [Missing] says which patterns have no function, and why.
package gen
