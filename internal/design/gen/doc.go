// Package gen generates code from a model of a key design. [Expression] returns the request of an access pattern as
// an AWS CLI command or as Go, Python or JavaScript code. [Request] does so for any Query, GetItem or Scan request.
//
// [Go], [Python] and [TypeScript] generate a file with
//
//   - constants for the names of tables, indexes and key attributes;
//   - the templates of the keys of each entity;
//   - for each entity, a type for the values in its keys, which builds the primary key and all key attributes;
//   - for each access pattern that reads, a function that returns its request. If the pattern lists values, such as
//     shards, the caller sends a request for each of them.
//
// The generator first converts a model to a tree, which has the same form for all languages. A template for each
// language then writes the tree as code. At run time, generated Go code needs package keys. Python and TypeScript
// code needs the packages in packages/keys. [Missing] lists the patterns that get no function, with the reason.
package gen
