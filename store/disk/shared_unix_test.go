//go:build unix && !aix && !solaris

package disk_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/store/disk"
)

// sharedEnv names the folder that a process started by TestShared reads.
const sharedEnv = "SORTKEY_TEST_SHARED"

// TestShared checks that any number of stores, in this and in other processes, can read a folder at the same time,
// even one with a log that a crash has left. These stores and a store that writes must exclude each other.
func TestShared(t *testing.T) {
	reading := disk.Options{ReadOnly: true}
	if dir := os.Getenv(sharedEnv); dir != "" {
		s := open(t, dir, reading)
		require.Equal(t, "v", get(t, s, "k"))
		_, err := disk.Open(dir, disk.Options{})
		require.ErrorIs(t, err, disk.ErrLocked)
		require.NoError(t, s.Close())
		_, err = disk.Open(dir, disk.Options{})
		require.ErrorIs(t, err, disk.ErrLocked, "the other process still reads")
		return
	}

	closed := t.TempDir()
	s := open(t, closed, disk.Options{})
	put(t, s, "k", "v")
	_, err := disk.Open(closed, reading)
	require.ErrorIs(t, err, disk.ErrLocked)
	require.ErrorContains(t, err, closed+" is open for writing in this process or another: close it there first")
	crashed := filepath.Join(t.TempDir(), "crashed")
	require.NoError(t, os.CopyFS(crashed, os.DirFS(closed)))
	require.NoError(t, s.Close())

	for _, dir := range []string{closed, crashed} {
		require.NoError(t, os.Remove(filepath.Join(dir, "LOCK")))
		before := listing(t, dir)
		a, b := open(t, dir, reading), open(t, dir, reading)
		require.Equal(t, []string{"v", "v"}, []string{get(t, a, "k"), get(t, b, "k")})

		self, err := os.Executable()
		require.NoError(t, err)
		cmd := exec.CommandContext(t.Context(), self, "-test.run", "^TestShared$")
		cmd.Env = append(os.Environ(), childEnv+"=1", sharedEnv+"="+dir)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)

		copied := filepath.Join(t.TempDir(), "copied")
		require.NoError(t, disk.Copy(t.Context(), dir, copied, disk.Options{InMemory: true}))
		c := open(t, copied, disk.Options{})
		require.Equal(t, "v", get(t, c, "k"))
		require.NoError(t, c.Close())

		require.NoError(t, a.Close())
		_, err = disk.Open(dir, disk.Options{})
		require.ErrorIs(t, err, disk.ErrLocked)
		require.ErrorContains(t, err, "programs that only read can share it if all of them set Options.ReadOnly")
		_, err = disk.Lock(dir, disk.Options{})
		require.ErrorIs(t, err, disk.ErrLocked)
		require.NoError(t, b.Close())
		require.Equal(t, before, listing(t, dir), "reading changes nothing")

		w := open(t, dir, disk.Options{})
		put(t, w, "k", "new")
		require.NoError(t, w.Close())
	}
}
