//go:build !windows

package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
)

// TestStatus tests that a status line appears on a terminal only after a while, fits its width, and disappears.
func TestStatus(t *testing.T) {
	screen, tty, err := pty.Open()
	if err != nil {
		t.Skip("no pseudo-terminals: ", err)
	}
	defer screen.Close()
	require.NoError(t, pty.Setsize(screen, &pty.Winsize{Rows: 5, Cols: 20}))
	file, err := os.CreateTemp(t.TempDir(), "")
	require.NoError(t, err)
	defer file.Close()
	synctest.Test(t, func(*testing.T) {
		for _, out := range []*os.File{tty, file} {
			s := (&app.Env{Stderr: out, Getenv: func(string) string { return "" }}).Status()
			s.Show("too early")
			time.Sleep(time.Second)
			s.Show("generated %d items of a great many", 7)
			s.Show("too soon")
			s.Clear()
			s.Clear()
		}
	})
	require.NoError(t, tty.Close())
	var got bytes.Buffer
	_, _ = got.ReadFrom(screen) // returns an error when the other end is closed
	require.Equal(t, "\r\x1b[Kgenerated 7 items\r\x1b[K", strings.ReplaceAll(got.String(), "\r\r", "\r"))
	info, err := file.Stat()
	require.NoError(t, err)
	require.Zero(t, info.Size())
}
