//go:build unix && !aix && !solaris

package disk

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestUnlockDespiteCopies checks that a folder can be locked again as soon as its lock is closed, even while a
// process that is being started still has a copy of the descriptor.
func TestUnlockDespiteCopies(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lock, err := flockDir(dir, false)
	require.NoError(t, err)
	_, err = flockDir(dir, false)
	require.ErrorIs(t, err, syscall.EWOULDBLOCK)

	fd, err := syscall.Dup(int(lock.(lockedFolder).Fd())) // what fork does
	require.NoError(t, err)
	defer func() { _ = syscall.Close(fd) }()
	require.NoError(t, lock.Close())

	again, err := flockDir(dir, false)
	require.NoError(t, err)
	require.NoError(t, again.Close())
}
