//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package transfer

import (
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/tests/proptest"
)

// TestJournalHeld: an import also holds the lock while it replaces its journal.
func TestJournalHeld(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	held, err := new(journal).write(path)
	require.NoError(t, err)
	var writer sync.WaitGroup
	writer.Go(func() {
		for range proptest.Cases(500) {
			f, err := new(journal).write(path)
			if err != nil {
				t.Error(err)
				return
			}
			_ = held.Close()
			held = f
		}
	})
	defer writer.Wait()
	written := make(chan struct{})
	go func() {
		writer.Wait()
		close(written)
	}()
	for done := false; !done; {
		select {
		case <-written:
			done = true
		default:
		}
		f, err := lockJournal(path)
		require.ErrorContains(t, err, "another import is using the journal "+path)
		require.Nil(t, f)
	}
	require.NoError(t, held.Close())
	require.NoError(t, os.Remove(path))
	f, err := lockJournal(path)
	require.NoError(t, err)
	require.Nil(t, f)
	require.NoFileExists(t, path)
}

// TestUnlockDespiteCopies holds that a file can be locked again as soon as it is unlocked, although a
// process that is being started still has a copy of its descriptor.
func TestUnlockDespiteCopies(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	f, err := openLocked(path)
	require.NoError(t, err)
	_, err = openLocked(path)
	require.ErrorIs(t, err, errBusy)

	fd, err := syscall.Dup(int(f.Fd())) // what fork does
	require.NoError(t, err)
	defer func() { _ = syscall.Close(fd) }()
	require.NoError(t, unlock(f))
	require.NoError(t, unlock(f), "it is closed already")

	again, err := openLocked(path)
	require.NoError(t, err)
	require.NoError(t, unlock(again))
}

// TestNoFollow: a file that becomes a link after it was checked is not followed.
func TestNoFollow(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	require.NoError(t, os.Symlink(path, link))
	for _, flags := range []int{os.O_RDONLY, os.O_RDWR, os.O_CREATE | os.O_WRONLY} {
		f, err := openOwn(path, flags)
		require.NoError(t, err)
		require.NoError(t, f.Close())
		_, err = openOwn(link, flags)
		require.ErrorContains(t, err, "link is not a regular file")
		_, err = os.OpenFile(link, flags|noFollow, 0o600)
		require.Error(t, err)
	}
}
