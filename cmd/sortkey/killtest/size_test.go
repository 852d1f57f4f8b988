package killtest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSize builds the command as go install does. It is a third below the
// bound, so that only a new large dependency, or a linker that keeps what
// debuggers read, gets there.
func TestSize(t *testing.T) {
	if testing.Short() {
		t.Skip("links the command, which the long run of the tests does too")
	}
	const bound = 40_000_000
	program := filepath.Join(t.TempDir(), "sortkey")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "github.com/sortkey/sortkey/cmd/sortkey").CombinedOutput()
	require.NoError(t, err, string(out))
	info, err := os.Stat(program)
	require.NoError(t, err)
	if info.Size() > bound {
		t.Errorf("go build makes %.1f MB, want at most %.1f MB", float64(info.Size())/1e6, float64(bound)/1e6)
	}
}
