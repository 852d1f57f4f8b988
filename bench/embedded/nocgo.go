//go:build !cgo

package main

var mattn = contender{name: "sqlite-mattn", skipped: "mattn/go-sqlite3 needs cgo and a C compiler"}
