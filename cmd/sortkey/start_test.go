package main

import (
	"bufio"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/tests/cmdtest"
)

// BenchmarkServeStart measures the time from the start of the command to the first response of its server. It also
// reports the memory at that time: all resident memory, and the private part of it, which excludes the pages of the
// program's file.
func BenchmarkServeStart(b *testing.B) {
	program := cmdtest.Build(b)
	info, err := os.Stat(program)
	require.NoError(b, err)
	for name, args := range map[string][]string{"memory": nil, "disk": {"--data", filepath.Join(b.TempDir(), "db")}} {
		b.Run(name, func(b *testing.B) {
			var resident, own float64
			for b.Loop() {
				cmd := exec.Command(program, append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)...)
				stdout, err := cmd.StdoutPipe()
				require.NoError(b, err)
				require.NoError(b, cmd.Start())
				line, err := bufio.NewReader(stdout).ReadString('\n')
				require.NoError(b, err)
				_, after, _ := strings.Cut(line, "AWS_ENDPOINT_URL_DYNAMODB=")
				r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, strings.Fields(after)[0], strings.NewReader("{}"))
				require.NoError(b, err)
				r.Header.Set("X-Amz-Target", "DynamoDB_20120810.ListTables")
				r.Header.Set("Content-Type", "application/x-amz-json-1.0")
				res, err := http.DefaultClient.Do(r)
				require.NoError(b, err)
				require.NoError(b, res.Body.Close())
				require.Equal(b, 200, res.StatusCode)

				b.StopTimer()
				time.Sleep(100 * time.Millisecond) // idle
				resident, own = max(resident, memory(b, cmd.Process.Pid, "VmRSS")), max(own, memory(b, cmd.Process.Pid, "RssAnon"))
				require.NoError(b, cmd.Process.Signal(os.Interrupt))
				require.NoError(b, cmd.Wait())
				b.StartTimer()
			}
			b.ReportMetric(resident, "resident-MB")
			b.ReportMetric(own, "own-MB")
			b.ReportMetric(float64(info.Size())/1e6, "program-MB")
		})
	}
}

// memory returns a statistic of a process in megabytes, or 0 without /proc.
func memory(b *testing.B, pid int, name string) float64 {
	b.Helper()
	status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "\n"+name+":")
	kB, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
	require.NoError(b, err)
	return kB * 1024 / 1e6
}

// TestUntilEOF tests that a server stops at the end of its standard input, whose contents it ignores.
func TestUntilEOF(t *testing.T) {
	cmd := serveCommand(t, "--until-eof")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	p := &process{cmdtest.Serve(t, cmd)}
	_, err = in.Write([]byte("whatever\n"))
	require.NoError(t, err)
	answer, err := http.Get(p.URL + "/healthz") //nolint:noctx // a test
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.NoError(t, in.Close())
	require.NoError(t, p.Wait(t))
}
