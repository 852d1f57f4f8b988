// Package serve implements the command serve: it opens a database, serves it over HTTP, and serves its metrics, its
// console and its snapshots on addresses of their own.
package serve
