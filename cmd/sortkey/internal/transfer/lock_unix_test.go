//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package transfer

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestUnlockDespiteCopies tests that a file can be locked again as soon as it is unlocked, even while a process that
// is starting has a copy of its descriptor.
func TestUnlockDespiteCopies(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	f, err := openJournal(path)
	require.NoError(t, err)
	_, err = openJournal(path)
	require.ErrorIs(t, err, ErrBusy)

	fd, err := syscall.Dup(int(f.Fd())) // what fork does
	require.NoError(t, err)
	defer func() { _ = syscall.Close(fd) }()
	require.NoError(t, unlock(f))
	require.NoError(t, unlock(f), "it is closed already")

	again, err := openJournal(path)
	require.NoError(t, err)
	require.NoError(t, unlock(again))
}
