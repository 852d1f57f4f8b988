package measure

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// Processor returns the processor time that the threads of a process have taken, in
// nanoseconds: the time in the program and, for it, in the kernel. It returns 0 where the
// system does not report it (Linux does, see proc_pid_schedstat in the kernel's
// documentation of schedstats). The time of threads that have ended is missing.
func Processor(pid int) (nanos int64) {
	files, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/schedstat")
	for _, file := range files {
		data, err := os.ReadFile(file) //nolint:gosec // a file of /proc
		if err != nil {
			continue // the thread has ended
		}
		first, _, _ := bytes.Cut(data, []byte(" "))
		n, _ := strconv.ParseInt(string(first), 10, 64)
		nanos += n
	}
	return nanos
}
