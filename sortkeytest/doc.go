// Package sortkeytest opens a database for a test.
//
// [New] opens a [DB] for one test: empty, in memory, with DynamoDB clients of
// the AWS SDK, and closed when the test ends. That takes microseconds, so every
// test and subtest can have its own, in parallel. To fill a database once and
// use it many times, give each subtest a [DB.Fork].
//
// Failures in this package fail the test; nothing returns an error.
package sortkeytest
