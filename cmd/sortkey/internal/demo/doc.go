// Package demo runs the access patterns of a model against a database, through
// the AWS SDK, and compares the answers with the model's expectations.
package demo
