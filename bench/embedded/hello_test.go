package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkHello compiles hello, a program that embeds Sortkey in memory, with an empty build cache, and reports the
// processor time and the size of the stripped file. Run it with -benchtime 1x.
func BenchmarkHello(b *testing.B) {
	dir := b.TempDir()
	program := filepath.Join(dir, "hello")
	seconds := 0.0
	for range b.N {
		cmd := exec.CommandContext(b.Context(), "go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, "./hello")
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOCACHE="+filepath.Join(dir, "cache"))
		out, err := cmd.CombinedOutput()
		require.NoError(b, err, string(out))
		seconds += (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
		require.NoError(b, os.RemoveAll(filepath.Join(dir, "cache")))
	}
	info, err := os.Stat(program)
	require.NoError(b, err)
	b.ReportMetric(seconds/float64(b.N), "processor-s/op")
	b.ReportMetric(float64(info.Size())/1e6, "program-MB")
}
