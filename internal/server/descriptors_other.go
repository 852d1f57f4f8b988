//go:build !unix

package server

// descriptors returns how many files and sockets the process may have open,
// which this system does not limit.
func descriptors() int { return 2 * maxConnections }
