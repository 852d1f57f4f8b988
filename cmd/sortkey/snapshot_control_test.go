package main

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/snapshot"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/store/disk"
)

// served opens the database in a folder and serves requests for snapshots.
func served(t testing.TB, data string) {
	t.Helper()
	st, err := disk.Open(data, disk.Options{})
	require.NoError(t, err)
	control, err := snapshot.Listen(t.Context(), data, st, time.Hour, time.Minute)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, control.Close())
		require.NoError(t, st.Close())
	})
}

// short creates a folder whose path is short enough for a socket.
func short(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "s")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// TestSnapshotOneTarget: of several concurrent snapshots to one target, exactly one succeeds.
func TestSnapshotOneTarget(t *testing.T) {
	root := short(t)
	data := filepath.Join(root, "data")
	database(t, data, "old")
	served(t, data)
	for _, name := range []string{"folder", "file.backup"} {
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
			require.EqualError(t, err, target+" already exists")
		}
		require.Equal(t, 1, made, name)
	}
	require.ElementsMatch(t, []string{"data", "folder", "file.backup"}, names(t, root))
}

func TestSnapshotTargets(t *testing.T) {
	root := short(t)
	data := filepath.Join(root, "data")
	database(t, data, "old")
	link := filepath.Join(root, "link")
	require.NoError(t, os.Symlink(data, link))
	check := func(t *testing.T) {
		for target, want := range map[string]string{
			"":                             "the snapshot has no name",
			root:                           "already exists",
			filepath.Join(root, "no/s"):    "does not exist",
			filepath.Join(data, "s"):       "cannot be inside",
			filepath.Join(link, "s"):       "cannot be inside",
			filepath.Join(data, "SORTKEY"): "cannot be inside",
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

// TestSnapshotUnfinishedRequest: a client that never completes its request does not keep a
// server from stopping.
func TestSnapshotUnfinishedRequest(t *testing.T) {
	root := short(t)
	data := filepath.Join(root, "data")
	database(t, data, "old")
	st, err := disk.Open(data, disk.Options{})
	require.NoError(t, err)
	defer st.Close()
	control, err := snapshot.Listen(t.Context(), data, st, time.Hour, 50*time.Millisecond)
	require.NoError(t, err)
	conn, err := new(net.Dialer).DialContext(t.Context(), "unix", filepath.Join(data, "control", "socket"))
	require.NoError(t, err)
	defer conn.Close()
	_, err = conn.Write([]byte("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"))
	require.NoError(t, err)
	require.NoError(t, control.Close())
}

// TestSnapshotLongPath: if the socket's path is too long, the error says so, and no files remain.
func TestSnapshotLongPath(t *testing.T) {
	data := filepath.Join(short(t), strings.Repeat("long", 50))
	database(t, data, "old")
	st, err := disk.Open(data, disk.Options{})
	require.NoError(t, err)
	defer st.Close()
	_, err = snapshot.Listen(t.Context(), data, st, time.Hour, time.Minute)
	require.ErrorContains(t, err, "is too long for a socket: serve the folder under a shorter path")
	require.NotContains(t, names(t, data), "control")
}

// An endless is a store whose snapshots never end.
type endless struct {
	*disk.Store
	begun func()
}

func (s endless) Snapshot(ctx context.Context, dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	s.begun()
	<-ctx.Done()
	return context.Cause(ctx)
}

// TestSnapshotDrain stops a server during a snapshot that ends only after it is canceled.
func TestSnapshotDrain(t *testing.T) {
	for _, tt := range []struct {
		name  string
		drain time.Duration
		end   func(cancel context.CancelFunc, control *snapshot.Control) error
	}{
		{"none", 0, func(cancel context.CancelFunc, control *snapshot.Control) error {
			cancel()
			return control.Close()
		}},
		{"some", time.Millisecond, func(_ context.CancelFunc, control *snapshot.Control) error { return control.Close() }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := short(t)
			data := filepath.Join(root, "data")
			database(t, data, "old")
			begun := make(chan struct{})
			folder, err := disk.Open(data, disk.Options{})
			require.NoError(t, err)
			defer folder.Close()
			st := endless{folder, sync.OnceFunc(func() { close(begun) })}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			control, err := snapshot.Listen(ctx, data, st, tt.drain, time.Minute)
			require.NoError(t, err)

			answer := make(chan error)
			target := filepath.Join(root, "copy")
			go func() {
				_, err := snapshot.Make(t.Context(), data, target)
				answer <- err
			}()
			<-begun
			require.NoError(t, tt.end(cancel, control))
			require.EqualError(t, <-answer, "the server stopped before the snapshot was complete; removed the snapshot")
			require.Equal(t, []string{"data"}, names(t, root))
			_, err = snapshot.Make(t.Context(), data, target)
			require.EqualError(t, err, data+" is in use", "it takes no more orders")
		})
	}
}

// TestSnapshotServerKilled: if a server ends before it responds, the client names the files
// that may remain.
func TestSnapshotServerKilled(t *testing.T) {
	root := short(t)
	data := filepath.Join(root, "data")
	database(t, data, "old")
	st, err := disk.Open(data, disk.Options{}) // so that it is in use
	require.NoError(t, err)
	defer st.Close()
	require.NoError(t, os.Mkdir(filepath.Join(data, "control"), 0o700))
	ln, err := new(net.ListenConfig).Listen(t.Context(), "unix", filepath.Join(data, "control", "socket"))
	require.NoError(t, err)
	defer ln.Close()
	go func() {
		conn, err := ln.Accept()
		if err == nil {
			_, _ = conn.Read(make([]byte, 1))
			_ = conn.Close()
		}
	}()
	_, err = snapshot.Make(t.Context(), data, filepath.Join(root, "copy"))
	require.EqualError(t, err, "the server ended during the snapshot")
	h, ok := errors.AsType[*advice.Error](err)
	require.True(t, ok)
	require.Equal(t, "if "+filepath.Join(root, "copy")+" exists, it is complete; otherwise take the snapshot again", h.Advice)
}
