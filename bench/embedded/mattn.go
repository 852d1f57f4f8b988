//go:build cgo

package main

import _ "github.com/mattn/go-sqlite3" // the driver

// mattn is SQLite in C.
var mattn = sqliteContender("sqlite-mattn", "sqlite3", "github.com/mattn/go-sqlite3")
