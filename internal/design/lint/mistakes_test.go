package lint_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMistakes holds that each design with one mistake gets the finding whose severity and rule are on the first line
// of the model. A golden file has all findings of the design.
func TestMistakes(t *testing.T) {
	files, err := filepath.Glob("testdata/mistakes/*.yaml")
	require.NoError(t, err)
	require.Len(t, files, 16)
	for _, file := range files {
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		first, _, _ := strings.Cut(string(source), "\n")
		all := text(find(t, file))
		golden(t, strings.TrimSuffix(file, ".yaml")+".txt", all)
		if !strings.Contains("\n"+all, "\n"+strings.TrimPrefix(first, "# ")+" ") {
			t.Errorf("%s is not told %s:\n%s", file, first, all)
		}
	}
}
