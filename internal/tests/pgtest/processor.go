package pgtest

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sortkey/sortkey/internal/tests/processor"
)

// Processor returns the CPU time of the cluster's processes, or 0 if the system does not report it. It misses
// processes that have ended, so no connection may end between two times that you compare.
func (c *Cluster) Processor(t testing.TB) time.Duration {
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
	return processor.WithChildren(pid)
}
