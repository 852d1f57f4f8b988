//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package transfer

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestJournalHeld: an import also holds the lock while it replaces its journal.
func TestJournalHeld(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	held, err := new(journal).write(path)
	require.NoError(t, err)
	var writer sync.WaitGroup
	writer.Go(func() {
		for range 500 {
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
