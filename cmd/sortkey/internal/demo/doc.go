// Package demo runs the access patterns of a model against a database of its
// own, through the real client, and holds the answers against those that are
// right.
package demo
