//go:build attack && linux

package main

import (
	"compress/gzip"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// cost runs a command that must reject a file. It checks the command's memory, its processor time and the size of its
// output against bounds.
func cost(t *testing.T, what string, megabytes, seconds int, args ...string) {
	t.Helper()
	cmd := command(t, args...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit, "%s: %s", what, out)
	bounded(t, what+": memory", int(peakMemory(cmd.ProcessState)>>20), megabytes, "MB")
	spent := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	bounded(t, what+": processor time", int(spent.Seconds()), seconds, "s")
	bounded(t, what+": printed", len(out), 10_000, "bytes")
}

func TestAttackImport(t *testing.T) {
	for _, tt := range []struct{ name, begin, elem, end string }{
		{"plain JSON", `{"id":"%d","l":[`, "1", "]}"},
		{"DynamoDB JSON", `{"Item":{"id":{"S":"%d"},"l":{"L":[`, `{"N":"1"}`, "]}}}"},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "items.json.gz")
		f, err := os.Create(path)
		require.NoError(t, err)
		z, err := gzip.NewWriterLevel(f, gzip.BestSpeed)
		require.NoError(t, err)
		list := strings.TrimSuffix(strings.Repeat(tt.elem+",", 6_000_000/(len(tt.elem)+1)), ",")
		for i := range 60 {
			_, err := fmt.Fprintf(z, tt.begin+"%s"+tt.end+"\n", i, list)
			require.NoError(t, err)
		}
		require.NoError(t, z.Close())
		require.NoError(t, f.Close())
		cost(t, "import 60 lines of 6 MB, "+tt.name, 300, 30, "import", path, "--data", filepath.Join(dir, "db"), "--table", "Tab", "--key", "id:S")
	}
}
