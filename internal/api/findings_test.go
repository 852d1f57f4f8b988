package api_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFindingsTable counts the findings of ack-api-quirks (services/dynamodb, 2026-10-09) by verdict; with -v it
// prints the numbers. A request in a script must cite each finding whose verdict is not "left out".
func TestFindingsTable(t *testing.T) {
	data, err := os.ReadFile("testdata/findings.tsv")
	require.NoError(t, err)
	verdicts, left, counts := map[string]string{}, map[string]int{}, map[string]int{}
	for line := range strings.Lines(string(data)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		require.Equal(t, f[1] == "left out", len(f) == 3, "what is left out has a reason: %s", line)
		require.Contains(t, []string{"equal", "mended", "left out"}, f[1])
		require.NotContains(t, verdicts, f[0])
		verdicts[f[0]] = f[1]
		counts[f[1]]++
		if len(f) == 3 {
			left[f[2]]++
		}
	}
	require.Len(t, verdicts, 548)

	tests, err := filepath.Glob("testdata/requests/findings*")
	require.NoError(t, err)
	tests = append(tests, "job_test.go")
	cited := map[string]bool{}
	for _, name := range tests {
		source, err := os.ReadFile(name)
		require.NoError(t, err)
		for _, id := range regexp.MustCompile(`\b[A-Z]+-[0-9]{3}\b`).FindAllString(string(source), -1) {
			require.Contains(t, verdicts, "DDB-"+id, name)
			cited["DDB-"+id] = true
		}
	}
	var uncited []string
	for _, id := range slices.Sorted(maps.Keys(verdicts)) {
		if verdicts[id] != "left out" && !cited[id] {
			uncited = append(uncited, id)
		}
	}
	require.Empty(t, uncited, "findings that no request cites")

	t.Logf("%d equal, %d mended, %d left out", counts["equal"], counts["mended"], counts["left out"])
	for _, reason := range slices.Sorted(maps.Keys(left)) {
		t.Logf("left out: %3d %s", left[reason], reason)
	}
}
