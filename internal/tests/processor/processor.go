// Package processor measures the CPU time of processes, for benchmarks.
package processor

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Time returns the CPU time that the threads of a process have used, in the program and in the kernel. It misses
// threads that have ended. It returns 0 if the system does not report the time (Linux does, see proc_pid_schedstat in
// the kernel's documentation of schedstats).
func Time(pid int) (total time.Duration) {
	files, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/schedstat")
	for _, file := range files {
		data, err := os.ReadFile(file) //nolint:gosec // a file of /proc
		if err != nil {
			continue // the thread has ended
		}
		first, _, _ := strings.Cut(string(data), " ")
		n, _ := strconv.ParseInt(first, 10, 64)
		total += time.Duration(n)
	}
	return total
}
