// Package sortkeytest opens a database for a test.
//
// [New] gives a test its own [DB]: empty, in memory, with DynamoDB clients of
// the AWS SDK over it, and closed when the test ends. It takes microseconds, so
// every test and subtest can have one, in parallel. To fill one once and use it
// many times, let each subtest have a [DB.Fork].
//
// What fails in this package fails the test; nothing returns an error.
package sortkeytest
