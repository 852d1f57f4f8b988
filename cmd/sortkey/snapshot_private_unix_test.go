//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/snapshot"
)

// TestSnapshotPrivate checks that only the owner can read snapshots and restored databases,
// even without a umask.
func TestSnapshotPrivate(t *testing.T) {
	old := syscall.Umask(0)
	t.Cleanup(func() { syscall.Umask(old) })
	root := t.TempDir()
	data, made := filepath.Join(root, "data"), filepath.Join(root, "made")
	database(t, data, "v")
	require.NoError(t, os.Mkdir(made, 0o700))
	for _, name := range []string{"folder", "a.backup", "a.gz", "a.zst"} {
		target := filepath.Join(made, name)
		_, err := snapshot.Make(t.Context(), data, target)
		require.NoError(t, err)
		_, err = snapshot.Restore(t.Context(), target, filepath.Join(made, "new "+name, "data"))
		require.NoError(t, err)
	}
	require.NoError(t, filepath.WalkDir(made, func(path string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := d.Info()
		require.NoError(t, err)
		require.Zero(t, info.Mode().Perm()&0o077, "%s has mode %s", path, info.Mode())
		return nil
	}))
}
