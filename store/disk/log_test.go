package disk_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/store/disk"
)

// TestDamagedUpdate flips a bit in an update of a log of many blocks, and opens the folder. Every update except the
// last one was acknowledged before the next began, so the log says that it was durable.
func TestDamagedUpdate(t *testing.T) {
	fs := newCrashFS()
	s := open(t, "db", disk.Options{}.On(fs))
	for i := range damagedRows {
		put(t, s, fmt.Sprintf("key %04d", i), strings.Repeat("v", 300))
	}
	killed := snapshot(t, fs, "db")
	require.NoError(t, s.Close())

	logs, err := filepath.Glob(filepath.Join(killed, "*.log"))
	require.NoError(t, err)
	log := logs[len(logs)-1]
	whole, err := os.ReadFile(log)
	require.NoError(t, err)
	require.Greater(t, len(whole), 3*32<<10)
	for _, i := range []int{0, 1, 90, 180, 270, damagedRows - 3, damagedRows - 2} {
		at := strings.Index(string(whole), fmt.Sprintf("key %04d", i))
		require.Positive(t, at)
		damaged := []byte(string(whole))
		damaged[at] ^= 1
		require.NoError(t, os.WriteFile(log, damaged, 0o600))
		_, err := readAll(t, killed, disk.Options{ReadOnly: true})
		require.ErrorIs(t, err, disk.ErrLoss, "update %d", i)
	}
	require.NoError(t, os.WriteFile(log, whole, 0o600))
	n, err := readAll(t, killed, disk.Options{ReadOnly: true})
	require.NoError(t, err)
	require.Equal(t, damagedRows, n)
}
