//go:build !symbols

package main

// With cgo, Pebble's zstd is the one in C, and what debuggers read of it and of
// the rest is 13 of the 41 MB that the program would have. The linker of C
// leaves it out. Traces of goroutines, profiles and the version have tables of
// their own. To debug, build with -tags symbols, or without cgo.

// #cgo LDFLAGS: -Wl,-s
import "C"
