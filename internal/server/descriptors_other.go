//go:build !unix

package server

// Descriptors returns how many files and sockets the process may have open,
// which this system does not limit.
func Descriptors() int { return 2 * maxConnections }
