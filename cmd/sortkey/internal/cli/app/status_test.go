//go:build !windows

package app

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
)

// TestStatus holds that a line appears on a terminal only after a while, fits it, and goes.
func TestStatus(t *testing.T) {
	t.Parallel()
	screen, tty, err := pty.Open()
	if err != nil {
		t.Skip("no pseudo-terminals: ", err)
	}
	defer screen.Close()
	require.NoError(t, pty.Setsize(screen, &pty.Winsize{Rows: 5, Cols: 20}))
	env := &Env{Stderr: tty, Getenv: func(string) string { return "" }}

	s := env.Status()
	s.Show("too early")
	s.next = time.Now()
	s.Show("generated %d items of a great many", 7)
	s.Show("too soon")
	s.Clear()
	s.Clear()
	require.NoError(t, tty.Close())
	var got bytes.Buffer
	_, _ = got.ReadFrom(screen) // ends with an error when the other end is closed
	require.Equal(t, "\r\x1b[Kgenerated 7 items\r\x1b[K", strings.ReplaceAll(got.String(), "\r\r", "\r"))

	file, err := os.CreateTemp(t.TempDir(), "")
	require.NoError(t, err)
	defer file.Close()
	s = (&Env{Stderr: file, Getenv: func(string) string { return "" }}).Status()
	s.next = time.Now()
	s.Show("not on a terminal")
	s.Clear()
	info, err := file.Stat()
	require.NoError(t, err)
	require.Zero(t, info.Size())
}
