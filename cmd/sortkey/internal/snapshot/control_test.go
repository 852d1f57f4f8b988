package snapshot_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/snapshot"
	"github.com/sortkey/sortkey/store/disk"
)

// served opens the database in a folder and takes orders for it.
func served(t testing.TB, data string) {
	t.Helper()
	st, err := disk.Open(data, disk.Options{})
	require.NoError(t, err)
	control, err := snapshot.Listen(data, st)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, control.Close())
		require.NoError(t, st.Close())
	})
}

// short makes a folder whose path is short enough for a socket.
func short(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "s")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// TestOneTarget: of several snapshots that become one file or folder, one does.
func TestOneTarget(t *testing.T) {
	root := short(t)
	data := filepath.Join(root, "data")
	database(t, data, "old")
	served(t, data)
	for _, name := range []string{"folder", "file.tar"} {
		target := filepath.Join(root, name)
		errs := make([]error, 8)
		var wg sync.WaitGroup
		for i := range errs {
			wg.Go(func() { _, errs[i] = snapshot.Make(t.Context(), data, target) })
		}
		wg.Wait()
		made := 0
		for _, err := range errs {
			if err == nil {
				made++
				continue
			}
			require.EqualError(t, err, target+" is there already")
		}
		require.Equal(t, 1, made, name)
	}
	require.ElementsMatch(t, []string{"data", "folder", "file.tar"}, names(t, root))
}

func TestTargets(t *testing.T) {
	root := short(t)
	data := filepath.Join(root, "data")
	database(t, data, "old")
	link := filepath.Join(root, "link")
	require.NoError(t, os.Symlink(data, link))
	check := func(t *testing.T) {
		for target, want := range map[string]string{
			"":                             "the snapshot has no name",
			root:                           "is there already",
			filepath.Join(root, "no/s"):    "there is no folder",
			filepath.Join(data, "s"):       "cannot lie in",
			filepath.Join(link, "s"):       "cannot lie in",
			filepath.Join(data, "SORTKEY"): "cannot lie in",
		} {
			_, err := snapshot.Make(t.Context(), data, target)
			require.ErrorContains(t, err, want, target)
		}
		require.ElementsMatch(t, []string{"data", "link"}, names(t, root))
	}
	t.Run("closed", check)
	served(t, data)
	t.Run("served", check)
}

// TestUnfinishedOrder: a client that never says what it wants does not keep a
// server from stopping.
func TestUnfinishedOrder(t *testing.T) {
	root := short(t)
	data := filepath.Join(root, "data")
	database(t, data, "old")
	st, err := disk.Open(data, disk.Options{})
	require.NoError(t, err)
	defer st.Close()
	control, err := snapshot.ListenFor(data, st, 50*time.Millisecond)
	require.NoError(t, err)
	conn, err := new(net.Dialer).DialContext(t.Context(), "unix", filepath.Join(data, "control", "socket"))
	require.NoError(t, err)
	defer conn.Close()
	_, err = conn.Write([]byte("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"))
	require.NoError(t, err)
	require.NoError(t, control.Close())
}

// TestLongPath: where no socket can be, the reason is told and nothing is left.
func TestLongPath(t *testing.T) {
	data := filepath.Join(short(t), strings.Repeat("long", 50))
	database(t, data, "old")
	st, err := disk.Open(data, disk.Options{})
	require.NoError(t, err)
	defer st.Close()
	_, err = snapshot.Listen(data, st)
	require.ErrorContains(t, err, "is too long a path for a socket: serve the folder by a shorter one")
	require.NotContains(t, names(t, data), "control")
}
