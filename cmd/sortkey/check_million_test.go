package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/design/examples"
)

// checkPeakLimit is the memory that a check of a million items may use.
const checkPeakLimit = 700 << 20

// TestCheckOfMany checks the shop with more items, by a factor that gives as many items as -million says.
// scripts/check-million.sh runs it.
func TestCheckOfMany(t *testing.T) {
	if *million == 0 {
		t.Skip("run scripts/check-million.sh")
	}
	_, model, err := examples.Read("shop")
	require.NoError(t, err)
	counts := regexp.MustCompile(`(?m)\b(count|distinct): (\d+)`)
	items := 0
	for _, m := range counts.FindAllSubmatch(model, -1) {
		if n, _ := strconv.Atoi(string(m[2])); string(m[1]) == "count" {
			items += n
		}
	}
	times := max(*million/items, 1)
	model = counts.ReplaceAllFunc(model, func(m []byte) []byte {
		parts := counts.FindSubmatch(m)
		n, _ := strconv.Atoi(string(parts[2]))
		return fmt.Appendf(nil, "%s: %d", parts[1], n*times)
	})
	dir := t.TempDir()
	file := filepath.Join(dir, "shop.yaml")
	require.NoError(t, os.WriteFile(file, model, 0o644))
	bin := filepath.Join(dir, "sortkey")
	if runtime.GOOS == "windows" {
		bin += ".exe"
	}
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", bin, ".").CombinedOutput()
	require.NoError(t, err, string(out))
	args := []string{"design", "check", file, "--max-items", fmt.Sprint(*million), "--fail-on", "never"}
	cmd := exec.CommandContext(t.Context(), bin, args...)
	out, err = cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	peak := peakMemory(cmd.ProcessState)
	t.Logf("check of %d items: %.1f s of CPU, peak memory %.1f MB", items*times,
		(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), float64(peak)/1e6)
	if peak > checkPeakLimit {
		t.Errorf("the check used %d bytes of memory, more than %d", peak, checkPeakLimit)
	}
}
