//go:build unix

package server

import "syscall"

// Descriptors returns how many files and sockets the process may have open.
func Descriptors() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 2 * maxConnections
	}
	return int(min(uint64(limit.Cur), 1<<30))
}
