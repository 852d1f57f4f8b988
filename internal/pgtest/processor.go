package pgtest

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Processor returns the processor time that the cluster's processes have taken. Those that
// have ended are missing: compare times between which no connection ends. It skips the test
// where there is no /proc.
func (c *Cluster) Processor(t testing.TB) (total time.Duration) {
	t.Helper()
	file, err := os.ReadFile(filepath.Join(c.data(), "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(file), "\n")
	pid, err := strconv.Atoi(first)
	if err != nil {
		t.Fatal(err)
	}

	folder := filepath.Join("/proc", first, "task", first)
	children, err := os.ReadFile(filepath.Join(folder, "children"))
	if err != nil {
		t.Skip("this system does not report the processor time of processes")
	}
	total = Processor(pid)
	for child := range strings.FieldsSeq(string(children)) {
		if n, err := strconv.Atoi(child); err == nil {
			total += Processor(n)
		}
	}
	return total
}

// Processor returns the processor time of a process's threads that still run, 0 where there
// is no /proc. See proc_pid_schedstat in the kernel's documentation of schedstats.
func Processor(pid int) (total time.Duration) {
	files, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/schedstat")
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // the thread has ended
		}
		ran, _, _ := strings.Cut(string(text), " ")
		n, _ := strconv.ParseInt(ran, 10, 64)
		total += time.Duration(n)
	}
	return total
}
