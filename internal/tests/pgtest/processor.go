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

// Processor returns the processor time that the cluster's running processes have taken, or 0 where the system does
// not report it. It lacks processes that have ended, one for each connection, so compare times only if no connection
// has ended between them.
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
