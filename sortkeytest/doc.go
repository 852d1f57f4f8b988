// Package sortkeytest opens a database for a test.
//
// [New] opens a [DB] for one test. The database is empty, is in memory, has DynamoDB clients of the AWS SDK, and is
// closed when the test ends. Opening takes microseconds, so every test and subtest can have its own database, in
// parallel. To fill a database once and use it many times, see [Shared]. To give a subtest a copy, see [DB.Fork].
//
// [DB.Table] creates a table, and package designtest creates the tables of a deployment. [DB.Put] and the functions
// [Get], [Query] and [Items] write and read items, and [DB.Diff] shows what has changed. [DB.Fail] makes calls fail,
// [DB.Clock] moves the time, and [DB.Record] records calls. [DB.Changes] and [DB.EventSource] test code that handles
// the changes of a table. docs/testing.md has links to a page for each topic.
//
// The functions and methods of this package return no errors: if one fails, it fails the test.
package sortkeytest
