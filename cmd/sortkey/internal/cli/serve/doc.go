// Package serve implements the command serve: it opens a database, serves it over HTTP,
// and beside that its metrics and snapshots.
package serve
