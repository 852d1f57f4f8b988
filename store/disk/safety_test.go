package disk_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/disk"
)

// TestPrivate checks that nobody else can read a database, whatever the umask.
func TestPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no modes of files")
	}
	dir := filepath.Join(t.TempDir(), "new", "db")
	s := open(t, dir, disk.Options{})
	put(t, s, "k", "v")
	kept := filepath.Join(t.TempDir(), "kept")
	require.NoError(t, s.Snapshot(t.Context(), kept))
	require.NoError(t, s.Close())
	for _, root := range []string{filepath.Dir(dir), kept} {
		require.NoError(t, filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := e.Info()
			if err == nil && info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s has mode %v", path, info.Mode())
			}
			return err
		}))
	}
}

// TestLockFileDeleted checks that a store stays locked when somebody deletes
// its lock file.
func TestLockFileDeleted(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, disk.Options{})
	if err := os.Remove(filepath.Join(dir, "LOCK")); err != nil {
		t.Skip(err) // Windows keeps files that are open
	}
	_, err := disk.Open(dir, disk.Options{})
	require.ErrorIs(t, err, disk.ErrLocked)
	require.NoError(t, s.Close())
	require.NoError(t, open(t, dir, disk.Options{}).Close())
}

// TestNoPermission checks that the error for a folder without write permission does not say that the folder is in
// use.
func TestNoPermission(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may write everywhere")
	}
	dir := t.TempDir()
	require.NoError(t, open(t, dir, disk.Options{}).Close())
	require.NoError(t, os.Chmod(dir, 0o500))
	require.NoError(t, os.Remove(filepath.Join(dir, "LOCK")))
	_, err := disk.Open(dir, disk.Options{})
	require.ErrorIs(t, err, syscall.EACCES)
	require.NotErrorIs(t, err, disk.ErrLocked)
	require.ErrorContains(t, err, "no permission to write")
}

// TestFirstLog flips a bit in each of many bytes of the log of a new folder, as a killed process leaves it. Open must
// notice damage before the end. If it took the damage for the end of the log, it would lose all updates that follow.
func TestFirstLog(t *testing.T) {
	mem := newCrashFS()
	s := open(t, "db", disk.Options{}.On(mem))
	const rows = 1500 // more than one block of the log
	for i := range rows {
		put(t, s, fmt.Sprintf("key %04d", i), "value")
	}
	killed := snapshot(t, mem, "db")
	require.NoError(t, s.Close())

	logs, err := filepath.Glob(filepath.Join(killed, "*.log"))
	require.NoError(t, err)
	found := 0
	for _, log := range logs {
		whole, err := os.ReadFile(log)
		require.NoError(t, err)
		if len(whole) < rows*10 {
			continue // not the one with the rows
		}
		for at := 20; at < len(whole)*3/4; at += len(whole) / 40 {
			spoilt := t.TempDir()
			require.NoError(t, os.CopyFS(spoilt, os.DirFS(killed)))
			changed := append([]byte(nil), whole...)
			changed[at] ^= 0x10
			require.NoError(t, os.WriteFile(filepath.Join(spoilt, filepath.Base(log)), changed, 0o600))
			s, err := disk.Open(spoilt, disk.Options{})
			if err != nil {
				found++
				continue
			}
			if n := count(t, s); n != rows {
				t.Errorf("a flipped bit at byte %d of %d loses %d of %d rows silently", at, len(whole), rows-n, rows)
			}
			require.NoError(t, s.Close())
		}
	}
	require.NotZero(t, found, "no log was damaged")

	// With AcceptLoss, the rows before the damage are there.
	for _, log := range logs {
		whole, err := os.ReadFile(log)
		require.NoError(t, err)
		if len(whole) < rows*10 {
			continue
		}
		whole[len(whole)/2] ^= 1
		require.NoError(t, os.WriteFile(log, whole, 0o600))
	}
	_, err = disk.Open(killed, disk.Options{})
	require.ErrorIs(t, err, disk.ErrLoss)
	require.ErrorContains(t, err, "is damaged after byte")
	s = open(t, killed, disk.Options{AcceptLoss: true})
	n := count(t, s)
	require.Greater(t, n, rows/3)
	require.Less(t, n, rows*2/3)
	require.NoError(t, s.Close())
	s = open(t, killed, disk.Options{})
	require.Equal(t, n, count(t, s))
	require.NoError(t, s.Close())
}

// count returns the number of rows that put has written.
func count(t testing.TB, s store.Store) (n int) {
	t.Helper()
	require.NoError(t, s.View(t.Context(), func(r store.Reader) error {
		for _, err := range r.Query(1, []byte("p"), store.Range{}, false) {
			if err != nil {
				return err
			}
			n++
		}
		return nil
	}))
	return n
}
