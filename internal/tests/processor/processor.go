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

// WithChildren returns the CPU time of a process and of its children that still run, or 0 if the system does not
// report the children.
func WithChildren(pid int) (total time.Duration) {
	id := strconv.Itoa(pid)
	children, err := os.ReadFile(filepath.Join("/proc", id, "task", id, "children"))
	if err != nil {
		return 0
	}
	total = Time(pid)
	for child := range strings.FieldsSeq(string(children)) {
		n, _ := strconv.Atoi(child)
		total += Time(n)
	}
	return total
}
