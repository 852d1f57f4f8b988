package main

import (
	"bufio"
	"compress/gzip"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/lines"
	"github.com/sortkey/sortkey/internal/tests/cmdtest"
)

var million = flag.Int("items", 0, "items of the tests that scripts/check-million.sh runs")

// peakLimit bounds the memory of an import with any number of items, in bytes.
const peakLimit = 300 << 20

// TestTransferOfMany imports small items, of about 75 bytes of JSON each, into a folder and into a server in memory,
// and exports the folder. It then kills an import midway, resumes it and exports the result. It tests that both
// exports have the lines of the input. scripts/check-million.sh runs it with a million items, and prints the time,
// the processor time and the peak memory of each command.
func TestTransferOfMany(t *testing.T) {
	if *million == 0 {
		t.Skip("run scripts/check-million.sh 1000000 TransferOfMany")
	}
	dir := t.TempDir()
	input := filepath.Join(dir, "items.json")
	want := writeSmall(t, input, *million)
	bin := cmdtest.Build(t)
	report := func(what string, p *os.ProcessState, took time.Duration) {
		t.Logf("%-15s %6.2f s, %7.0f items a second, %5.1f s of CPU, peak memory %5.1f MB", what, took.Seconds(),
			float64(*million)/took.Seconds(), (p.UserTime() + p.SystemTime()).Seconds(), float64(peakMemory(p))/1e6)
	}
	run := func(what string, args ...string) (took time.Duration, peak int64) {
		cmd := exec.CommandContext(t.Context(), bin, args...)
		start := time.Now()
		out, err := cmd.CombinedOutput()
		took = time.Since(start)
		require.NoError(t, err, string(out))
		report(what, cmd.ProcessState, took)
		return took, peakMemory(cmd.ProcessState)
	}
	into := []string{"import", input, "--table", "Items", "--key", "PK / SK"}
	db, out := filepath.Join(dir, "db"), filepath.Join(dir, "out")
	took, peak := run("import, folder:", append(into, "--data", db)...)
	require.LessOrEqual(t, peak, int64(peakLimit))
	run("export, folder:", "export", "Items", "--data", db, "--to", out)
	require.Equal(t, want, sumOf(t, out))
	require.NoError(t, os.RemoveAll(out))

	p := cmdtest.Serve(t, exec.CommandContext(t.Context(), bin, "serve", "--addr", "127.0.0.1:0"))
	alone := time.Now()
	run("import, server:", append(into, "--endpoint", p.URL)...)
	took2 := time.Since(alone)
	p.Kill(t)
	report("the server:", p.Cmd.ProcessState, took2)

	again := filepath.Join(dir, "again")
	killed := cmdtest.Start(t, exec.CommandContext(t.Context(), bin, append(into, "--data", again)...))
	if killed.KillAfter(t, took/2) {
		t.Logf("killed after %v", (took / 2).Round(time.Millisecond))
	}
	run("import, resumed:", append(into, "--data", again, "--resume")...)
	run("export:", "export", "Items", "--data", again, "--to", out)
	require.Equal(t, want, sumOf(t, out))
}

// A sum is a checksum of lines that does not depend on their order.
type sum struct {
	lines int
	hash  uint64
}

func (s *sum) add(line []byte) {
	h := fnv.New64a()
	_, _ = h.Write(line)
	s.lines++
	s.hash += h.Sum64()
}

// writeSmall writes n items to a file. It returns the sum of the lines that an export of the items should have.
func writeSmall(t *testing.T, path string, n int) (s sum) {
	t.Helper()
	f, err := os.Create(path)
	require.NoError(t, err)
	w := bufio.NewWriter(f)
	var line []byte
	for i := range n {
		mixed := i * 7919 % 1_000_003
		line = fmt.Appendf(
			line[:0], `{"PK":{"S":"CUSTOMER#%06d"},"SK":{"S":"ORDER#%08d"},"total":{"N":"%d"}}`, i%max(n/50, 1),
			mixed*10+i/1_000_003, mixed,
		)
		s.add(fmt.Appendf(nil, `{"Item":%s}`, line))
		_, err := w.Write(append(line, '\n'))
		require.NoError(t, err)
	}
	require.NoError(t, w.Flush())
	require.NoError(t, f.Close())
	return s
}

// sumOf returns the sum of the lines in the data files of an export.
func sumOf(t *testing.T, dir string) (s sum) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "data", "*.json.gz"))
	require.NoError(t, err)
	for _, file := range files {
		f, err := os.Open(file)
		require.NoError(t, err)
		unpacked, err := gzip.NewReader(f)
		require.NoError(t, err)
		r := lines.New(bufio.NewReaderSize(unpacked, 1<<20), 1<<20)
		for {
			line, err := r.Next()
			if err != nil {
				require.ErrorIs(t, err, io.EOF)
				break
			}
			s.add(line)
		}
		require.NoError(t, f.Close())
	}
	return s
}
