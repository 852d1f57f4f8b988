//go:build !unix

package server

// Descriptors returns how many files and sockets the process may have open. This system has no such limit, so it
// returns enough for the default number of connections.
func Descriptors() int { return 2 * maxConnections }
